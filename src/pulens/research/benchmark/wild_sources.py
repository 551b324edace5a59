"""Where real labels with a truth come from: the makers' own files at a fixed commit, converted to what is read here.

One entry of ``SOURCES`` per family. ``fetch_wild`` takes the prepared file from the folder that ``PULENS_MIRROR`` names
(as it is or in ``wild/``), or else fetches the originals, checks their SHA-256 and converts them. R files need
``rdata`` (``pip install 'pulens[wild]'``).
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import MissingDependencyError
from pulens.research.benchmark.datasets import MIRROR, DataFile, fetch

Paths = Mapping[str, Path]
Arrays = dict[str, Any]
FEWEST = 25  # labelled and hidden positives of a bird of the breeding bird survey


@dataclass(frozen=True, slots=True)
class WildSource:
    """A family: who collected it, what may be done with it, its files, and how they become data sets."""

    title: str
    source: str
    licence: str
    files: tuple[DataFile, ...]
    convert: Callable[[Paths], Arrays]
    commercial: bool = True


def fetch_wild(name: str, folder: str | Path, tell: Callable[[str], None] = print) -> Path:
    """The prepared file of a family in ``folder``; the licence is told before anything is fetched."""
    own = SOURCES[name]
    target = Path(folder) / f"{name}.npz"
    if target.is_file():
        return target
    mirror = os.environ.get(MIRROR)
    target.parent.mkdir(parents=True, exist_ok=True)
    for place in (Path(mirror) / "wild", Path(mirror)) if mirror else ():
        if (place / target.name).is_file():
            shutil.copyfile(place / target.name, target)
            return target
    tell(f"{own.title}. {own.source}. Licence: {own.licence}{'' if own.commercial else ' Not for commercial use.'}")
    paths = {file.name: fetch(file) for file in own.files}
    with np.errstate(invalid="ignore"):  # R's missing value is a NaN that signals when it is cast
        arrays = own.convert(paths)
    np.savez_compressed(target, **arrays)
    return target


def _read_r(path: Path) -> Any:
    """What an R file holds; of one that names its objects, the only one."""
    try:
        import rdata
    except ImportError as error:
        raise MissingDependencyError("rdata", purpose="reading R files", extra="wild") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes of R that rdata leaves as they are stored
        if path.suffix == ".rds":
            return rdata.read_rds(path)
        (found,) = rdata.read_rda(path).values()
    return found


def _world(
    name: str, family: str, domain: str, *, scenario: str = "single-set", **arrays: str | None
) -> dict[str, Any]:
    keys = ("records", "sites", "survey") if "records" in arrays else ()
    named = {key: arrays.get(key) for key in (*keys, "X", "labelled", "truth", "group", "background", "names", "cells")}
    return {"world": name, **named, "scenario": scenario, "family": family, "domain": domain}


def _kept_apart(name: str, keys: Sequence[str]) -> dict[str, str]:
    """Names of arrays that belong to one data set alone."""
    return {key: f"{name}-{key}" for key in keys}


def _stored(arrays: Arrays, listed: list[dict[str, Any]]) -> Arrays:
    return {**arrays, "worlds": np.array(json.dumps(listed))}


def _floats(frame: Any) -> Any:
    return np.stack([np.asarray(frame[name], np.float32) for name in frame], axis=1)


# -- undiagnosed high blood pressure ------------------------------------------------------------------------------

MEASURED = ("demo_age_years", "chol_total", "chol_hdl", "cc_egfr", "cc_acr", "cc_hba1c")
SAID = (
    *("demo_gender", "demo_race", "cc_smoke", "cc_bmi", "cc_diabetes"),
    *("cc_cvd_mi", "cc_cvd_chd", "cc_cvd_stroke", "cc_cvd_hf"),
)


def hypertension(paths: Paths) -> Arrays:
    """Told by a doctor, against told, medicated or measured at 140/90 or more; a data set per cycle of the survey."""
    table = _read_r(paths["nhanes_data.rda"])
    arrays: Arrays = {}
    listed = []
    for cycle in table["svy_year"].cat.categories:
        own = table[table["svy_year"] == cycle]
        own = own[own["htn_aware"].notna() & own["bp_sys_mean"].notna() & ~_yes(own, "demo_pregnant")]
        told = _yes(own, "htn_aware")
        high = np.asarray((own["bp_sys_mean"] >= 140) | (own["bp_dia_mean"] >= 90), bool)
        columns = {name: np.asarray(own[name], np.float32) for name in MEASURED}
        for name in SAID:
            said = own[name].astype(object)
            for value in sorted(said.dropna().unique()):
                columns[f"{name}={value}"] = np.asarray(said == value, np.float32)
        world = f"hypertension-{cycle}"
        arrays |= {
            f"{world}-X": np.stack(list(columns.values()), axis=1),
            f"{world}-labelled": told.astype(np.int8),
            f"{world}-truth": (told | high | _yes(own, "bp_med_use")).astype(np.int8),
            f"{world}-group": np.asarray(own["svy_strata"] * 10 + own["svy_psu"], np.int32),
            f"{world}-names": np.array(list(columns)),
        }
        keys = _kept_apart(world, ("X", "labelled", "truth", "group", "names"))
        listed.append(_world(world, "nhanes_hypertension", "health survey", **keys))
    return _stored(arrays, listed)


def _yes(table: Any, name: str) -> Any:
    return np.asarray(table[name].astype(object) == "Yes", bool)


# -- birds and beasts that are seen at the first visit, or later ---------------------------------------------------


def _first_visit(
    family: str, X: Any, seen: Mapping[str, Any], group: Any = None, *, fewest: int = 0, prefix: str
) -> Arrays:
    """``seen``: counts per row and visit; labelled where the first visit counted one, positive where any did."""
    arrays: Arrays = {"X": X} if group is None else {"X": X, "group": np.asarray(group, np.int32)}
    listed = []
    for name, visits in seen.items():
        first, ever = visits[:, 0] > 0, np.nan_to_num(visits).max(axis=1) > 0
        if min(first.sum(), (ever & ~first).sum()) < fewest:
            continue
        world = f"{prefix}-{name.replace(' ', '_')}"
        arrays |= {f"{world}-labelled": first.astype(np.int8), f"{world}-truth": ever.astype(np.int8)}
        keys = {"X": "X", "labelled": f"{world}-labelled", "truth": f"{world}-truth"}
        keys |= {} if group is None else {"group": "group"}
        listed.append(_world(world, family, "ecology, repeat visits", **keys))
    return _stored(arrays, listed)


def hubbard_brook(paths: Paths) -> Arrays:
    """Thirteen birds at plots in years: counted at the first of three visits, or at any."""
    table = _read_r(paths["HubbardBrook.rda"])
    counts, sites = np.asarray(table["counts"], float), table["sitecov"]
    plot, year = np.nonzero(~np.isnan(counts).any(axis=(1, 3)))
    aspect = np.radians(np.asarray(sites["Aspect"], float))
    place = [np.asarray(sites[name], float) for name in ("Longitude", "Latitude", "Elev")]
    place += [np.sin(aspect), np.cos(aspect), np.asarray(sites["Slope"], float)]
    forest = sites["Forest"].astype(object)
    place += [np.asarray(forest == kind, float) for kind in sorted(forest.dropna().unique())]
    X = np.column_stack([np.stack(place, axis=1)[plot], year]).astype(np.float32)
    names = [str(name) for name in table["counts"].coords["dim_3"].values]
    seen = {name: counts[plot, :, year, at] for at, name in enumerate(names)}
    return _first_visit("hubbard_brook", X, seen, plot, prefix="hb")


def swiss_birds(paths: Paths) -> Arrays:
    """Birds of square kilometres, counted at the first visit of the survey of 2014, or at any."""
    table = _read_r(paths["MHB2014.rda"])
    counts, sites = np.asarray(table["counts"], float), table["sites"]
    kept = ~np.isnan(counts[:, :2]).any(axis=(1, 2))
    X = _floats(sites[["coordx", "coordy", "elev", "rlength", "forest"]])[kept]
    seen = {str(name): counts[kept, :, at] for at, name in enumerate(table["species"]["engname"])}
    return _first_visit("swiss_birds_2014", X, seen, fewest=FEWEST, prefix="mhb")


def swiss_tits(paths: Paths) -> Arrays:
    """Six tits at squares in years, counted at the first of three visits, or at any."""
    table = _read_r(paths["SwissTits.rda"])
    counts, sites = np.asarray(table["counts"], float), table["sites"]
    square, year = np.nonzero(~np.isnan(counts).any(axis=(1, 3)))
    place = _floats(sites[["coordx", "coordy", "elev", "rlength", "forest"]])
    X = np.column_stack([place[square], year]).astype(np.float32)
    seen = {str(name): counts[square, :, year, at] for at, name in enumerate(table["species"]["name"])}
    return _first_visit("swiss_tits", X, seen, square, prefix="tit")


def mesocarnivores(paths: Paths) -> Arrays:
    """Three beasts at camera stations, photographed in the first week, or in any of three."""
    table = _read_r(paths["MesoCarnivores.rda"])
    seen = {name: np.asarray(table[name], float) for name in ("bobcat", "coyote", "redfox")}
    return _first_visit("mesocarnivores", _floats(table["sitecovs"]), seen, prefix="camera")


# -- species records against surveys ---------------------------------------------------------------------------------

REGIONS: dict[str, tuple[str, ...]] = {"AWT": ("bird", "plant"), "CAN": ("",), "NZ": ("",), "SA": ("",)}
ABOUT_A_ROW = {"siteid", "spid", "x", "y", "occ", "group"}  # and not about its place
FEWEST_RECORDS, FEWEST_SEEN = 40, 20


def disdat(paths: Paths) -> Arrays:
    """Museum records of species in four regions against planned surveys of other places."""
    arrays: Arrays = {}
    listed = []
    for region, parts in REGIONS.items():
        records, background = (_read_r(paths[f"{region}train_{kind}.rds"]) for kind in ("po", "bg"))
        columns = [name for name in background if name not in ABOUT_A_ROW]
        arrays[f"{region}-background"] = _floats(background[columns])
        for part in parts:
            tail = f"_{part}" if part else ""
            survey, places = (_read_r(paths[f"{region}test_{kind}{tail}.rds"]) for kind in ("pa", "env"))
            arrays[f"{region}{tail}-sites"] = _floats(places[columns])
            for species in sorted(set(survey.columns) & set(records["spid"].unique())):
                own, seen = records[records["spid"] == species], np.asarray(survey[species], np.int8)
                if len(own) < FEWEST_RECORDS or min(seen.sum(), (1 - seen).sum()) < FEWEST_SEEN:
                    continue
                world = f"disdat-{species}"
                arrays |= {f"{world}-records": _floats(own[columns]), f"{world}-survey": seen}
                keys = {"records": f"{world}-records", "survey": f"{world}-survey", "cells": region}
                keys |= {"sites": f"{region}{tail}-sites", "background": f"{region}-background"}
                domain = "ecology, presence-only records"
                listed.append(_world(world, "disdat_can_nz_awt_sa", domain, scenario="case-control", **keys))
    return _stored(arrays, listed)


# -- planets that were confirmed early, or later ---------------------------------------------------------------------

IN_2013 = (
    *("koi_period", "koi_depth", "koi_duration", "koi_impact", "koi_incl", "koi_sma", "koi_dor", "koi_ror"),
    *("koi_prad", "koi_teq", "koi_steff", "koi_slogg", "koi_srad"),
)
IN_2019 = (
    *("koi_period", "koi_depth", "koi_duration", "koi_impact", "koi_prad", "koi_teq", "koi_insol", "koi_model_snr"),
    *("koi_steff", "koi_slogg", "koi_srad", "koi_kepmag", "ra", "dec"),
)
LOGARITHMS = {
    *("koi_period", "koi_depth", "koi_duration", "koi_sma", "koi_dor", "koi_ror", "koi_prad", "koi_insol"),
    *("koi_model_snr", "Period (days)", "Duration (hours)", "Depth (ppm)", "Planet Radius (R_Earth)"),
    *("Planet Insolation (Earth Flux)", "Planet SNR", "Stellar Distance (pc)"),
}
OF_TESS = (
    *("TESS Mag", "PM RA (mas/yr)", "PM Dec (mas/yr)", "Period (days)", "Duration (hours)", "Depth (ppm)"),
    *("Planet Radius (R_Earth)", "Planet Insolation (Earth Flux)", "Planet Equil Temp (K)", "Planet SNR"),
    *("Stellar Distance (pc)", "Stellar Eff Temp (K)", "Stellar log(g) (cm/s^2)", "Stellar Radius (R_Sun)"),
    "Stellar Mass (M_Sun)",
)

Rows = list[dict[str, str]]


def _table(path: Path) -> Rows:
    """The rows of a CSV file whose comments begin with #."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def _confirmed(
    early: Rows,
    late: Rows,
    columns: Sequence[str],
    *,
    star: str,
    signal: str,
    verdict: str,
    yes: str,
    decided: Collection[str],
    least: float,
    more: Mapping[str, Callable[[dict[str, str]], float]] | None = None,
) -> Arrays:
    """Labelled where the early table says ``yes``, positive where the late one does; the undecided are left out.

    Columns whose logarithm is taken are cut at ``least``; ``more`` are columns that a row gives.
    """
    known = {row[signal]: row[verdict] for row in late}
    rows = [row for row in early if known.get(row[signal]) in decided]
    stars, place, planets = np.unique([int(row[star]) for row in rows], return_inverse=True, return_counts=True)
    values: dict[str, Any] = {}
    for name in columns:
        column = np.array([float(row[name] or "nan") for row in rows])
        values[name] = np.log(np.maximum(column, least)) if name in LOGARITHMS else column
    values["n_in_system"] = planets[place]
    values |= {name: np.array([find(row) for row in rows]) for name, find in (more or {}).items()}
    return {
        "X": np.stack([column.astype(np.float32) for column in values.values()], axis=1),
        "labelled": np.array([row[verdict] == yes for row in rows], np.int8),
        "truth": np.array([known[row[signal]] == yes for row in rows], np.int8),
        "group": np.array(stars[place], np.int32),
        "names": np.array(list(values)),
    }


def _of_planets(family: str, made: Mapping[str, Arrays]) -> Arrays:
    listed = [_world(name, family, "astronomy", **_kept_apart(name, tuple(own))) for name, own in made.items()]
    return _stored({f"{name}-{key}": array for name, own in made.items() for key, array in own.items()}, listed)


def kepler(paths: Paths) -> Arrays:
    """Objects of interest confirmed as planets by 2013 or 2019, against confirmed or refuted by September 2025."""
    late = _table(paths["koi_2025.csv"])
    made = {}
    for year, columns in (("2013", IN_2013), ("2019", IN_2019)):
        made[f"koi-{year}"] = _confirmed(
            _table(paths[f"koi_{year}.csv"]),
            late,
            columns,
            star="kepid",
            signal="kepoi_name",
            verdict="koi_disposition",
            yes="CONFIRMED",
            decided={"CONFIRMED", "FALSE POSITIVE"},
            least=1e-6,
        )
    return _of_planets("kepler", made)


def tess(paths: Paths) -> Arrays:
    """Objects confirmed as planets by October 2023, against October 2025, without those known before TESS."""
    early = [row for row in _table(paths["exofop_2023.csv"]) if row["TFOPWG Disposition"] != "KP"]
    own = _confirmed(
        early,
        _table(paths["exofop_2025.csv"]),
        OF_TESS,
        star="TIC ID",
        signal="TOI",
        verdict="TFOPWG Disposition",
        yes="CP",
        decided={"CP", "FP", "FA"},
        least=1e-4,
        more={"n_sectors": lambda row: len([sector for sector in row["Sectors"].split(",") if sector])},
    )
    own["group"] = np.unique(own["group"], return_inverse=True)[1].astype(np.int32)
    return _of_planets("tess", {"toi-2023": own})


# -- coats that people chose to rate, or were shown at random --------------------------------------------------------

SHARED_TASTES = 24  # singular vectors of the products of users' and coats' features


def coat(paths: Paths) -> Arrays:
    """Coats chosen and rated at least 3, 4 or 5 of 5, against the ratings of sixteen coats drawn for every user."""
    from sklearn.decomposition import TruncatedSVD

    chosen, drawn, users, coats = (
        np.loadtxt(paths[f"coat_{name}.ascii"]) for name in ("train", "test", "user", "item")
    )
    arrays: Arrays = {}
    listed = []
    for least in (3, 4, 5):
        labelled, shown = np.nonzero(chosen >= least), np.nonzero(drawn)
        user, item = (np.concatenate(pair) for pair in zip(labelled, shown, strict=True))
        products = (users[user][:, :, None] * coats[item][:, None, :]).reshape(user.size, -1)
        tastes = TruncatedSVD(SHARED_TASTES, random_state=0).fit_transform(products)
        name, rows = f"coat-rating-{least}", len(labelled[0])
        arrays |= {
            f"{name}-X": np.hstack([users[user], coats[item], tastes]).astype(np.float32),
            f"{name}-labelled": (np.arange(user.size) < rows).astype(np.int8),
            f"{name}-truth": np.r_[np.ones(rows), drawn[shown] >= least].astype(np.int8),
            f"{name}-group": user.astype(np.int32),
        }
        keys = _kept_apart(name, ("X", "labelled", "truth", "group"))
        listed.append(_world(name, "coat", "recommender", scenario="case-control", **keys))
    return _stored(arrays, listed)


GITHUB = "https://raw.githubusercontent.com"
AHM = f"{GITHUB}/mikemeredith/AHMbook/bfece3fe0d41192798a3552234a18e75537dce82/data"
DISDAT = f"{GITHUB}/rspatial/disdat/d0bbc328a46aaf5ba70793f4450dfdd8424abeef/inst/extdata"
NHANES = f"{GITHUB}/jhs-hwg/cardioStatsUSA/4416809deeee127e167c33cb20ee2c7216ef48a6/data"
EXOFOP = f"{GITHUB}/tess-atlas/exofop_data"
COAT = f"{GITHUB}/DongHande/AutoDebias/39101ad5a67194ef3828268102cf9b23487cb759/datasets/coat"
GPL = "GPL 3 or later."
SURVEYED = {
    "AWTtrain_po": "ac28f21d848749ff7511bfa505d7e9935e714a40af23f7949de2e12311e67421",
    "AWTtrain_bg": "d118e2861ab060e1cfb569f21c23348fb760b1b2aa3b92b56b08ee29dd5a00b4",
    "AWTtest_pa_bird": "60198f6f5d07c9a288b4a76c32744bd121b5f09828a90b12b3f9024b3af64179",
    "AWTtest_env_bird": "3d20606dfd54f1c0092c96993b7d16d452ae7f0e62e50c7c3f1ba5490d2d31b7",
    "AWTtest_pa_plant": "39df9bf775b76b6736ed600cdbbb835263cbaaf53c3412e3beb96046f196c261",
    "AWTtest_env_plant": "60ffc85f4b7569a6e9430b68b2cff3479b8892886cd00158e1843c92b690a6c2",
    "CANtrain_po": "04ac2b4c66f570f30e327fe9a28ae04e153da9d918daa59dfb63e132f292e3c5",
    "CANtrain_bg": "9618c6d9829f66ac9b6334fcc7c077bfdc64cf8cac2851b4518fca5666c1739a",
    "CANtest_pa": "77185bc1b9f073ef4fa524b43fab74030f77b16a4e95ff45d34b97eab8c61799",
    "CANtest_env": "58ec4f9a954ab096144669a485d58a84129f8f98adac50e20a4db13c5d44430d",
    "NZtrain_po": "aabdd50a712ff177c5c012059977f797acf167120e401b7c81b5c797a32a4778",
    "NZtrain_bg": "455f4c15d295f2908f0b7361065f39402c8d62dd5ca6f5b2c4fbd382d710bc72",
    "NZtest_pa": "165b24ba67c9f39105037570bf6af9a3778e65082766dba352f5b3823505d6bd",
    "NZtest_env": "de56108accc34e1f8a04cd6f6ff346253d6c0274b06e4e1ec6c9471f30514047",
    "SAtrain_po": "e08daad01cb7d2533d73a5d07fbfabec0e9cc5d79a2670fa68da4aa6b73e4965",
    "SAtrain_bg": "8bf8f6cd37da6d08e613b86545251aa66917f2679f25133aa5fec8e380c2e9c8",
    "SAtest_pa": "fbcdc7e3289eb32620ee750b00a3ba14237f53a125fd1d4fe14aa549b0055a45",
    "SAtest_env": "4113463bb7cd149309d21160ac42afe1519875cb308cc8cbe1e7f6e0960640da",
}


def _of_the_book(title: str, name: str, sha256: str, convert: Callable[[Paths], Arrays]) -> WildSource:
    file = DataFile(f"{name}.rda", sha256, f"{AHM}/{name}.rda")
    return WildSource(title, f"AHMbook 0.2.8, {name} (Kéry and Royle)", GPL, (file,), convert)


SOURCES: dict[str, WildSource] = {
    "nhanes_hypertension": WildSource(
        "High blood pressure, told by a doctor or measured",
        "cardioStatsUSA, nhanes_data (NHANES 1999 to 2020)",
        "the survey is in the public domain, the package GPL 3 or later.",
        (
            DataFile(
                "nhanes_data.rda",
                "8966e9a5e585c4e303bd91a42180c366dedc4fbdd307f2ef90318422aeeb9e2d",
                f"{NHANES}/nhanes_data.rda",
            ),
        ),
        hypertension,
    ),
    "disdat_can_nz_awt_sa": WildSource(
        "Species records against surveys: Ontario, New Zealand, the Australian wet tropics, South America",
        "disdat (Elith and others 2020, Biodiversity Informatics 15:69-80)",
        "package GPL 3 or later; the data are released by their owners for comparing methods, cite them.",
        tuple(DataFile(f"{name}.rds", known, f"{DISDAT}/{name}.rds") for name, known in SURVEYED.items()),
        disdat,
    ),
    "hubbard_brook": _of_the_book(
        "Thirteen birds of the Hubbard Brook forest, first visit against three",
        "HubbardBrook",
        "717f6b687ed2478f263b185cf2504641108f7728d9ade0f7987e5f944ce5a469",
        hubbard_brook,
    ),
    "swiss_birds_2014": _of_the_book(
        "Swiss breeding birds 2014, first visit against all",
        "MHB2014",
        "8c9cc271e1e832aaae015fa9015a4734709befb930fca94102b0efce6bc66361",
        swiss_birds,
    ),
    "swiss_tits": _of_the_book(
        "Swiss tits 2004 to 2013, first visit against three",
        "SwissTits",
        "39d37f00649142a1f1ef304eb6519373dd0a05868c6fd6c41f93ace6a8e8f5df",
        swiss_tits,
    ),
    "mesocarnivores": _of_the_book(
        "Bobcat, coyote and red fox at cameras, first week against three",
        "MesoCarnivores",
        "ce81709bfe0c6a0f86b45b99bfac7a584a1e6494ab491b41d25a413b8d47a87b",
        mesocarnivores,
    ),
    "kepler": WildSource(
        "Signals of Kepler, confirmed as planets early or later",
        "NASA Exoplanet Archive, cumulative tables of 2013, 2019 and 2025",
        "public; acknowledge the archive.",
        (
            DataFile(
                "koi_2013.csv",
                "f30b9f5b7e8c4cb36f152d1c98b4c69789ead931f55c3049f7002dec4d81ffba",
                f"{GITHUB}/zhuww/planetserver/40c392814c8949d464806b38a13af0cf245f7189/cumulative.csv",
            ),
            DataFile(
                "koi_2019.csv",
                "95d320aa8b41147f12394aa733c0b6cb3db8a6e44ffdce8662936fc52702aaa1",
                f"{GITHUB}/antkak/edakoi/22141feb402d87636e2d33e9b59a061906fb4c54/cumulative.csv",
            ),
            DataFile(
                "koi_2025.csv",
                "1e23f764a990ad2e06dfeb3b2857c5df069eb3c51f8c5e313051f9819bcd911c",
                f"{GITHUB}/labib116/Nasa-Space-Apps-Challenge/1f5af86e12539e00029cf38ab7a7fc53dece4fdd/cumulative.csv",
            ),
        ),
        kepler,
    ),
    "tess": WildSource(
        "Signals of TESS, confirmed as planets early or later",
        "NASA ExoFOP, tables of objects of interest of 2023 and 2025",
        "public; acknowledge the archive.",
        (
            DataFile(
                "exofop_2023.csv",
                "ff584691edf52fb1f5d4fd5c45fca2836d0a561cb68cf76855f2cbc9395f4093",
                f"{EXOFOP}/5e62d766c56a4fa242093df4998ec5bc01454367/data/exofop_data.csv",
            ),
            DataFile(
                "exofop_2025.csv",
                "bbe2ccab58ba4111bf76a1a55bb46e1e30963a2786933f68c94d80d08fccc5e3",
                f"{EXOFOP}/12f968a75770bf3a6d33b01656da44340eac9861/data/exofop_data.csv",
            ),
        ),
        tess,
    ),
    "coat": WildSource(
        "Coats that people chose to rate, or were shown at random",
        "Coat (Schnabel and others 2016, Recommendations as treatments)",
        "none stated by the collectors: research use, cite them.",
        (
            DataFile(
                "coat_train.ascii",
                "a87bd9e7eaf3b89f976df3f25d4aa5d5d871be8a00b58947df9e6e015559bd37",
                f"{COAT}/train.ascii",
            ),
            DataFile(
                "coat_test.ascii",
                "de6714ab105a5e0be8166be7fd313901b29f9a09c3bea307901457d1d71847e6",
                f"{COAT}/test.ascii",
            ),
            DataFile(
                "coat_user.ascii",
                "d8f9531b601c54a7272602f8b21fa6cb4652cbf122e35d8615ea9645ebbf1b1f",
                f"{COAT}/user_item_features/user_features.ascii",
            ),
            DataFile(
                "coat_item.ascii",
                "edea8217ec5606779b4d3bf819f7591dc63bcd5194d619e8048c2322d07630b1",
                f"{COAT}/user_item_features/item_features.ascii",
            ),
        ),
        coat,
    ),
}
