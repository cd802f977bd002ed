"""A thread keeps its result in itself, and it is read too early."""

import threading


class Worker(threading.Thread):
    def __init__(self):
        super().__init__()
        self.result = None

    def run(self):
        self.result = 42  # at: write


worker = Worker()
worker.start()
assert worker.result in (None, 42)  # at: read
worker.join()
