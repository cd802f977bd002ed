"""Two schedulers run jobs at the same time of day, and lose one."""

import sched
import threading

value = 0


def work() -> None:
    global value
    seen = value
    value = seen + 1


def run() -> None:
    jobs = sched.scheduler()
    jobs.enter(0.01, 1, work)
    jobs.run()


threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert value == 2
