"""The sleeping barber: customers who find no chair go away.

Varies: who is served and who is turned away, and when.
"""

import threading

CHAIRS = 3
CUSTOMERS = 24

chairs = threading.Lock()
customers = threading.Semaphore(0)
waiting = []
log = []
served = {}


def barber():
    while True:
        customers.acquire()
        with chairs:
            customer = waiting.pop(0)
        if customer is None:
            return
        log.append(f"cut {customer}")
        served[customer].set()


def visit(name):
    with chairs:
        if len(waiting) >= CHAIRS:
            log.append(f"away {name}")
            return
        waiting.append(name)
    customers.release()
    served[name].wait()
    log.append(f"home {name}")


for name in range(CUSTOMERS):
    served[name] = threading.Event()
shop = threading.Thread(target=barber)
visitors = [threading.Thread(target=visit, args=(name,)) for name in range(CUSTOMERS)]
shop.start()
for visitor in visitors:
    visitor.start()
for visitor in visitors:
    visitor.join()
with chairs:
    waiting.append(None)
customers.release()
shop.join()

for line in log:
    print(line)
print("turned away", sum(line.startswith("away") for line in log))
