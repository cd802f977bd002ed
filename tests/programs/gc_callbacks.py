# reenact-test: layout=yes
"""gc.callbacks and explicit gc.collect from threads, with weakref callbacks on cyclic garbage.

Varies: when collections happened, in which thread, what they found.
"""

import gc
import threading
import weakref
from zlib import crc32

gc.set_threshold(100, 5, 5)
log = []
references = []


class Ring:
    pass


def make_ring(label, size):
    nodes = [Ring() for _ in range(size)]
    for place, node in enumerate(nodes):
        node.next = nodes[(place + 1) % size]
    references.append(weakref.ref(nodes[0], lambda _: log.append(("dead", label))))


def note(phase, info):
    if phase == "stop":
        name = threading.current_thread().name
        log.append((name, info["generation"], info["collected"] // 10))


def work(name):
    for number in range(25):
        make_ring(f"{name}{number}", 3)
        if number % 10 == 9:
            gc.collect(1)


gc.collect()
gc.callbacks.append(note)
threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
gc.callbacks.remove(note)
gc.collect()

dead = [label for kind, label, *rest in log if kind == "dead"]
print("dead", len(dead), dead[:20])
print("collections", [entry for entry in log if entry[0] != "dead"])
print("log", crc32(repr(log).encode()))
