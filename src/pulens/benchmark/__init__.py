"""Comparing learners: data sets and protocols."""
