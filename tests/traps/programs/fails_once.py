"""Something outside decides whether the program fails: a file that its first run leaves."""

import os
import threading


def leave() -> None:
    with open("left", "w"):
        pass


was_here = os.path.exists("left")
thread = threading.Thread(target=leave)
thread.start()
thread.join()
assert was_here
