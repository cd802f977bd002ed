"""Running a program for real, in epochs, and going back to look when something goes wrong.

`keeper.py` starts the program and keeps the copy that its epoch began with; `epoch.py` is a
traveller through the epoch; `again.py` asks whether it agrees, `report.py` says what was seen
there, and `failing.py` to whom.
"""
