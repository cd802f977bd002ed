"""Instrumentation: source goes in, code that ticks comes out, by way of a cache."""
