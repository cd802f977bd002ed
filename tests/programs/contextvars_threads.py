"""contextvars: each thread has its own context; a copied context carries values over.

Varies: the order in the shared log, and the values of a context that two threads take in turn.
"""

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

user = contextvars.ContextVar("user", default="nobody")
depth = contextvars.ContextVar("depth", default=0)
log = []


def nested(name, levels):
    token = depth.set(depth.get() + 1)
    log.append((name, user.get(), depth.get()))
    if levels:
        nested(name, levels - 1)
    depth.reset(token)


def work(name):
    log.append((name, "starts with", user.get()))
    user.set(name)
    nested(name, 3)


def visit(name):
    before = user.get()
    user.set(f"{before}+{name}")
    return before


user.set("main")
shared = contextvars.copy_context()
turn = threading.Lock()


def visit_shared(name):
    for _ in range(3):
        with turn:
            log.append((name, "found", shared.run(visit, name)))


threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
threads += [threading.Thread(target=visit_shared, args=(name,)) for name in "xy"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with ThreadPoolExecutor(2) as pool:
    context = contextvars.copy_context()
    own = pool.submit(user.get).result()
    log.append(("pool", own, pool.submit(context.run, user.get).result()))

for entry in log:
    print(*entry)
print("main", user.get(), depth.get(), "shared", shared[user])
