"""Small dense networks on a CPU, run by run, with passes written out by hand; :mod:`chain` is the way in."""
