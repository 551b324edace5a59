"""pulens prior on the command line."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest

from pulens.cli import main


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(1)
    scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    path = tmp_path_factory.mktemp("prior") / "scores.csv"
    lines = [f"{label},{score:.6f}" for label, score in zip(np.repeat([1, 0], [500, 5000]), scores, strict=True)]
    path.write_text("label,score\n" + "\n".join(lines))
    return str(path)


def run(capsys, *arguments):
    try:
        main(["prior", *arguments])
        code = 0
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_holds_the_estimate_its_interval_and_the_feasible_range(capsys, file):
    code, out, _ = run(capsys, file, "--json", "-")
    answer = json.loads(out)
    assert code == 0
    result, truth = answer["class_prior"], 1500 / 5500
    assert result["low"] < truth < result["high"] <= result["feasible_high"]
    assert answer["rows_to_audit"]["0.1"] > 100


def test_no_more_rows_are_to_be_checked_than_there_are(capsys, file):
    _, out, _ = run(capsys, file, "--json", "-")
    rows = json.loads(out)["rows_to_audit"]
    assert rows["0.1"] < rows["0.05"] < rows["0.02"] == 5000
    assert "all 5,000 for 0.02" in " ".join(run(capsys, file, "--explain")[1].split())


def test_an_audit_is_combined_with_the_estimate(capsys, file):
    _, out, _ = run(capsys, file, "--audit", "40/200", "--combine", "--json", "-")
    assert "with an audit of 200 rows" in json.loads(out)["class_prior"]["method"]


def test_label_noise_can_be_estimated(capsys, file):
    _, out, _ = run(capsys, file, "--label-noise", "estimate", "--json", "-")
    assert json.loads(out)["label_noise"]["value"] < 0.05


def test_every_estimator_is_shown_on_request(capsys, file):
    code, out, _ = run(capsys, file, "--all")
    assert code == 0
    assert "dedpul" in out
    assert "feasible range" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "tlit"], "Did you mean 'tilt'?"),
        (["--audit", "5/3"], "got '5/3'"),
        (["--label-noise", "lots"], "or 'estimate', got 'lots'"),
        (["--label-noise", "1.5"], "got 1.5"),
        (["--confidence", "95"], "got 95.0"),
        (["--label-noise", "estimate", "--audit", "1/2"], "cannot be combined"),
    ],
)
def test_bad_options_end_with_one_message_and_code_two(capsys, file, arguments, message):
    code, out, err = run(capsys, file, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_the_picture_is_drawn(capsys, file, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    code, _, _ = run(capsys, file, "--plot", str(tmp_path / "prior.png"))
    assert code == 0
    assert (tmp_path / "prior.png").stat().st_size > 5000


def last_command(out: str) -> list[str]:
    """What the last lines say to type, as a shell reads them."""
    return shlex.split(out.rstrip().replace("\\\n", " ").splitlines()[-1])


LINES = {
    "estimated": ([], ["--class-prior", "auto"]),
    "by a method": (["--method", "tilt"], ["--class-prior", "tilt"]),
    "audited": (["--audit", "40/200"], ["--audit", "40/200"]),
    "both": (["--audit", "40/200", "--combine"], ["--audit", "40/200", "--combine"]),
    "with known noise": (["--label-noise", "0.01"], ["--class-prior", "auto", "--label-noise", "0.01"]),
}


@pytest.mark.parametrize("which", LINES)
def test_the_last_line_is_the_command_that_evaluates_with_this_class_prior(capsys, file, which):
    asked, expected = LINES[which]
    _, out, _ = run(capsys, file, *asked)
    assert last_command(out) == ["pulens", "evaluate", file, *expected]
    _, result, _ = run(capsys, file, *asked, "--json", "-")
    main(["evaluate", file, *expected, "--redraws", "100", "--json", "-"])
    again = json.loads(capsys.readouterr().out)["class_prior"]
    assert again["value"] == json.loads(result)["class_prior"]["value"]


def test_the_range_that_is_offered_can_be_typed(capsys, file):
    _, out, _ = run(capsys, file, "--label-noise", "estimate")
    words = last_command(out)
    assert words[3] == "--class-prior"
    main([*words[1:], "--redraws", "100", "--quiet"])  # ends that lie beyond what the counts allow would be refused
    _, out, _ = run(capsys, file)
    offered = re.search(r"^To reuse it: --class-prior [\d.]+ \(or ([\d.]+:[\d.]+)\)$", out, re.MULTILINE)[1]
    main(["evaluate", file, "--class-prior", offered, "--redraws", "100", "--quiet"])


def test_interval_and_possible_range_stand_in_one_line_for_each_population(capsys, file):
    _, out, _ = run(capsys, file)
    _, result, _ = run(capsys, file, "--json", "-")
    prior = json.loads(result)["class_prior"]
    whole, alone = (re.search(rf"  {name} .*", out)[0].split() for name in ("all rows", "unlabelled rows"))
    assert whole[-6:-3] == [f"{prior['low']:.3f}", "to", f"{prior['high']:.3f}"]
    assert whole[-3:] == [f"{prior['feasible_low']:.3f}", "to", f"{prior['feasible_high']:.3f}"]
    assert alone[-6:-3] == [f"{prior['unlabelled_low']:.3f}", "to", f"{prior['unlabelled_high']:.3f}"]
    assert float(alone[-1]) >= float(alone[-4])
    _, out, _ = run(capsys, file, "--scenario", "case-control")
    assert "unlabelled rows alone" not in out


def test_nothing_on_the_terminal_is_written_as_python_writes_objects(capsys, file):
    for asked in ([], ["--all"], ["--label-noise", "estimate"]):
        _, out, _ = run(capsys, file, *asked)
        assert not re.search(r"Tally\(|Interval\(|<|e[+-]0\d|\[0\.", out)
        assert max(len(line) for line in out.splitlines() if file not in line) <= 80
        assert len(out.splitlines()) <= 24 or asked
