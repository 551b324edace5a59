"""Which call a number stands for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hostile import agreement, archives, audits, learners, protocols, reviews, road, synthesis, tallies, watches
from hostile.call import Call

KINDS = {  # how many of a hundred calls, and who makes them
    "evaluate": (25, partial(road.make, command="evaluate")),
    "prior": (4, partial(road.make, command="prior")),
    "calibrate": (6, partial(road.make, command="calibrate")),
    "compare": (7, partial(road.make, command="compare")),
    "decide": (7, partial(road.make, command="decide")),
    "tally": (4, partial(road.make, command="tally")),
    "merge": (4, tallies.merge),
    "agreement": (3, agreement.make),
    "reviews": (5, reviews.make),
    "audit plan": (4, audits.plan),
    "audit read": (6, audits.read),
    "audit more": (2, audits.more),
    "watch": (6, watches.make),
    "synthesise": (3, synthesis.make),
    "train": (3, learners.train),
    "fit": (2, learners.fit),
    "score": (4, learners.score),
    "plan": (3, protocols.make),
    "archive": (2, archives.make),
}


def make_call(number: int, folder: Path, kinds: Sequence[str] = ()) -> Call:
    """Call number so and so, its files written into an empty folder; of some kinds only, if they are named."""
    chance = random.Random(number)
    chosen = [KINDS[name] for name in kinds or KINDS]
    make = chance.choices([maker for _, maker in chosen], [share for share, _ in chosen])[0]
    return make(chance, folder)
