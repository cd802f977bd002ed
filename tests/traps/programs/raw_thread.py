"""Threads without an object of `threading`, one of which fails."""

import _thread

value = 0
done = [_thread.allocate_lock() for _ in range(2)]


def work(lock: _thread.LockType) -> None:
    global value
    try:
        seen = value
        value = seen + 1
        if lock is done[1]:
            done[0].acquire()
            if value != 2:
                raise ValueError("one is lost")
    finally:
        lock.release()


for lock in done:
    lock.acquire()
    _thread.start_new_thread(work, (lock,))
done[1].acquire()
