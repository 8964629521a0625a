"""Graph and spectral methods."""
