"""What an archive says, for people: as text, as one page, as tables to take away."""

from pulens.benchmark.analyse.conditions import Condition, conditions_of
from pulens.benchmark.leaderboard.board import Board, board
from pulens.benchmark.leaderboard.text import report_text

__all__ = ["Board", "Condition", "board", "conditions_of", "report_text"]
