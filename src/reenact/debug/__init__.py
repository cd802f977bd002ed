"""Travelling through a recording: backwards, forwards, and to whoever wrote a value last.

`traveller.py` is what people's front-ends use. It keeps copies of the replayed process at some of
its steps (`checkpoints.py`, `process.py`); what is asked of the program is answered inside a copy
(`agent.py`), which is thrown away.
"""
