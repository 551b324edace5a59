"""What an archive says: summaries over seeds, significance, ranks, costs, and where methods fail.

Everything here reads plain rows, one per run, as :meth:`pulens.benchmark.archive.Archive.results` gives them: a
dictionary with ``method``, ``dataset``, ``seed``, the labelling condition and the test metrics.
"""

__all__: list[str] = []  # its files are the doors
