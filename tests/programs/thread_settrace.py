"""threading.settrace: a Python trace function sees calls, lines and returns in all new threads.

Varies: the order of events of different threads.
"""

import threading
from zlib import crc32

events = []


def trace(frame, event, argument):
    if frame.f_code.co_filename != __file__:
        return None
    name = threading.current_thread().name
    events.append((name, event, frame.f_code.co_name, frame.f_lineno))
    return trace


def double(number):
    result = number * 2
    return result


def work(count):
    total = 0
    for number in range(count):
        total += double(number)
    return total


threading.settrace(trace)
threads = [threading.Thread(target=work, args=(8,), name=f"t{n}") for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
threading.settrace(None)
after = threading.Thread(target=work, args=(8,), name="untraced")
after.start()
after.join()

print("events", len(events), crc32(repr([event[:3] for event in events]).encode()))
for n in range(4):
    mine = [event[1] for event in events if event[0] == f"t{n}"]
    print(f"t{n}", {kind: mine.count(kind) for kind in ("call", "line", "return")})
turns = [event[0] for i, event in enumerate(events) if i == 0 or events[i - 1][0] != event[0]]
print("turns", len(turns), turns[:20])
print("gettrace", threading.gettrace())
