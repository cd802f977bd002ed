"""Travelling through a recording: backwards, forwards, and to whoever wrote a value last.

`traveller.py` is what people's front-ends use, in the words of `places.py`. It finds writes and
failures (`finding.py`) in processes that are brought to places (`reaching.py`), from copies of the
replayed process that are kept at some of its steps (`checkpoints.py`, `process.py`). What is asked
of the program is answered inside a copy (`agent.py`), which is thrown away.
"""
