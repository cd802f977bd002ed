# reenact-test: boundary=pkg.outside:connect
# reenact-test: boundary=pkg.outside:Line
"""Objects of a boundary, shared by threads: their methods, attributes, iterators and buffers.

Varies: all that comes from the boundary, and the order in which threads get it.
"""

import threading

from pkg import outside
from pkg.outside import connect

log = []
line = connect("shared")
rows = line.rows(12)


class Quiet(outside.Line):
    """Derived from a class that is a boundary."""

    def __init__(self):
        super().__init__("quiet")
        self.refusals = 0

    def ask(self, question):
        try:
            return super().ask(question)
        except outside.Refused as error:
            self.refusals += 1
            return error.args


def work(number):
    buffer = bytearray(3)
    own = Quiet()
    for row in rows:
        line.fill(buffer)
        log.append((number, row, line.load, bytes(buffer), own.ask(number), own.name))
    log.append((number, "refusals", own.refusals))


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for entry in log:
    print(*entry)
with line.rows(3) as few:
    print(len(few), next(few), len(few), hasattr(few, "missing"))
print(len(few), isinstance(line, outside.Line), {line: "hashable"}[line])
