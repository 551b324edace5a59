"""From a table of features to a judged model: folds, scores of unseen rows, their evaluation, the model of all rows."""

from pulens.learning.fitting.answer import JudgedModel
from pulens.learning.fitting.door import fit

__all__ = ["JudgedModel", "fit"]
