"""Threads that share a database in memory: a race in SQL, and transactions that are refused.

Varies: the balance, who found a key taken, random numbers from SQL.
"""

import sqlite3
import threading

connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
connection.executescript(
    "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INT);"
    "CREATE TABLE event (name TEXT UNIQUE, thread INT, chance INT);"
    "INSERT INTO account VALUES (1, 0);"
)
log = []


def pay(amount):
    (balance,) = connection.execute("SELECT balance FROM account").fetchone()
    connection.execute("UPDATE account SET balance = ? WHERE id = 1", (balance + amount,))


def work(number):
    for turn in range(5):
        pay(number + 1)
        try:
            connection.execute("INSERT INTO event VALUES (?, ?, random())", (f"turn {turn}", number))
        except sqlite3.IntegrityError as error:
            log.append((number, turn, str(error), error.sqlite_errorname))


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("balance", connection.execute("SELECT balance FROM account").fetchone()[0])
for row in connection.execute("SELECT * FROM event ORDER BY name"):
    print(*row)
for entry in log:
    print(*entry)
connection.close()
