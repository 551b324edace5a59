"""Small dense networks on a CPU, run by run, with passes written out by hand; :mod:`chain` is the way in.

``stack/networks.py`` alone calls it. It stays for its speed: 50 runs on Spambase (``benchmarks/backward_pass.py`` at
b753d1e0) took 1.6 times the processor time with torch's own gradients, compiled or not, since batched products cannot
leave out runs that have stopped, and 1.18 times when these are picked out before every pass.
"""

__all__: list[str] = []  # what is public here is named by its module
