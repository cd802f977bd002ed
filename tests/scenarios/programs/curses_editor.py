"""A curses program: an editor of one page, with a clock in its corner and a time limit on keys."""

from __future__ import annotations

import curses
import hashlib
import time

lines = [""]
pauses = 0


def edit(screen: curses.window) -> None:
    global pauses
    curses.curs_set(0)
    screen.timeout(50)
    while True:
        show(screen)
        key = screen.getch()
        if key == -1:
            pauses += 1
        elif key == 24:  # Ctrl-X
            return
        elif key in (10, 13):
            lines.append("")
        elif key in (curses.KEY_BACKSPACE, 127):
            lines[-1] = lines[-1][:-1]
        else:
            lines[-1] += chr(key)


def show(screen: curses.window) -> None:
    height, width = screen.getmaxyx()
    screen.erase()
    for row, line in enumerate(lines[-height + 1 :]):
        screen.addstr(row, 0, line[: width - 1])
    screen.addstr(height - 1, 0, f"{time.time():.3f} {pauses} pauses"[: width - 1])
    screen.refresh()


curses.wrapper(edit)
print(f"{len(lines)} lines, {pauses} pauses")
print("state", hashlib.sha256("\n".join(lines).encode()).hexdigest())
