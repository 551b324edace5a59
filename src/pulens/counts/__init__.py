"""What rows become: a sample, the counts at or above each distinct score (a tally), the counts of several scores."""

from pulens.counts.sample import PUSample
from pulens.counts.tally import Tally, Totals

__all__ = ["PUSample", "Tally", "Totals"]
