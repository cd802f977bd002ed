"""Values in threading.local with `__del__`: Python code that runs while its thread is ending.

Varies: the order of the finalizers against the other threads' work.
"""

import threading

local = threading.local()
log = []
lock = threading.Lock()


class Resource:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        with lock:
            log.append(f"closed {self.name}")


def work(name):
    local.first = Resource(f"{name}.first")
    local.second = Resource(f"{name}.second")
    for step in range(5):
        with lock:
            log.append(f"{name} {step}")


threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

with lock:
    for line in log:
        print(line)
print("closed", sum(line.startswith("closed") for line in log))
