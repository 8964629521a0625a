"""Methods that describe samples by their nearest anchors."""
