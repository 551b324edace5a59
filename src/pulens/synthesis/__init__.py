"""From labelled data to PU data with a known truth."""

from pulens.synthesis.door import binarise, synthesise
from pulens.synthesis.pu_data import PUData, Rows, Synthesis, Truth

__all__ = ["PUData", "Rows", "Synthesis", "Truth", "binarise", "synthesise"]
