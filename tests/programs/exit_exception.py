# reenact-test: exit=1
"""An uncaught exception in main, which depends on a race's result, with threads still running.

Varies: the message of the exception; its place among the other output.
"""

import threading

total = 0


def plus(value, amount):
    return value + amount


def work(amount):
    global total
    for _ in range(50):
        total = plus(total, amount)
    print("worker", amount, "sees", total)


threads = [threading.Thread(target=work, args=(amount,)) for amount in (1, 10, 100)]
for thread in threads:
    thread.start()
threads[0].join()
raise RuntimeError(f"total is {total}")
