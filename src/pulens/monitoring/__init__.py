"""Tallies over time: more positives or not, since when, and whether the scores themselves moved.

Read in this order: ``cells`` (a window becomes counts), ``weights`` and ``shift`` (d), ``rates`` (metrics), ``fit`` (is
it only more positives?), ``noise`` and ``evidence_lines`` (alarms for life), ``monitor`` (what is fixed), ``judging``,
``numbers``, ``labelling`` and ``bands`` (what else moved), ``answer``, ``lives``, ``state``, ``door``. The room is not
called ``watch`` because it would stand in front of the function :func:`pulens.watch`.
"""

from pulens.monitoring.answer import Alarm, Change, Pulse, TimeLine, WatchLife
from pulens.monitoring.bands import ScoreBand
from pulens.monitoring.door import watch
from pulens.monitoring.labelling import LabelChange
from pulens.monitoring.numbers import WatchedWindow

__all__ = ["Alarm", "Change", "LabelChange", "Pulse", "ScoreBand", "TimeLine", "WatchLife", "WatchedWindow", "watch"]
