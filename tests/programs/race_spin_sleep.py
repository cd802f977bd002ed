"""Spin-wait that yields with time.sleep(0) and short sleeps.

Varies: the number of polls before each flag was seen.
"""

import threading
import time

ready = {}
polls = []


def wait_for(name, seconds):
    count = 0
    while name not in ready:
        count += 1
        time.sleep(seconds)
    polls.append((name, seconds, count))


def set_flags():
    for name in "abc":
        time.sleep(0.002)
        ready[name] = True


threads = [threading.Thread(target=wait_for, args=(name, 0)) for name in "abc"]
threads += [threading.Thread(target=wait_for, args=(name, 0.0005)) for name in "abc"]
threads.append(threading.Thread(target=set_flags))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for name, seconds, count in polls:
    print(name, "sleep", seconds, "polls", count)
