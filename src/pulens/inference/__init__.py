r"""How a 95% interval is made.

A reader's guide. Every interval of the package answers one question: if the rows were drawn again, between what would
this number have to lie, so that the truth is inside 95 times of a hundred? Two things are in doubt, and they are kept
apart. The *rows* are a sample. The *class prior*, or rather the share of positives among the unlabelled rows, may be
known exactly, by an interval with a confidence, or only to lie in a range. (That labels may not be a random draw is a
third doubt, which no interval can hold: see :mod:`pulens.metrics.parts.labelling_range`.)

The room has three floors.

**Kernels** (:mod:`.kernels`) know counts and arrays, nothing of metrics or class priors, so every other room may use
them: ``resampling`` (how sure, how many redraws, which seed), ``redraws`` (counts drawn again instead of rows),
``jackknife`` (counts without each bucket of clusters), ``placements`` (DeLong's moments), ``quantiles`` (Student,
skewness, Jeffreys, percentiles, mixtures), ``exact`` (Clopper and Pearson's limits), ``bands``, ``mover`` (a sum or
difference from the intervals of its parts), ``simultaneous`` (many intervals that hold at once).

**Methods** turn rows into limits. Their contract is :class:`.method.IntervalMethod`: ``value(prior)`` is the number at
a setting of the class prior, ``ends(prior, tail)`` what the rows put around it, missed on either side with the chance
``tail``; ``ends(None, tail)`` draws the class prior along with the rows. None of them decides what a doubtful class
prior means, and none asks what the design is: :class:`.design_distribution.DesignDistribution` answers for one sample
of rows (:mod:`.sampling_distribution`) and for strata of labelling (:mod:`pulens.strata.intervals`), with clusters or
without.

=========================  =======================================================================  ====================
method                     holds for                                                                in
=========================  =======================================================================  ====================
``AreaUnderROC``           the area, where its variance has a closed form                           :mod:`.area`
``FixedThreshold``         metrics at a threshold given beforehand: plausible rates                 :mod:`.threshold`
``ChosenThreshold``        metrics at a threshold chosen on the same rows: the choice is repeated   :mod:`.threshold`
``AveragePrecision...``    average precision: redraws of the ranking, read twice                    :mod:`.percentile`
``RankingRedraws``         any other metric of the ranking, or of rows counted at a threshold       :mod:`.percentile`
``ClusterJackknife``       every metric of rows that belong together: without each bucket           :mod:`.clustered`
``Normal``                 means and coefficients with a standard error (calibration)               :mod:`.normal`
=========================  =======================================================================  ====================

Calibration's error and fractions of bins and the differences of two models are methods too, next to their numbers
(``calibration.expected_error``, ``calibration.reliability``, ``comparison.paired``). ``Clipped`` wraps any of them, so
that the limits hold the value and stay within what the number can be. What the metrics of one evidence share
(placements, plausible rates, one set of bootstrap replicates) is made once, in :mod:`.sampling_distribution`.
Areas and plausible rates have a leading axis over segments, of which one evaluation has one:
:mod:`pulens.groups.batch` hands them a hundred thousand.

**The policy** (:func:`.policy.ends_in_doubt`) is one for evaluate, calibrate and compare. :mod:`.prior_uncertainty`
says what is known of the share and proves what may be done with it: *exact*, the limits at that share; *drawn*, the
limits with the share drawn too; *range*, the hull of the limits over the range, each at the level of Imbens and Manski
(2004); and where the number has a kink in the share, the hull over its interval with half of the error for each.

A metric's path: :meth:`.intervals.EstimatesIntervals.of` takes the method that the metric's facts name
(``Metric.construction``), or else the one for what it reads, or for rows counted by cluster the one for those, clips it
(``Clipped``), and asks the policy. A new method is a class with two functions; nothing else has to know of it. Which
method kept its level, and by how much, is measured in ``benchmarks/coverage.py``: ``docs/research/recovery.md``.
"""

__all__: list[str] = []  # what is public here is named by its module
