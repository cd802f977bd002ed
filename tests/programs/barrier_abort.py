"""Barrier aborted by one thread while others wait, and one whose action raises.

Varies: how many got through before, who met BrokenBarrierError and in which order.
"""

import threading

barrier = threading.Barrier(3)
log = []


def work(name):
    for lap in range(6):
        try:
            index = barrier.wait()
        except threading.BrokenBarrierError:
            log.append((name, lap, "broken"))
            return
        log.append((name, lap, index))


def abort():
    while len(log) < 6:
        pass
    barrier.abort()
    log.append(("abort", barrier.broken))


def run(targets):
    threads = [threading.Thread(target=target, args=args) for target, args in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


run([(work, (name,)) for name in "abc"] + [(abort, ())])
for entry in log:
    print(*entry)

attempts = []


def fail():
    raise ValueError("action failed")


failing = threading.Barrier(3, action=fail)


def meet(name):
    try:
        attempts.append((name, failing.wait()))
    except (ValueError, threading.BrokenBarrierError) as error:
        attempts.append((name, type(error).__name__, str(error)))


run([(meet, (name,)) for name in "xyz"])
for attempt in attempts:
    print(*attempt)
print("broken", barrier.broken, failing.broken)
