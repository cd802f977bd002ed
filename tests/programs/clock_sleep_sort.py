"""Sleep sort: threads sleep as long as their number says, some by the same time.

Varies: the order of neighbours.
"""

import threading
import time

order = []


def work(number):
    time.sleep(number / 2000)
    order.append(number)


numbers = [9, 3, 7, 3, 1, 8, 2, 5, 5, 4, 6, 0]
threads = [threading.Thread(target=work, args=(number,)) for number in numbers]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("order", order, "sorted", order == sorted(order))
