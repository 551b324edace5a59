"""The leaderboard in a browser: sorting, filters, toggles, runs behind cells; names as text; nothing is loaded."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")

from pulens.benchmark import leaderboard
from pulens.benchmark.archive import Store, read
from pulens.benchmark.leaderboard import judged
from pulens.benchmark.leaderboard.page import leaderboard_page
from synthetic_archive import make

TITLE = "<img src=x onerror=alert(1)> mine"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaderboard") / "archive"
    made = make(folder, conditions=(("S1", 0.05), ("S1", 0.1), ("S2", 0.05)), seeds=(2, 25, 42), epochs=12)
    mine = [row for row in made.table().to_pylist() if row["method"] == "nnpu" and row["dataset"] == "mnist"]
    Store(folder).open().add([{**row, "method": "mine", "title": TITLE, "key": row["key"][::-1]} for row in mine])
    return read(folder)


@pytest.fixture(scope="module")
def report(archive, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "leaderboard.html"
    board = leaderboard.board(archive)
    fared = judged.judge_within(archive, board.condition, 20, redraws=50)
    path.write_text(leaderboard_page(archive, board, fared), encoding="utf-8")
    return path


def column(opened, place):
    return opened.page.locator(f"#board tbody tr td:nth-child({place})").all_text_contents()


def methods(opened):
    return opened.page.locator("#board tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.method)")


def test_sorts_by_any_column_and_keeps_the_truth_apart(open_page, archive, report):
    opened = open_page(report)
    board = leaderboard.board(archive)
    assert methods(opened)[-1] == "pn"  # told the truth: below all, though best
    head = opened.page.locator("#board thead th")
    names = [text.strip() for text in head.all_text_contents()]
    assert names[2:] == list(board.datasets)
    place = names.index("mnist")
    head.nth(place).locator("button").click()
    assert head.nth(place).get_attribute("aria-sort") == "descending"
    values = {m: sum(own.values()) / len(own) for (m, d), own in board.cells.items() if d == "mnist"}
    expected = sorted((m for m in values if m != "pn"), key=lambda m: -round(values[m], 5))
    shown = [m for m in methods(opened) if m != "pn"]
    assert [round(values[m], 5) for m in shown] == [round(values[m], 5) for m in expected]
    head.nth(place).locator("button").click()
    assert head.nth(place).get_attribute("aria-sort") == "ascending"
    assert [round(values[m], 5) for m in methods(opened)[:-1]] == sorted(round(values[m], 5) for m in expected)
    opened.keep("leaderboard-light")


def test_filters_by_family_data_set_name_selection_and_metric(open_page, archive, report):
    opened = open_page(report)
    page = opened.page
    page.locator("[data-family='generative']").click()
    assert "pan" not in methods(opened)
    page.locator("#find").fill("dist")
    assert methods(opened) == ["dist_pu"]
    page.locator("#find").fill("")
    before = len(page.locator("#board thead th").all())
    page.locator("[data-dataset='0']").click()
    assert len(page.locator("#board thead th").all()) == before - 1
    page.locator("[data-dataset='0']").click()
    page.locator("#metric").select_option("f1")
    page.locator("#selection").select_option("oracle_f1")
    assert page.locator("#oracle-warning").is_visible()
    cell = page.locator("#board tr[data-method='vpu'] button.cell").first
    board = leaderboard.board(archive, metric="f1", selection="oracle_f1")
    own = board.cells["vpu", "connect4"].values()
    assert cell.text_content().startswith(f"{100 * sum(own) / len(own):.2f}")
    again = open_page(report, page.evaluate("location.hash"))
    assert again.page.evaluate("[page.state.metric, page.state.selection]") == ["f1", "oracle_f1"]
    page.locator("#selection").select_option("own")
    assert page.locator("#oracle-warning").is_hidden()


def test_significance_can_be_changed_and_switched_off(open_page, archive, report):
    opened = open_page(report)
    signs = opened.page.locator("#board .sign")
    board = leaderboard.board(archive)
    assert signs.count() == sum(one.verdict() != "tie" for one in board.tests) > 0
    worse = opened.page.locator("#board tr[data-method='pan'] .sign.worse").count()
    assert worse == sum(one.verdict() == "worse" for one in board.tests if one.method == "pan")
    opened.page.locator("[data-test='none']").click()
    assert signs.count() == 0
    opened.page.locator("[data-test='wilcoxon']").click()
    assert signs.count() == 0  # four data sets can never be significant
    assert "6 data sets" in opened.page.locator("#legend").text_content()


def test_marks_truth_support_and_published_figures(open_page, report):
    opened = open_page(report)
    page = opened.page
    assert "true classes" in page.locator("#board tr[data-method='pn'] .badge").text_content()
    assert page.locator("#board tr[data-method='lagam'] .badge").count() == 1
    assert page.locator("#compared tr[data-method='lagam'] .badge").count() == 1
    assert page.locator("#compared tr[data-method='pn']").count() == 0
    assert page.locator(".published").count() == 0
    page.locator("[data-also='published']").click()
    assert "published 85.71" in page.locator("#board tr[data-method='dist_pu']").text_content()
    page.locator("#metric").select_option("f1")
    assert page.locator(".published").count() == 0


def test_a_cell_opens_its_runs_with_curves_and_scores(open_page, archive, report):
    opened = open_page(report)
    page = opened.page
    assert page.locator("#runs").is_hidden()
    page.locator("#board tr[data-method='vpu'] button.cell").nth(1).click()
    assert page.locator("#h-runs").text_content() == "VPU on mnist"
    assert page.locator("#seeds tbody tr").count() == 3
    page.locator("#seeds button.cell", has_text="25").click()
    opened.settle()
    key = page.evaluate("page.state.run.key")
    row = next(row for row in archive.done if row["key"] == key)
    assert (row["method"], row["dataset"], row["seed"], row["label_frequency"]) == ("vpu", "mnist", 25, 0.1)
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
    for name in ("ranks", "beliefs", "radar", "tradeoff", "labels", "bias"):
        page.locator(f"#chart-{name}").scroll_into_view_if_needed()
        opened.settle()
        assert page.locator(f"#chart-{name} svg").count() == 1
    ranking = leaderboard.board(archive).ranking
    assert f"critical difference {ranking.critical_difference:.2f}" in page.locator("#chart-ranks svg").text_content()
    lines = page.locator("#chart-radar svg path[fill-opacity]").count()
    page.locator("#drawn button", has_text="PN").click()
    opened.settle()
    assert page.locator("#chart-radar svg path[fill-opacity]").count() == lines + 1
    page.locator("[data-cost='memory']").click()
    page.locator("#chart-tradeoff").scroll_into_view_if_needed()
    opened.settle()
    assert "MiB" in page.locator("#chart-tradeoff svg").text_content()
    page.locator("#where").select_option(label="mnist")
    opened.settle()
    assert "mnist" in page.locator("#chart-radar svg title").text_content()
    with page.expect_download() as saved:
        page.locator("#chart-radar [data-save=svg]").click()
    assert TITLE not in saved.value.path().read_text(encoding="utf-8")


def test_names_are_text_and_fit_a_phone_in_the_dark(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, color_scheme="dark")
    page = opened.page
    assert page.locator("#board tr[data-method='mine'] bdi").text_content() == TITLE
    assert page.locator("img").count() == 0
    page.locator("#board tr[data-method='mine'] button.cell").first.click()
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
    assert [content for content, _ in heads][:2] == ['"method"', '"mean"']
    assert {width for _, width in heads} == {0}, "a page's second heading row is drawn without its buttons"


def test_charts_have_something_to_draw_where_no_method_has_every_data_set(open_page, archive, tmp_path):
    there = {
        "spambase": {"nnpu", "vpu", "dist_pu"},
        "mnist": {"nnpu", "pan"},
        "connect4": {"vpu", "dist_pu", "pan", "self_pu"},
    }
    store = Store(tmp_path / "archive").open()
    rows = [row for row in archive.table().to_pylist() if row["strategy"] == "S1" and row["label_frequency"] == 0.1]
    for dataset, names in there.items():
        for name in names:
            own = [row for row in rows if (row["dataset"], row["method"], row["status"]) == (dataset, name, "done")]
            store.add(own)
    few = read(tmp_path / "archive")
    path = tmp_path / "few.html"
    path.write_text(leaderboard_page(few, leaderboard.board(few), None), encoding="utf-8")
    opened = open_page(path)
    opened.settle()
    note = opened.page.locator("#datasets-note")
    assert "fewer than three in four" in note.text_content(), "four of five methods have connect4, fewer the others"
    assert "–" not in column(opened, 2)[:4], "means are over what is shown"
    for name in ("spambase", "mnist"):
        opened.page.locator("[data-dataset]", has_text=name).click()
    opened.settle()
    assert note.text_content() == ""
    opened.page.locator("#chart-radar").scroll_into_view_if_needed()  # charts are drawn where they can be seen
    opened.settle()
    assert set(column(opened, 2)) == {"–"}, "nobody has a mean over all three"
    for chart in ("radar", "tradeoff"):
        text = opened.page.locator(f"#chart-{chart} .canvas").text_content()
        assert "Choose methods to draw" not in text
        assert "No costs were kept" not in text
    assert "connect4" in opened.page.locator("#chart-radar .canvas").inner_html()
