"""What an archive says: summaries over seeds, significance, ranks, costs, and where learners fail.

Everything here reads plain rows, one per run, as :meth:`pulens.benchmark.archive.Archive.results` gives them: a
dictionary with ``learner``, ``dataset``, ``seed``, the labelling condition and the test metrics.
"""

__all__: list[str] = []  # its files are the doors
