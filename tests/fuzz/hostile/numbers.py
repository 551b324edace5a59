"""Which call a number stands for."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

from hostile import agreement, archives, learners, protocols, road, synthesis, tallies
from hostile.call import Call

KINDS = {  # how many of a hundred calls, and who makes them
    "evaluate": (31, partial(road.make, command="evaluate")),
    "prior": (6, partial(road.make, command="prior")),
    "calibrate": (9, partial(road.make, command="calibrate")),
    "compare": (9, partial(road.make, command="compare")),
    "tally": (6, partial(road.make, command="tally")),
    "merge": (6, tallies.merge),
    "agreement": (5, agreement.make),
    "synthesise": (7, synthesis.make),
    "train": (5, learners.train),
    "score": (7, learners.score),
    "plan": (5, protocols.make),
    "archive": (4, archives.make),
}


def make_call(number: int, folder: Path) -> Call:
    """Call number so and so, its files written into an empty folder."""
    chance = random.Random(number)
    shares = [share for share, _ in KINDS.values()]
    make = chance.choices([maker for _, maker in KINDS.values()], shares)[0]
    return make(chance, folder)
