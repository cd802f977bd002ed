"""Threads print to stderr and to stdout in turn.

Varies: the order of lines in both.
"""

import sys
import threading


def work(name):
    for step in range(30):
        print(f"{name} {step}", file=sys.stderr)
        print(f"{name} {step}", file=sys.stdout)


threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done", file=sys.stderr)
