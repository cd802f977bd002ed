"""Nothing: what is left is the time to start and to end."""

pass
