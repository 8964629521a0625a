"""Kernel and late-fusion methods."""
