"""The one place that states the version in code; pyproject.toml repeats it, and a test compares."""

VERSION = "0.1.0"
