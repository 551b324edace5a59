"""The one page's scripts in the browser itself: the worlds that node is asked about, answered as Python does."""

from __future__ import annotations

import json

from one_file_driver import REQUESTS, differences, page_scripts, rows, worlds
from pulens.doors.evaluate import evaluate

ASK = "(asked) => JSON.stringify(asked.map((each) => requests.rows(each).answer), plain)"


def test_sixty_worlds_have_pythons_numbers_in_the_browser(chromium):
    asked = [rows(labels, scores, **given, confidence=None) for labels, scores, given in worlds()]
    context = chromium.new_context()
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.add_script_tag(content=f"{page_scripts()}\n{REQUESTS}")
    answers = json.loads(page.evaluate(ASK, asked))
    context.close()
    assert said == []
    assert len(answers) == 60
    for answer, (labels, scores, given) in zip(answers, worlds(), strict=True):
        expected = evaluate(labels, scores, **given, confidence=None).to_dict()
        for part in ("estimates", "class_prior", "threshold"):
            assert differences(answer[part], expected[part]) == [], given
