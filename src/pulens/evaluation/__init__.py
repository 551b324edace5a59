"""The doors: one file for each word that users type, named by it. A door builds the evidence and gives the answer.

They are a room of their own because a module ``pulens.evaluate`` would stand in front of the function of that name.
"""

__all__: list[str] = []
