"""Readers and writers: many read together, one writes alone (lock made from a Condition).

Varies: versions seen by readers, how many read together.
"""

import threading
from zlib import crc32


class ReadWriteLock:
    def __init__(self):
        self.condition = threading.Condition()
        self.readers = 0
        self.writing = False

    def start_read(self):
        with self.condition:
            self.condition.wait_for(lambda: not self.writing)
            self.readers += 1
            return self.readers

    def end_read(self):
        with self.condition:
            self.readers -= 1
            self.condition.notify_all()

    def start_write(self):
        with self.condition:
            self.condition.wait_for(lambda: not self.writing and self.readers == 0)
            self.writing = True

    def end_write(self):
        with self.condition:
            self.writing = False
            self.condition.notify_all()


lock = ReadWriteLock()
page = [0, 0, 0]
seen = []
torn = 0


def read(name):
    global torn
    for _ in range(15):
        together = lock.start_read()
        copy = [value for value in page]
        torn += len(set(copy)) != 1
        seen.append((name, together, copy[0]))
        lock.end_read()


def write(name):
    for _ in range(8):
        lock.start_write()
        for index in range(len(page)):
            page[index] += 1
        seen.append((name, "wrote", page[0]))
        lock.end_write()


threads = [threading.Thread(target=read, args=(f"r{n}",)) for n in range(4)]
threads += [threading.Thread(target=write, args=(f"w{n}",)) for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("page", page, "torn", torn)
print("seen", len(seen), seen[:8], crc32(repr(seen).encode()))
