"""JSON as commands write it: any reader takes it, whatever letters a file holds."""

from __future__ import annotations

import json

from pulens.cli._write import as_files, to_json


def test_halves_of_characters_are_written_as_json_spells_them():
    text = to_json({"é\ud800": 1.0})
    assert json.loads(text.encode()) == {"é\ud800": 1.0}
    assert to_json({"é": 1}) == '{\n  "é": 1\n}'


def test_halves_of_characters_are_question_marks_on_pages():
    assert as_files({"a.html": "é\ud800"}) == {"a.html": "é?\n".encode()}
