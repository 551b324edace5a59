"""What a study is: something published, a way to compute it again, and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Verdict = Literal["reproduced", "differs", "not testable here"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One published statement and what became of it.

    >>> print(Claim("The error falls with N", "reproduced", "slope -0.52"))
    reproduced: The error falls with N (slope -0.52)
    """

    statement: str
    verdict: Verdict
    because: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.statement} ({self.because})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Ours beside the published figures, as text tables, the claims, and the files that were saved."""

    tables: tuple[str, ...]
    claims: tuple[Claim, ...]
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Workbench:
    """What a run of a study is given: how much time it may take, where files go, how to report progress."""

    quick: bool = False
    out: Path | None = None
    seed: int = 0
    progress: Callable[[str], None] = field(default=lambda _: None)


def pictured(
    own_name: str, *shape: int, dpi: int = 130, saved: Mapping[str, Any] | None = None, **panels: Any
) -> Callable[[Callable[..., None]], Callable[..., tuple[Path, ...]]]:
    """Makes a function that draws on axes into one that writes the picture to a folder, its first argument.

    It gives back the files that were written: none where there is no folder. ``name`` says which where one function
    draws for several studies.
    """

    def decorate(draw: Callable[..., None]) -> Callable[..., tuple[Path, ...]]:
        def write(out: Path | None, *given: Any, name: str = own_name) -> tuple[Path, ...]:
            if out is None:
                return ()
            from pulens.plots.backend import pyplot, write_figure

            figure, axes = pyplot().subplots(*shape, layout="constrained", **panels)
            draw(axes, *given)
            write_figure(out / f"{name}.png", figure, dpi=dpi, **(saved or {}))
            pyplot().close(figure)
            return (out / f"{name}.png",)

        return write

    return decorate


@dataclass(frozen=True, slots=True)
class Study:
    """The facts of a study file: what it rebuilds, where that was published, and the function that does it."""

    title: str
    source: str
    run: Callable[[Workbench], Outcome]
