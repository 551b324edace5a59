"""The table of many segments at once: the numbers of :mod:`pulens.doors.segments`, found by arrays over segments.

Every file here has a witness in the ordinary road, which evaluates one segment after another: the same formulas, in the
same order, on arrays with a row per segment. What is not covered (:mod:`.road` says what) is left to that road,
segment by segment.
"""

__all__: list[str] = []  # what is public here is named by its module
