"""Matrix factorisation methods."""
