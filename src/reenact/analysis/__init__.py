"""What the raw findings of a run mean: typed, and in words that people use."""
