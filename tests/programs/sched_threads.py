"""sched.scheduler fed by several threads while one runs it.

Varies: the order of events due at about the same time, which cancels came in time.
"""

import sched
import threading
import time

scheduler = sched.scheduler(time.monotonic, time.sleep)
ran = []
cancelled = []


def act(name, number):
    ran.append((name, number))


def feed(name):
    for number in range(5):
        scheduler.enter(0.001 * number, number % 2, act, (name, number))
    doomed = scheduler.enter(0.002, 1, act, (name, "doomed"))
    time.sleep(0.001)
    try:
        scheduler.cancel(doomed)
        cancelled.append(name)
    except ValueError:
        cancelled.append(f"{name} too late")


threads = [threading.Thread(target=feed, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
scheduler.run()
for thread in threads:
    thread.join()
scheduler.run()

for entry in ran:
    print(*entry)
print("cancelled", cancelled, "empty", scheduler.empty())
