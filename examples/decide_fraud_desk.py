"""The fraud desk: a miss costs 500, a false alarm 20, and fifty cases of a thousand can be looked at.

The table is drawn: 4,000 claims, one in ten a fraud, a third of the fraud confirmed. Nobody knows exactly how common
fraud is; between 8 and 12 per cent, says the auditor. Which claims should be looked at on Monday, and what does it cost
to count unconfirmed claims as honest ones?
"""

from __future__ import annotations

import numpy as np

import pulens

# %%
rng = np.random.default_rng(11)
fraud = rng.random(4000) < 0.1
scores = 1 / (1 + np.exp(-rng.normal(2.2 * fraud - 2)))
confirmed = (fraud & (rng.random(4000) < 0.35)).astype(int)
money = {"cost_miss": 500, "cost_alarm": 20}


# %% [markdown]
# Only this script knows which claims are fraud, and uses it for nothing but the true cost, to put beside the answer.


# %%
def true_cost(threshold):
    """Per 1,000 claims, with every claim's class known."""
    flagged = scores >= threshold
    return 1000 * (500 * np.mean(fraud & ~flagged) + 20 * np.mean(flagged & ~fraud))


# %% [markdown]
# ## Which claims on Monday?
# Costs, a capacity of fifty in a thousand, and a class prior that is only known to within a range.

# %%
monday = pulens.decide(confirmed, scores, class_prior=(0.08, 0.12), **money, capacity=50, volume=1000, redraws=400)
print(monday)
print(f"\ntrue cost per 1,000 claims: {true_cost(monday.threshold):,.0f}")
print(f"in the warehouse: {monday.where('fraud_score')}")

# %% [markdown]
# ## What does it cost to count unconfirmed claims as honest?

# %%
free = pulens.decide(confirmed, scores, class_prior=0.1, **money, confidence=None)
naive = pulens.decide(confirmed, scores, class_prior=float(confirmed.mean()), **money, confidence=None)
print(
    f"\nwithout the limit: {free.threshold:.3f} truly costs {true_cost(free.threshold):,.0f}; counting unconfirmed "
    f"claims as honest gives {naive.threshold:.3f}, which costs {true_cost(naive.threshold):,.0f}"
)

# %% [markdown]
# ## If nobody agrees on the costs
# Net benefit at every ratio of the two costs: where the band lies above both other lines, using the model is surely
# better than looking at every claim or at none.

# %%
evaluation = pulens.evaluate(
    confirmed, scores, class_prior=(0.08, 0.12), threshold=monday.threshold, redraws=400, labelling="random"
)
evaluation.decision_curve().plot()

# %%
assert monday.cost.interval.low <= true_cost(monday.threshold) <= monday.cost.interval.high
assert true_cost(free.threshold) < true_cost(naive.threshold)
