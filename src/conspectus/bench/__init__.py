"""Experiments: a grid of tasks, a store of rows, the tables of the papers."""
