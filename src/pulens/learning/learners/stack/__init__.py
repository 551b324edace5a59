"""Training many runs as one: what every method that trains networks is written for.

A stack is R runs of one method and one architecture; everything carries a leading axis of R, and R = 1 is the ordinary
case. The way of a row: :mod:`rows` says which rows of the one table a run has and draws batches of them by
:mod:`streams`, chance that is the same alone and in a stack; :mod:`networks` holds R networks in one vector, which
:mod:`layers` computes with and :mod:`optimiser` moves; a method's :class:`program.Program` gives the loss;
:mod:`loop` goes through its stages, on a GPU by steps that :mod:`recording` replays; :mod:`watching` keeps each run's
best epoch by a criterion of :mod:`selection` and says who goes on. :mod:`fitting` puts all this together for learners,
as :func:`pulens.learners.fit_many`, and :mod:`learner` gives them scikit-learn's manners.
"""

__all__: list[str] = []  # what is public here is named by its module
