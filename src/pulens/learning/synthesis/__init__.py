"""From labelled data to PU data with a known truth."""

from pulens.learning.synthesis.door import binarise, synthesise
from pulens.learning.synthesis.pu_data import PUData, Rows, Synthesis, Truth

__all__ = ["PUData", "Rows", "Synthesis", "Truth", "binarise", "synthesise"]
