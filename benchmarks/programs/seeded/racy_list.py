"""Racy: a list that one thread adds to while another one goes through it."""

import threading

entries = [0]


def add() -> None:
    """Adds are safe with each other, and not with a reader."""
    for number in range(200):
        entries.append(number)  # racy


def add_up() -> None:
    """How far it gets is a matter of luck."""
    total = 0
    for _ in range(20):
        for entry in entries.copy():  # racy
            total += entry


threads = [threading.Thread(target=add), threading.Thread(target=add_up)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("entries", len(entries))
