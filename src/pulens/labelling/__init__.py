"""Which positives get a label: mechanisms that make PU data out of fully labelled data."""

from pulens.labelling.choice import Mechanism, at_random, least_representative, most_representative
from pulens.labelling.representativeness import mixture_density

__all__ = ["Mechanism", "at_random", "least_representative", "mixture_density", "most_representative"]
