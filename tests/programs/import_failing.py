"""A module whose import fails the first two times, imported by several threads.

Varies: who met the failure, who got the module.
"""

import threading

log = []


def work(name):
    for attempt in range(3):
        try:
            import pkg.failing
        except RuntimeError as error:
            log.append((name, attempt, str(error)))
        else:
            log.append((name, attempt, "loaded at try", pkg.failing.attempt))


threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

import pkg.order  # noqa: E402

for entry in log:
    print(*entry)
print("bodies", pkg.order.bodies)
