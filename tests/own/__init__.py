"""A method of one's own, as the guide in docs/own_method.md shows it."""
