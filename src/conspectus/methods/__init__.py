"""The methods, one file a paper."""
