"""Closed forms: pure functions of arrays that know nothing of views."""
