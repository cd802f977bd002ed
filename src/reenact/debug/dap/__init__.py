"""Travelling from an editor: the Debug Adapter Protocol over the traveller.

`server.py` is what the command line calls. `messages.py` frames messages, `adapter.py` answers
requests; what they need is in one file for each subject.
"""
