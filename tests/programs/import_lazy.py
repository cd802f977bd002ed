"""Standard library modules imported for the first time inside threads, several by each.

Varies: the order in which modules were finished, and of sys.modules.
"""

import importlib
import sys
import threading

NAMES = ["colorsys", "graphlib", "fractions", "this_is_missing", "quopri", "plistlib", "wave"]

log = []
start = threading.Barrier(4)


def load(number):
    start.wait()
    for name in NAMES[number:] + NAMES[:number]:
        try:
            module = importlib.import_module(name)
            log.append((number, module.__name__))
        except ImportError as error:
            log.append((number, str(error)))


threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for entry in log:
    print(*entry)
print("sys.modules", [name for name in sys.modules if name in NAMES])
