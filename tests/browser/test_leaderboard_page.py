"""The leaderboard in a browser: sorting, filters, toggles, runs behind cells; names as text; nothing is loaded."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")

from pulens.benchmark import leaderboard

from pulens.research.benchmark.analyse import judgement
from pulens.research.benchmark.archive import Store, read
from pulens.research.benchmark.leaderboard import judged
from pulens.research.benchmark.leaderboard.page import leaderboard_page
from synthetic_archive import make, rewritten

TITLE = "<img src=x onerror=alert(1)> mine"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaderboard") / "archive"
    made = make(folder, conditions=(("S1", 0.05), ("S1", 0.1), ("S2", 0.05)), seeds=(2, 25, 42), epochs=12)
    mine = [row for row in made.table().to_pylist() if row["learner"] == "nnpu" and row["dataset"] == "mnist"]
    Store(folder).open().add([{**row, "learner": "mine", "title": TITLE, "key": row["key"][::-1]} for row in mine])
    return read(folder)


@pytest.fixture(scope="module")
def report(archive, tmp_path_factory):
    return written(archive, tmp_path_factory.mktemp("page"), 20)


def written(archive, folder, sampled):
    path = folder / "leaderboard.html"
    board = leaderboard.board(archive)
    fared = judged.judge_within(archive, board.condition, sampled, redraws=50)
    path.write_text(leaderboard_page(archive, board, fared), encoding="utf-8")
    return path


def column(opened, place):
    return opened.page.locator(f"#board tbody tr td:nth-child({place})").all_text_contents()


def learners(opened):
    return opened.page.locator("#board tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.learner)")


def test_sorts_by_any_column_and_keeps_the_truth_apart(open_page, archive, report):
    opened = open_page(report)
    board = leaderboard.board(archive)
    assert learners(opened)[-1] == "pn"  # told the truth: below all, though best
    head = opened.page.locator("#board thead th")
    names = [text.strip() for text in head.all_text_contents()]
    assert names[2:] == list(board.datasets)
    place = names.index("mnist")
    head.nth(place).locator("button").click()
    assert head.nth(place).get_attribute("aria-sort") == "descending"
    values = {m: sum(own.values()) / len(own) for (m, d), own in board.cells.items() if d == "mnist"}
    expected = sorted((m for m in values if m != "pn"), key=lambda m: -round(values[m], 5))
    shown = [m for m in learners(opened) if m != "pn"]
    assert [round(values[m], 5) for m in shown] == [round(values[m], 5) for m in expected]
    head.nth(place).locator("button").click()
    assert head.nth(place).get_attribute("aria-sort") == "ascending"
    assert [round(values[m], 5) for m in learners(opened)[:-1]] == sorted(round(values[m], 5) for m in expected)
    opened.keep("leaderboard-light")


def test_no_fold_of_it_is_wider_than_a_phone(open_page, report):
    """The list of selections, opened on a phone, made the page scroll 62 to 112 pixels sideways."""
    for width in (390, 340):
        opened = open_page(report, viewport={"width": width, "height": 800})
        opened.page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
        opened.settle()
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_filters_by_family_data_set_name_selection_and_metric(open_page, archive, report):
    opened = open_page(report)
    page = opened.page
    page.locator("#more-filters summary").click()
    page.locator("#find").fill("generative")
    assert "pan" in learners(opened)
    assert "nnpu" not in learners(opened)
    page.locator("#find").fill("dist")
    assert learners(opened) == ["dist_pu"]
    page.locator("#find").fill("")
    before = len(page.locator("#board thead th").all())
    page.locator("[data-dataset='0']").click()
    assert len(page.locator("#board thead th").all()) == before - 1
    page.locator("[data-dataset='0']").click()
    page.locator("#metric").select_option("f1")
    page.locator("#selection").select_option("oracle_f1")
    assert page.locator("#oracle-warning").is_visible()
    cell = page.locator("#board tr[data-learner='vpu'] button.cell").first
    board = leaderboard.board(archive, metric="f1", selection="oracle_f1")
    own = board.cells["vpu", "connect4"].values()
    assert cell.text_content().startswith(f"{100 * sum(own) / len(own):.2f}")
    again = open_page(report, page.evaluate("location.hash"))
    assert again.page.evaluate("[page.state.metric, page.state.selection]") == ["f1", "oracle_f1"]
    page.locator("#selection").select_option("own")
    assert page.locator("#oracle-warning").is_hidden()


def test_significance_is_marked_on_each_data_set(open_page, archive, report):
    opened = open_page(report)
    signs = opened.page.locator("#board .sign")
    board = leaderboard.board(archive)
    assert signs.count() == sum(one.verdict() != "tie" for one in board.tests) > 0
    worse = opened.page.locator("#board tr[data-learner='pan'] .sign.worse").count()
    assert worse == sum(one.verdict() == "worse" for one in board.tests if one.learner == "pan")
    assert "paired t-test" in opened.page.locator("#legend").text_content()


def test_marks_truth_support_and_published_figures(open_page, report):
    opened = open_page(report)
    page = opened.page
    assert "true classes" in page.locator("#board tr[data-learner='pn'] .badge").text_content()
    assert page.locator("#board tr[data-learner='lagam'] .badge").count() == 1
    assert page.locator("#compared tr[data-learner='lagam'] .badge").count() == 1
    assert page.locator("#compared tr[data-learner='pn']").count() == 0
    assert page.locator(".published").count() == 0
    page.locator("#more-filters summary").click()
    page.locator("[data-also='published']").click()
    assert "published 85.71" in page.locator("#board tr[data-learner='dist_pu']").text_content()
    page.locator("#metric").select_option("f1")
    assert page.locator(".published").count() == 0


def test_a_cell_opens_its_runs_with_curves_and_scores(open_page, archive, report):
    opened = open_page(report)
    page = opened.page
    assert page.locator("#runs").is_hidden()
    page.locator("#board tr[data-learner='vpu'] button.cell").nth(1).click()
    assert page.locator("#h-runs").text_content() == "VPU on mnist"
    assert page.locator("#seeds tbody tr").count() == 3
    page.locator("#seeds button.cell", has_text="25").click()
    opened.settle()
    key = page.evaluate("page.state.run.key")
    row = next(row for row in archive.done if row["key"] == key)
    assert (row["learner"], row["dataset"], row["seed"], row["label_frequency"]) == ("vpu", "mnist", 25, 0.1)
    assert page.locator("#chart-learning svg path").count() >= 3
    assert "seed 25" in page.locator("#chart-density svg title").text_content()
    assert "Called positive" in page.locator("#run-words").text_content()
    page.locator("#chart-learning summary").click()
    told = page.locator("#chart-learning details.data tbody tr").first.locator("td").all_text_contents()
    assert float(told[2]) == pytest.approx(archive.curve(key)["test_accuracy"][0], abs=1e-3)
    linked = open_page(report, page.evaluate("location.hash"))
    assert linked.page.locator("#runs").is_visible()
    assert linked.page.evaluate("page.state.run.key") == key
    page.locator("#close-runs").click()
    assert page.locator("#runs").is_hidden()


def test_charts_follow_what_is_chosen(open_page, archive, report):
    opened = open_page(report)
    page = opened.page
    for name in ("ranks", "beliefs", "tradeoff", "labels", "bias"):
        page.locator(f"#chart-{name}").scroll_into_view_if_needed()
        opened.settle()
        assert page.locator(f"#chart-{name} svg").count() == 1
    ranking = leaderboard.board(archive).ranking
    assert f"critical difference {ranking.critical_difference:.2f}" in page.locator("#chart-ranks svg").text_content()
    lines = page.evaluate("page.drawn().length")
    page.locator("details:has(#drawn) > summary").click()
    page.locator("#drawn button", has_text="PN").click()
    opened.settle()
    assert page.evaluate("page.drawn().length") == lines + 1
    page.locator("[data-cost='memory']").click()
    page.locator("#chart-tradeoff").scroll_into_view_if_needed()
    opened.settle()
    assert "MiB" in page.locator("#chart-tradeoff svg").text_content()
    page.locator("#where").select_option(label="mnist")
    opened.settle()
    assert "mnist" in page.locator("#chart-tradeoff svg title").text_content()
    with page.expect_download() as saved:
        page.locator("#chart-beliefs [data-save=svg]").click()
    assert TITLE not in saved.value.path().read_text(encoding="utf-8")


def test_names_are_text_and_fit_a_phone_in_the_dark(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, color_scheme="dark")
    page = opened.page
    assert page.locator("#board tr[data-learner='mine'] bdi").text_content() == TITLE
    assert page.locator("img").count() == 0
    page.locator("#board tr[data-learner='mine'] button.cell").first.click()
    opened.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.keep("leaderboard-phone-dark")
    opened.on_paper("leaderboard")


def test_other_tables_sort_too(open_page, report):
    opened = open_page(report)
    table = opened.page.locator("#h-judged ~ .card table").first
    head = table.locator("thead th button", has_text="median width")
    head.click()
    widths = [float(text) for text in table.locator("tbody td[data-name='width']").all_text_contents()]
    assert widths == sorted(widths, reverse=True)


def test_paper_shows_every_column_and_repeats_headings(open_page, report):
    opened = open_page(report, viewport={"width": 794, "height": 1123})  # A4
    assert opened.on_paper("leaderboard-print").startswith(b"%PDF")
    opened.page.emulate_media(media="print")
    opened.page.add_style_tag(content="html { width: 703px }")  # what the margins leave of it
    beyond = "(table) => table.parentElement.scrollWidth - table.parentElement.clientWidth"
    tables = opened.page.locator(".scrolls > table").evaluate_all(
        f"all => all.filter((one) => one.offsetWidth).map((one) => [one.id, ({beyond})(one)])"
    )
    assert len(tables) >= 5
    assert all(beyond <= 0 for _, beyond in tables), tables
    heads = opened.page.locator("#board thead th").evaluate_all(
        "all => all.map((one) => [getComputedStyle(one, '::before').content, one.querySelector('button').offsetWidth])"
    )
    assert [content for content, _ in heads][:2] == ['"learner"', '"mean"']
    assert {width for _, width in heads} == {0}, "a page's second heading row is drawn without its buttons"


def test_charts_have_something_to_draw_where_no_method_has_every_data_set(open_page, archive, tmp_path):
    there = {
        "spambase": {"nnpu", "vpu", "dist_pu"},
        "mnist": {"nnpu", "pan"},
        "connect4": {"vpu", "dist_pu", "pan", "self_pu"},
    }
    store = Store(tmp_path / "archive").open()
    rows = [
        row for row in archive.table().to_pylist() if row["mechanism_alias"] == "S1" and row["label_frequency"] == 0.1
    ]
    for dataset, names in there.items():
        for name in names:
            own = [row for row in rows if (row["dataset"], row["learner"], row["status"]) == (dataset, name, "done")]
            store.add(own)
    few = read(tmp_path / "archive")
    path = tmp_path / "few.html"
    path.write_text(leaderboard_page(few, leaderboard.board(few), None), encoding="utf-8")
    opened = open_page(path)
    opened.settle()
    note = opened.page.locator("#datasets-note")
    said = note.text_content()
    assert "fewer than half" in said, "four of five learners have connect4, three spambase"
    assert said.endswith(": mnist.")
    assert [one == "–" for one in column(opened, 2)] == [False, False, True, True, True], "means are over what is shown"
    opened.page.locator("#more-filters summary").click()
    opened.page.locator("[data-dataset]", has_text="mnist").click()
    opened.settle()
    assert note.text_content() == ""
    opened.page.locator("#chart-tradeoff").scroll_into_view_if_needed()  # charts are drawn where they can be seen
    opened.settle()
    assert set(column(opened, 2)) == {"–"}, "nobody has a mean over all three"
    assert "No costs were kept" not in opened.page.locator("#chart-tradeoff .canvas").text_content()
    assert "connect4" in opened.page.locator("#chart-tradeoff .canvas").inner_html()


def test_shares_of_a_bar_add_up_to_a_hundred(open_page, report):
    opened = open_page(report)
    told = opened.page.evaluate("[[0.595, 0.405, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]].map(paint.wholePercents)")
    assert told == [[60, 40, 0], [34, 33, 33], [0, 0, 100]]


@pytest.fixture(scope="module")
def uneven(archive, tmp_path_factory):
    """A learner with an oracle of its own and one seed less; two devices; two prior policies."""
    folder = tmp_path_factory.mktemp("uneven") / "archive"

    def change(row):
        if row["status"] != "done" or row["dataset"] not in ("mnist", "spambase"):
            return None
        if (row["learner"], row["dataset"], row["seed"]) == ("self_pu", "mnist", 2):
            return None
        changed = {"own_selection": "oracle_accuracy"} if row["learner"] == "self_pu" else {}
        if row["learner"] == "pan" or row["seed"] == 2:
            changed |= {"device_name": "a large device", "seconds": 0.01}
        return row | changed

    def other(row):
        if (row["learner"], row["dataset"]) == ("nnpu", "mnist"):
            return row | {"key": row["key"][::-1], "prior_policy": "estimated"}
        return None

    rewritten(archive, folder, change)
    return rewritten(archive, folder, other)


@pytest.fixture(scope="module")
def uneven_report(uneven, tmp_path_factory):
    return written(uneven, tmp_path_factory.mktemp("uneven"), 7)


def test_oracles_of_their_own_and_missing_seeds_are_shown(open_page, uneven_report):
    page = open_page(uneven_report).page
    assert "but those marked § read TRUE" in page.locator(".source").text_content()
    badge = page.locator("#board tr[data-learner='self_pu'] .badge")
    assert badge.all_text_contents() == ["§ true validation labels"]
    assert page.locator("#compared tr[data-learner='self_pu'] .badge").count() == 1
    assert page.locator("#board .badge", has_text="§").count() == 1
    counts = page.locator("#board .count")
    assert counts.all_text_contents() == [" (2)", " (2)"]  # Self-PU on mnist, and PAN, whose run failed
    assert counts.first.get_attribute("title") == "2 seeds"
    assert "the number of seeds, where it is not 3" in page.locator("#counts").text_content()
    assert "Self-PU §" in page.locator("#drawn").text_content()
    page.locator("#more-filters summary").click()
    page.locator("#selection").select_option("last")
    assert badge.count() == 0, "the last epoch reads nothing"


def test_a_run_tells_what_evaluation_without_negatives_would_have_said(open_page, uneven, uneven_report):
    opened = open_page(uneven_report)
    page = opened.page
    page.locator("#board tr[data-learner='dist_pu'] button.cell").first.click()
    page.locator("#seeds button.cell", has_text="25").click()
    opened.settle()
    key = page.evaluate("page.state.run.key")
    expected = {row["metric"]: row for row in judgement.judge(uneven, rows=[{**uneven._row(key)}], redraws=50)}
    table = page.locator("#estimates tbody tr")
    assert table.count() == 5
    names = {"accuracy": "accuracy", "F1": "f1", "precision": "precision", "recall": "recall", "ROC AUC": "roc_auc"}
    for row in table.all():
        name, estimate, interval, truth, held = row.locator("td").all_text_contents()
        told = expected[names[name]]
        assert float(estimate) == pytest.approx(100 * told["estimate"], abs=0.011)
        ends = [float(part) for part in interval.split(" to ")]
        assert ends == pytest.approx([100 * told["low"], 100 * told["high"]], abs=0.011)
        assert float(truth) == pytest.approx(100 * told["truth"], abs=0.011)
        assert held == ("yes" if told["held"] else "no")
    note = page.locator("#estimates-note")
    assert f"epoch {uneven.choice(key)['epoch']} (the learner's own criterion" in note.text_content()
    assert "biased" not in note.text_content()
    opened.keep("leaderboard-run")


def boxes_meet(boxes):
    def meet(a, b):
        return (
            a["x"] < b["x"] + b["width"] - 1
            and b["x"] < a["x"] + a["width"] - 1
            and a["y"] < b["y"] + b["height"] - 3
            and b["y"] < a["y"] + a["height"] - 3
        )

    return [(a, b) for place, a in enumerate(boxes) for b in boxes[:place] if meet(a, b)]


@pytest.mark.parametrize("width", [1200, 375])
def test_names_in_the_chart_of_costs_do_not_cover_one_another(open_page, uneven_report, width):
    opened = open_page(uneven_report, viewport={"width": width, "height": 800})
    page = opened.page
    page.evaluate(
        """() => { // twenty learners, most of them as good as one another
          const { raw } = page;
          const first = raw.learners.length;
          const grids = ["mean", "sd", "n", "p", "verdict", "belief"];
          for (let k = 0; k < 14; k++) {
            raw.learners.push({ ...raw.learners[0], name: `more${k}`, title: `Learner ${k}`, marked: `Learner ${k}` });
            for (const own of Object.values(raw.boards)) {
              for (const name of grids)
                own[name].push(raw.datasets.map(() => (name === "mean" ? 90000 + 20 * k : null)));
              for (const name of ["over", "wilcoxon", "records"]) own[name].push(null);
            }
            const { cells } = raw.costs[page.state.condition];
            raw.datasets.forEach((_, d) => cells.push([first + k, d, 0, 1 + k / 20, 100]));
          }
          document.querySelector("[data-cost=seconds]").click();
        }"""
    )
    page.locator("#chart-tradeoff").scroll_into_view_if_needed()
    opened.settle()
    names = page.locator("#chart-tradeoff svg text.name")
    told = names.all_text_contents()
    numbered = [part for part in page.locator("#numbered").text_content().split(", ") if part]
    assert sum(text.startswith("Learner") for text in [*told, *(part.split(" ", 1)[1] for part in numbered)]) == 14
    assert {part.split(" ")[0] for part in numbered} >= {text for text in told if text.isdigit()}
    assert boxes_meet([one.bounding_box() for one in names.all()]) == []
    opened.keep(f"leaderboard-costs-{width}")
    told = page.evaluate(
        "['A very long name of a method ‡§', 'A method of a very long name', 'PN †'].map((one) => chart.cut(one, 20))"
    )
    assert told == ["A very long name… ‡§", "A method of a very …", "PN †"]


def test_costs_are_of_one_device_at_a_time(open_page, uneven, uneven_report):
    opened = open_page(uneven_report)
    page = opened.page
    page.locator("#chart-tradeoff").scroll_into_view_if_needed()
    opened.settle()
    chips = page.locator("#on-device button")
    assert chips.all_text_contents() == ["a processor", "a large device"]
    assert "on a processor" in page.locator("#chart-tradeoff svg title").text_content()
    note = page.locator("#devices")
    assert "Not drawn" in note.text_content()
    assert "PAN" in note.text_content().split("measured there:")[1]
    chips.nth(1).click()
    opened.settle()
    assert chips.nth(1).get_attribute("aria-pressed") == "true"
    assert "on a large device" in page.locator("#chart-tradeoff svg title").text_content()
    assert "PAN" in page.locator("#chart-tradeoff svg").text_content()


def test_label_charts_keep_the_rest_of_the_condition(open_page, uneven_report):
    opened = open_page(uneven_report)
    page = opened.page
    page.locator("#chart-labels").scroll_into_view_if_needed()
    opened.settle()
    page.locator("#chart-labels summary").click()
    opened.settle()
    shown = page.locator("#chart-labels details.data tbody td:first-child").all_text_contents()
    assert shown == ["S1 0.05 prior known", "S1 0.1 prior known"]
    page.locator("#condition").select_option(
        label="labelled at random, 1 in 10, prior estimated (S1 0.1 prior estimated)"
    )
    page.locator("#chart-bias").scroll_into_view_if_needed()
    opened.settle()
    page.locator("#chart-bias summary").click()
    opened.settle()
    shown = page.locator("#chart-bias details.data tbody td:first-child").all_text_contents()
    assert shown == ["S1 0.05 prior estimated", "S2 0.05 prior estimated"]


def test_label_charts_are_over_the_same_data_sets_at_every_condition(open_page, archive, tmp_path):
    store = Store(tmp_path / "archive").open()
    rows = [row for row in archive.table().to_pylist() if row["learner"] != "mine" and row["status"] == "done"]
    store.add([row for row in rows if row["dataset"] != "mnist" or row["label_frequency"] == 0.1])
    path = tmp_path / "page.html"
    path.write_text(leaderboard_page(few := read(tmp_path / "archive"), leaderboard.board(few), None), encoding="utf-8")
    opened = open_page(path)
    opened.page.locator("#chart-labels").scroll_into_view_if_needed()
    opened.settle()
    title = opened.page.locator("#chart-labels svg").get_attribute("aria-label")
    assert "mnist" not in title, title
    assert "spambase" in title, title


def test_conditions_and_selections_are_said_in_words_above_the_table(open_page, report):
    opened = open_page(report, viewport={"width": 390, "height": 800})
    page = opened.page
    shown = page.locator("#condition option").all_text_contents()
    assert shown[1] == "labelled at random, 1 in 10 (S1 0.1)"
    assert shown[2] == "clear positives labelled more often, 1 in 20 (S2 0.05)"
    chosen = page.locator("#selection option").all_text_contents()
    assert chosen[0] == "each learner's own rule"
    assert all(text.endswith("(uses true labels)") for text in chosen if "true" in text)
    told = page.locator("#verdict").inner_text()
    assert "Of the positives: labelled at random, 1 in 10" in told
    legend, table = (page.locator(part).bounding_box() for part in ("#legend", "#board"))
    assert table["y"] + table["height"] <= legend["y"], "the first number comes before the legend"
    moved = page.evaluate(
        """() => {
          const board = document.getElementById("board");
          board.parentElement.scrollLeft = 60;
          const left = (cell) => cell.getBoundingClientRect().left;
          const [first, second] = board.tBodies[0].rows[0].cells;
          return [board.parentElement.scrollLeft, left(first) - left(board.parentElement), left(second)];
        }"""
    )
    assert moved[0] > 20
    assert moved[1] == pytest.approx(1, abs=1), "the names stay while the data sets scroll"
    missing = page.locator("text=Without runs here").inner_text()
    assert all(name in missing for name in ("Elkan-Noto", "PU bagging", "uPU"))
