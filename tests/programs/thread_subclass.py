"""Thread subclasses: run() overridden, results kept on the object, names, start/join misuse.

Varies: the order of runs; the errors of misuse do not.
"""

import threading

order = []


class Summer(threading.Thread):
    def __init__(self, numbers):
        super().__init__(name=f"summer-{len(numbers)}")
        self.numbers = numbers
        self.total = None

    def run(self):
        total = 0
        for number in self.numbers:
            total += number
        self.total = total
        order.append(self.name)


class SelfJoiner(threading.Thread):
    def run(self):
        try:
            self.join()
        except RuntimeError as error:
            order.append(str(error))


def attempt(action):
    try:
        return action()
    except (RuntimeError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"


threads = [Summer(range(size)) for size in (300, 200, 100, 50, 10)]
threads.append(SelfJoiner())
print("join before start:", attempt(threads[0].join))
for thread in threads:
    thread.start()
print("start twice:", attempt(threads[0].start))
for thread in threads:
    thread.join()

print("order", order)
print("totals", [thread.total for thread in threads[:-1]])
print("alive", [thread.is_alive() for thread in threads])
print("run by hand:", Summer(range(4)).run(), order[-1])
