"""QueueHandler and QueueListener: a thread of logging's own writes the records.

Varies: the order of the records, and how many were written when the workers had ended.
"""

import logging
import logging.handlers
import queue
import sys
import threading

written = []


class Keeper(logging.StreamHandler):
    def emit(self, record):
        super().emit(record)
        written.append(record.threadName)


records = queue.Queue()
keeper = Keeper(sys.stdout)
keeper.setFormatter(logging.Formatter("%(threadName)s: %(message)s"))
listener = logging.handlers.QueueListener(records, keeper)
logger = logging.getLogger("queued")
logger.setLevel(logging.INFO)
logger.propagate = False
logger.addHandler(logging.handlers.QueueHandler(records))


def work():
    for step in range(12):
        logger.info("step %d of %s", step, threading.current_thread().name)


listener.start()
threads = [threading.Thread(target=work, name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
early = len(written)
listener.stop()
print("written early", early, "in all", len(written))
print("order", "".join(written))
