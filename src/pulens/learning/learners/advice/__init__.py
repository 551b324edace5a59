"""Which learners to try, from what archived runs on similar data reached; the door is ``pulens.learners.advise``."""

__all__: list[str] = []
