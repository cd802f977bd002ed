"""atexit handlers with threads: handlers join one, print what others did, and start one.

Varies: what was done by then. Starting a thread so late is an error since 3.12.
"""

import atexit
import threading

log = []
go = threading.Event()


def work(name):
    for step in range(10):
        log.append((name, step))


def wait_and_work(name):
    go.wait()
    work(name)


def show(label):
    print(label, len(log), log[-1] if log else None)


def start_late():
    try:
        late = threading.Thread(target=work, args=("late",))
        late.start()
        late.join()
        show("late thread ran")
    except RuntimeError as error:
        print("RuntimeError:", error)


def finish(thread):
    go.set()
    thread.join()
    show("joined")


daemon = threading.Thread(target=wait_and_work, args=("daemon",), daemon=True)
atexit.register(show, "last handler")
atexit.register(start_late)
atexit.register(finish, daemon)
atexit.register(show, "first handler")
for thread in [daemon] + [threading.Thread(target=work, args=(name,)) for name in "abc"]:
    thread.start()
show("main ends")
