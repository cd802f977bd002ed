"""Record a threaded Python program's execution and replay it exactly."""

__version__ = "0.1.0"
