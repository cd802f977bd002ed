"""Two connections to one database in memory: who waits for whom, and who is told that it is locked.

Varies: which thread is refused, and how often.
"""

import sqlite3
import threading

PLACE = "file:locked?mode=memory&cache=shared"

keeper = sqlite3.connect(PLACE, uri=True, isolation_level=None)
keeper.execute("CREATE TABLE t (thread INT, turn INT)")
log = []


def work(number):
    connection = sqlite3.connect(PLACE, uri=True, timeout=0.001, isolation_level=None)
    for turn in range(4):
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO t VALUES (?, ?)", (number, turn))
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            log.append((number, turn, str(error)))
            if connection.in_transaction:
                connection.rollback()
    connection.close()


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print(keeper.execute("SELECT * FROM t").fetchall())
print(sorted(log))
try:
    keeper.execute("SELECT missing FROM t")
except sqlite3.OperationalError as error:
    print(error, error.sqlite_errorcode)
