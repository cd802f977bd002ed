"""threading.local, plain and subclassed with __init__ and slots of its own, per thread.

Varies: the order in which the per-thread initialisations ran.
"""

import threading

plain = threading.local()
plain.value = "main"
initialised = []
results = {}


class Counter(threading.local):
    shared = []  # noqa: RUF012 - one list for all threads is what is tested

    def __init__(self, start):
        initialised.append(threading.current_thread().name)
        self.count = start

    def add(self):
        self.count += 1
        self.shared.append(self.count)


counter = Counter(10)


def work(steps):
    name = threading.current_thread().name
    had_value = hasattr(plain, "value")
    plain.value = name
    for _ in range(steps):
        counter.add()
    results[name] = (had_value, plain.value, counter.count)


threads = [threading.Thread(target=work, args=(10 * n,), name=f"t{n}") for n in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("initialised", initialised)
for name, result in results.items():
    print(name, *result)
print("main", plain.value, counter.count, "shared", counter.shared)
