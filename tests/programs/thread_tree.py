"""Threads that start threads that start threads; children outlive their parents.

Varies: the order of arrivals, the default names (numbered by order of creation).
"""

import threading

arrivals = []
names = {}
threads = []


def grow(path):
    arrivals.append(path)
    names[path] = threading.current_thread().name
    if len(path) < 4:
        for branch in "abc"[: 4 - len(path)]:
            child = threading.Thread(target=grow, args=(path + branch,))
            threads.append(child)
            child.start()


root = threading.Thread(target=grow, args=("r",))
threads.append(root)
root.start()
for thread in threads:
    thread.join()

print("arrivals", arrivals)
for path in sorted(names):
    print(path, names[path])
