"""What an archive says, for people: as text, as one page, as tables to take away."""

from pulens.research.benchmark.analyse.conditions import Condition, conditions_of
from pulens.research.benchmark.leaderboard.board import Board, board
from pulens.research.benchmark.leaderboard.text import brief_text, report_text

__all__ = ["Board", "Condition", "board", "brief_text", "conditions_of", "report_text"]
