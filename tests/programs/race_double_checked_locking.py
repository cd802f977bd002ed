"""Double-checked locking done wrong: the object is published before it is complete.

Varies: who made it, how many threads saw it unfinished.
"""

import threading


class Config:
    def __init__(self):
        self.options = {}
        self.ready = False

    def load(self):
        for number in range(20):
            self.options[number] = square(number)
        self.ready = True


def square(number):
    return number * number


lock = threading.Lock()
configs = [None] * 10
made_by = {}
unfinished = []


def get(index, name):
    if configs[index] is None:
        with lock:
            if configs[index] is None:
                configs[index] = Config()
                made_by[index] = name
                configs[index].load()
    return configs[index]


def work(name):
    for index in range(len(configs)):
        config = get(index, name)
        if not config.ready:
            unfinished.append((name, index, len(config.options)))


threads = [threading.Thread(target=work, args=(name,)) for name in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("made by", made_by)
print("unfinished", unfinished)
