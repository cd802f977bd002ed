"""Wrong uses of locks that raise: release of a free lock, of another's RLock, bad timeouts.

Varies: which of two threads meets the error first.
"""

import threading

events = []
rlock = threading.RLock()
held = threading.Event()
done = threading.Event()


def attempt(name, action):
    try:
        events.append((name, action()))
    except (RuntimeError, ValueError, OverflowError) as error:
        events.append((name, type(error).__name__, str(error)))


def hold():
    with rlock:
        held.set()
        done.wait()


def release_other(name):
    held.wait()
    attempt(name, rlock.release)
    attempt(name, lambda: rlock.acquire(blocking=False))


def release_shared(name, lock):
    attempt(name, lock.release)


shared = threading.Lock()
shared.acquire()
threads = [threading.Thread(target=release_shared, args=(name, shared)) for name in "ab"]
threads += [threading.Thread(target=release_other, args=(name,)) for name in "cd"]
holder = threading.Thread(target=hold)
holder.start()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
done.set()
holder.join()

attempt("main", threading.Lock().release)
attempt("main", lambda: threading.Lock().acquire(timeout=-2))
attempt("main", lambda: threading.Lock().acquire(False, 1))
attempt("main", threading.Condition().notify)
for event in events:
    print(*event)
