"""Pages that cannot go stale: catalogues, the API and the commands are read off the package itself."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

#: Classes whose own pages say what they pass on.
ELSEWHERE = ("tuple", "str", "Exception", "BaseEstimator", "ClassifierMixin", "TransformerMixin", "_SetOutputMixin")


class Written(SphinxDirective):
    """A directive that writes Markdown, which is then read as if it stood on the page."""

    optional_arguments = 1

    def lines(self) -> Iterable[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        text = [line for block in self.lines() for line in block.split("\n")]
        inside = nodes.section()
        inside.document = self.state.document
        self.state.nested_parse(StringList(text, source="catalogue"), self.content_offset, inside, match_titles=1)
        return inside.children


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    yield ""
    for row in (header, tuple("---" for _ in header), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def public_names(module: Any) -> list[str]:
    """What a module says it offers; if it does not say, what it defines without an underscore."""
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", [name for name in own if not name.startswith("_")]))


def number(count: int | None) -> str:
    return "not known" if count is None else f"{count:,}"


def yes(fact: bool) -> str:
    return "yes" if fact else "no"


def first_sentence(thing: Any) -> str:
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return text.replace("``", "`")


class Metrics(Written):
    """``{metrics}``: what each says and what it reads."""

    READS = {"threshold": "a threshold", "ranking": "the ranking", "counts": "a threshold, labelled against others"}  # noqa: RUF012

    def lines(self) -> Iterable[str]:
        from pulens.metrics import METRICS

        yield from table(
            ("name", "in words", "reads", "range", "needs the class prior"),
            (
                (
                    f"[`{name}`](#metric-{name.replace('_', '-')})",
                    metric.summary,
                    self.READS[metric.reads],
                    self.reach(metric) + ("" if metric.higher_is_better else ", lower is better"),
                    "no" if metric.ignores_class_prior or not metric.needs_class_prior else "yes",
                )
                for name, metric in METRICS.items()
            ),
        )

    @staticmethod
    def reach(metric: Any) -> str:
        if math.isinf(metric.highest):
            return f"{metric.lowest:.3g} and above" if math.isfinite(metric.lowest) else "any number"
        return (
            f"{metric.lowest:.3g} to {metric.highest:.3g}"
            if math.isfinite(metric.lowest)
            else f"up to {metric.highest:.3g}"
        )


class Formulas(Written):
    """``{metric-formulas}``: a section per metric with its formula, source and an example."""

    def lines(self) -> Iterable[str]:
        from pulens.metrics import METRICS

        for name, metric in METRICS.items():
            yield f"(metric-{name.replace('_', '-')})="
            yield f"## `{name}`"
            yield f"{metric.summary}."
            if metric.parameters:
                given = ", ".join(f"`{key}={value!r}`" for key, value in metric.parameters.items())
                yield f"\nParameters and their defaults: {given}."
            yield "\n```{eval-rst}"
            yield inspect.getdoc(metric.compute) or ""
            yield "```\n"


class Room(Written):
    """``{room} pulens.calibration``: every public name of a module, described by its docstring."""

    def lines(self) -> Iterable[str]:
        name = self.arguments[0]
        module = import_module(name)
        known = import_module("pulens").__all__ if name != "pulens" else []
        kinds = {each: self.kind(getattr(module, each)) for each in public_names(module)}
        public = [each for each, kind in kinds.items() if kind and each not in known]
        ordered = sorted(public, key=lambda each: (kinds[each] != "function", each.lower()))
        yield "```{eval-rst}"
        yield f".. currentmodule:: {name}\n"
        yield ".. autosummary::"
        yield "   :nosignatures:\n"
        yield from (f"   {each}" for each in ordered)
        yield ""
        for each in ordered:
            yield f".. auto{kinds[each]}:: {name}.{each}"
            if kinds[each] in ("class", "exception"):
                yield "   :members:"
                yield f"   :inherited-members: {', '.join(ELSEWHERE)}"
            yield ""
        yield "```"

    @staticmethod
    def kind(thing: Any) -> str:
        if inspect.isclass(thing):
            return "exception" if issubclass(thing, Exception) else "class"
        return "function" if callable(thing) else ""  # values explain themselves on the pages that use them


class Estimators(Written):
    """``{prior-estimators}``"""

    def lines(self) -> Iterable[str]:
        from pulens.priors import find, names

        yield from table(
            ("name", "in words", "takes for granted", "ranks only", "has an interval", "source"),
            (
                (
                    f"`{name}`",
                    facts.summary,
                    facts.assumption,
                    yes(facts.rank_based),
                    yes(facts.has_interval),
                    facts.source,
                )
                for name, facts in ((name, find(name)) for name in names())
            ),
        )


class Learners(Written):
    """``{learner-list}``"""

    def lines(self) -> Iterable[str]:
        from pulens import learners

        yield from table(
            ("class", "in words", "in tables", "family", "is told of the truth"),
            (
                (
                    f"{{py:class}}`~pulens.learners.{facts.learner.__name__}`",
                    first_sentence(facts.learner),
                    facts.title,
                    facts.family,
                    facts.told,
                )
                for facts in map(learners.facts, learners.names())
            ),
        )


class Datasets(Written):
    """``{dataset-list}``"""

    def lines(self) -> Iterable[str]:
        from pulens.research.benchmark.datasets import DATASETS

        yield from table(
            ("name", "what it is", "rows", "positives", "positive means", "source", "licence"),
            (
                (
                    f"`{name}`",
                    each.title,
                    number(each.rows),
                    number(each.positives),
                    each.positive,
                    each.source,
                    each.licence,
                )
                for name, each in DATASETS.items()
            ),
        )


class Mechanisms(Written):
    """``{mechanism-list}``"""

    def lines(self) -> Iterable[str]:
        from pulens.labelling import MECHANISMS

        yield from table(
            ("name", "also", "in words", "source"),
            ((f"`{name}`", each.alias, each.summary, each.source) for name, each in MECHANISMS.items()),
        )


def leave_out(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """scikit-learn's routing of metadata, which every estimator inherits and few people call."""
    return True if name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request")) else None


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("metrics", Metrics)
    app.add_directive("metric-formulas", Formulas)
    app.add_directive("room", Room)
    app.add_directive("prior-estimators", Estimators)
    app.add_directive("learner-list", Learners)
    app.add_directive("dataset-list", Datasets)
    app.add_directive("mechanism-list", Mechanisms)
    app.connect("autodoc-skip-member", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
