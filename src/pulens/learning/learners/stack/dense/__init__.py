"""Small dense networks on a CPU, run by run, with passes written out by hand; :mod:`chain` is the way in.

``stack/networks.py`` alone calls it. It stays for its speed: the 50 Spambase runs of ``benchmarks/backward_pass.py``
took 1.6 times the processor time with torch's own gradients, compiled or not, since batched products cannot leave out
runs that have stopped, and 1.18 times when these are picked out before every pass.
"""

__all__: list[str] = []  # what is public here is named by its module
