"""What sqlite3 calls of the program's: functions, aggregates, collations, converters, factories.

Varies: the order in which two threads' calls come, and what they count.
"""

import sqlite3
import threading

calls = []
count = 0


def successor(value):
    return value + 1


def noted(value):
    global count
    seen = count
    calls.append((threading.current_thread().name, value))
    count = successor(seen)
    return value * 2


def failing(value):
    raise ValueError(value)


def backwards(left, right):
    return (left < right) - (left > right)


class Longest:
    def __init__(self):
        self.words = []

    def step(self, word):
        self.words.append(word)

    def finalize(self):
        return max(self.words, key=len)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __conform__(self, protocol):
        return f"{self.x};{self.y}"

    def __str__(self):
        return f"Point({self.x}, {self.y})"


class Loud(sqlite3.Cursor):
    def execute(self, *args):
        calls.append(("loud", args[0]))
        return super().execute(*args)


sqlite3.register_converter("point", lambda text: Point(*map(int, text.split(b";"))))


def work(name):
    connection = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
    connection.create_function("noted", 1, noted)
    connection.create_function("failing", 1, failing)
    connection.create_aggregate("longest", 1, Longest)
    connection.create_collation("backwards", backwards)
    connection.execute("CREATE TABLE t (n INT, word TEXT, place point)")
    words = ["a", "bbb", "cc", "dddd"]
    rows = ((n, word, Point(n, -n)) for n, word in enumerate(words))
    with connection:
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    lines = []
    lines.append(connection.execute("SELECT noted(n) FROM t").fetchall())
    lines.append(connection.execute("SELECT longest(word) FROM t GROUP BY n % 2").fetchall())
    lines.append(list(connection.execute("SELECT word FROM t ORDER BY word COLLATE backwards")))
    lines.append([str(place) for (place,) in connection.execute("SELECT place FROM t")])
    try:
        connection.execute("SELECT failing(n) FROM t").fetchall()
    except sqlite3.OperationalError as error:
        lines.append(str(error))
    connection.row_factory = sqlite3.Row
    row = connection.execute("SELECT n, word AS Title FROM t").fetchone()
    lines.append((row["title"], row[0], row.keys(), tuple(row), len(row)))
    connection.row_factory = lambda cursor, row: dict(zip([d[0] for d in cursor.description], row))
    lines.append(connection.cursor(Loud).execute("SELECT n FROM t WHERE n > 1").fetchmany(2))
    connection.text_factory = lambda text: text.decode().upper()
    lines.append(connection.execute("SELECT word FROM t WHERE n = 3").fetchone())
    connection.close()
    results[name] = lines


results = {}
threads = [threading.Thread(target=work, args=(name,), name=name) for name in ("one", "two")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for name in sorted(results):
    for line in results[name]:
        print(name, line)
print(calls)
print("count", count)
