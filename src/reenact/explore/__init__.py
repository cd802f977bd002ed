"""Exploring: running a program again and again, each time with other choices, until it fails."""
