"""Future.add_done_callback: called by the worker, or at once by the adder if already done.

Varies: which thread runs each callback, their order.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

calls = []


def called(label):
    def callback(future):
        is_main = threading.current_thread() is threading.main_thread()
        calls.append((label, future.result(), "main" if is_main else "worker"))

    return callback


with ThreadPoolExecutor(3) as pool:
    for number in range(20):
        future = pool.submit(pow, number, 2)
        future.add_done_callback(called("first"))
        future.add_done_callback(called("second"))

chained = Future()
chained.add_done_callback(called("chained"))
setter = threading.Thread(target=chained.set_result, args=("by hand",))
setter.start()
chained.result()
chained.add_done_callback(called("late"))
setter.join()

for call in calls:
    print(*call)
