"""logging from many threads to one StreamHandler on stdout, with thread names and a filter.

Varies: the order of the lines, the numbers given by the unlocked filter.
"""

import logging
import sys
import threading

numbers = [0]


def next_number(record):
    value = numbers[0]
    record.number = value
    numbers[0] = plus_one(value)
    return True


def plus_one(value):
    return value + 1


handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(logging.Formatter("%(number)d %(threadName)s %(levelname)s %(message)s"))
root = logging.getLogger()
root.setLevel(logging.INFO)
root.addHandler(handler)


def work(name):
    logger = logging.getLogger(f"work.{name}")
    logger.addFilter(next_number)
    for step in range(12):
        logger.info("step %d", step)
        logger.debug("not shown %d", step)
    try:
        {}[name]
    except KeyError:
        logger.error("failed", exc_info=False)


threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcde"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("numbers", numbers[0])
