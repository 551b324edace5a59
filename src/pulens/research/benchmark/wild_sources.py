"""Where real labels with a truth come from: the makers' own files at a fixed commit, converted to what is read here.

A line of ``wild_sources.csv`` per family, and of ``wild_files.csv`` per file. ``fetch_wild`` takes the prepared file
from the folder that ``PULENS_MIRROR`` names (as it is or in ``wild/``), or else fetches the originals, checks their
SHA-256 and converts them. R files need ``rdata`` (``pip install 'pulens[wild]'``).
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
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


def _table(path: Traversable) -> Rows:
    """The rows of a CSV file whose comments begin with #."""
    with path.open(encoding="utf-8") as file:
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


def _facts(name: str) -> Rows:
    return _table(resources.files(__package__) / f"{name}.csv")


def _source(facts: Mapping[str, str]) -> WildSource:
    files = (file for file in _facts("wild_files") if file["family"] == facts["family"])
    known = tuple(DataFile(file["file"], file["sha256"], file["url"]) for file in files)
    return WildSource(facts["title"], facts["source"], facts["licence"], known, CONVERT[facts["family"]])


CONVERT: Mapping[str, Callable[[Paths], Arrays]] = {
    "nhanes_hypertension": hypertension,
    "disdat_can_nz_awt_sa": disdat,
    "hubbard_brook": hubbard_brook,
    "swiss_birds_2014": swiss_birds,
    "swiss_tits": swiss_tits,
    "mesocarnivores": mesocarnivores,
    "kepler": kepler,
    "tess": tess,
    "coat": coat,
}
SOURCES: dict[str, WildSource] = {facts["family"]: _source(facts) for facts in _facts("wild_sources")}
