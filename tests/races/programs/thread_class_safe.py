"""A thread keeps its result in itself, and it is read when it has been joined."""

import threading


class Worker(threading.Thread):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.result = None

    def run(self):
        self.result = self.number * 2


workers = [Worker(number) for number in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert [worker.result for worker in workers] == [0, 2, 4, 6]
