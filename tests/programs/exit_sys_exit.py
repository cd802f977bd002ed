# reenact-test: exit=3
"""sys.exit(3) in main while non-daemon threads still run: they are waited for.

Varies: how much they had printed when main left.
"""

import sys
import threading

finished = []


def work(name):
    for step in range(12):
        print(name, step)
    finished.append(name)
    print("finished", finished)


for name in "abc":
    threading.Thread(target=work, args=(name,)).start()
print("main leaves", finished)
sys.exit(3)
