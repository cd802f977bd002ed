"""threading.enumerate, active_count, is_alive and current_thread while threads come and go.

Varies: who is seen alive by whom.
"""

import threading
from zlib import crc32

seen = []
counts = []


def work(number):
    for _ in range(5):
        seen.append((number, [thread.name for thread in threading.enumerate()]))
        counts.append(threading.active_count())
    assert threading.current_thread().name == f"t{number}"
    assert threading.current_thread().is_alive()


threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(12)]
for thread in threads:
    thread.start()
    counts.append(sum(other.is_alive() for other in threads))
for thread in threads:
    thread.join()

print("left", [thread.name for thread in threading.enumerate()])
print("counts", counts)
print("seen", len(seen), crc32(repr(seen).encode()))
for number, names in seen[::10]:
    print(number, names)
