"""Data sets: loaders and generators."""
