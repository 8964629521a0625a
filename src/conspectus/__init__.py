"""Clustering of samples described by several views, none of which has seen every sample.

Every public name is imported when it is first used, so that ``import conspectus`` costs little more than NumPy.
"""

__version__ = "0.1.0.dev0"
