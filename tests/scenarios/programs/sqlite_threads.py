"""Threads that write one SQLite file, each with a connection of its own, and wait for each other.

The file may be there already, with a table of prices.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import threading

WORKERS = 4
path = sys.argv[1]
busy = 0


def connect() -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=30, isolation_level=None)


def work(number: int) -> None:
    global busy
    connection = connect()
    for turn in range(15):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            busy += 1
            continue
        (highest,) = connection.execute("SELECT max(n) FROM event").fetchone()
        words = (highest + 1 if highest else 1, number, turn)
        connection.execute("INSERT INTO event VALUES (?, ?, ?, hex(randomblob(4)))", words)
        connection.execute("COMMIT")
    connection.close()


def main() -> None:
    there = os.path.exists(path)
    connection = connect()
    connection.create_function("price", 1, lambda n: n * 3)
    if not there:
        connection.execute("CREATE TABLE price (item TEXT, cents INT)")
        connection.executemany("INSERT INTO price VALUES (?, ?)", [("tea", 250), ("jam", 320)])
    connection.execute("CREATE TABLE event (n INT, worker INT, turn INT, word TEXT)")
    workers = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    prices = connection.execute("SELECT item, cents, price(cents) FROM price").fetchall()
    rows = connection.execute("SELECT * FROM event ORDER BY n").fetchall()
    print(f"prices {prices}, {len(rows)} events, {busy} times busy")
    print("state", hashlib.sha256(repr([prices, rows]).encode()).hexdigest())


main()
