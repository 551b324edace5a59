"""What to do with scores: costs, capacity and floors make a threshold (the door is ``pulens.decide``)."""

from pulens.decisions.actions import Actions
from pulens.decisions.capacity import Capacity, chance_above
from pulens.decisions.costs import Costs

__all__ = ["Actions", "Capacity", "Costs", "chance_above"]
