"""Two or more scores on the same rows: which model is better, how sure is that, and does the class prior matter."""

from pulens.comparison.answer import Comparison
from pulens.comparison.order import Crossing, Order
from pulens.comparison.paired import Difference
from pulens.comparison.procedure import compare
from pulens.comparison.worth import Crossover, Worth

__all__ = ["Comparison", "Crossing", "Crossover", "Difference", "Order", "Worth", "compare"]
