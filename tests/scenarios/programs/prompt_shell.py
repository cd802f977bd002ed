"""A small shell on prompt_toolkit: history, completion, a bottom bar with the time, a thread."""

from __future__ import annotations

import hashlib
import threading
import time
from datetime import datetime

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter

notes: list[str] = []
ticks = 0
is_over = threading.Event()


def tick() -> None:
    global ticks
    while not is_over.wait(0.02):
        ticks += 1


def bar() -> str:
    return f"{datetime.now():%H:%M:%S.%f} - {ticks} ticks"


def main() -> None:
    ticker = threading.Thread(target=tick)
    ticker.start()
    session: PromptSession[str] = PromptSession(completer=WordCompleter(["note", "show", "quit"]))
    began = time.monotonic()
    while True:
        words = session.prompt("> ", bottom_toolbar=bar)
        if words == "quit":
            break
        if words == "show":
            print("; ".join(notes))
            continue
        notes.append(f"{words} at {time.monotonic() - began:.6f} after {ticks}")
    is_over.set()
    ticker.join()
    print("state", hashlib.sha256("\n".join(notes).encode()).hexdigest())


main()
