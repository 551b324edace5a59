"""Hostile calls of the command line, each made from a number alone: the same number gives the same call."""
