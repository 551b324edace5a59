"""Fitted learners on disk: a folder of JSON and weights, arrays or models. Nothing is ever unpickled."""
