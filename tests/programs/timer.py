"""threading.Timer: several with the same delay, one cancelled early, one about when it fires.

Varies: the order in which they ran, whether the late cancel came in time.
"""

import threading
import time

fired = []


def fire(name, extra="none"):
    fired.append((name, extra))


timers = [threading.Timer(0.003, fire, args=(f"same {n}",)) for n in range(4)]
timers.append(threading.Timer(0.001, fire, args=("first",), kwargs={"extra": "keyword"}))
timers.append(threading.Timer(5, fire, args=("cancelled early",)))
timers.append(threading.Timer(0.002, fire, args=("cancelled late",)))
for timer in timers:
    timer.start()
timers[-2].cancel()
time.sleep(0.002)
timers[-1].cancel()
for timer in timers:
    timer.join()

for entry in fired:
    print(*entry)
print("late one fired", ("cancelled late", "none") in fired)
print("finished", [timer.finished.is_set() for timer in timers])
