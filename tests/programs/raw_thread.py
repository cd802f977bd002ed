"""`_thread` used directly: start_new_thread, allocate_lock, a lock released by another, exit.

Varies: the order of the threads' work.
"""

import _thread

COUNT = 6

order = []
order_lock = _thread.allocate_lock()
finished = [_thread.allocate_lock() for _ in range(COUNT)]


def work(number, *, early):
    try:
        for step in range(10):
            with order_lock:
                order.append((number, step))
            if early and step == number:
                _thread.exit()
    finally:
        finished[number].release()


for number in range(COUNT):
    finished[number].acquire()
    _thread.start_new_thread(work, (number,), {"early": number % 2 == 1})
for lock in finished:
    lock.acquire()

print("order", order)
print("per thread", [sum(who == number for who, _ in order) for number in range(COUNT)])
print("locked", [lock.locked() for lock in finished], "count is an int", type(_thread._count()))
