"""Dates and times from every call that reads the clock without being given one.

Varies: all of it, from run to run.
"""

import datetime
import email.utils
import logging
import threading
import time

seen = []


class Stamp(datetime.datetime):
    """A subclass must get instances of itself."""


ways = {
    "now": datetime.datetime.now,
    "now utc": lambda: datetime.datetime.now(datetime.timezone.utc),
    "stamp": Stamp.now,
    "today": datetime.datetime.today,
    "date": datetime.date.today,
    "time": time.time,
    "time_ns": time.time_ns,
    "monotonic": time.monotonic_ns,
    "counter": time.perf_counter_ns,
    "process": time.process_time_ns,
    "thread": time.thread_time_ns,
    "gettime": lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
    "gettime_ns": lambda: time.clock_gettime_ns(time.CLOCK_REALTIME),
    "localtime": time.localtime,
    "gmtime": time.gmtime,
    "ctime": time.ctime,
    "asctime": time.asctime,
    "strftime": lambda: time.strftime("%d %H:%M:%S"),
    "formatted": lambda: f"{datetime.datetime.now():%H:%M:%S.%f}",
    "mail": lambda: email.utils.formatdate(usegmt=True),
    "log": lambda: logging.LogRecord("a", 10, "b", 1, "c", (), None).created,
}


def look(names):
    for name in names:
        value = ways[name]()
        seen.append((name, type(value).__name__, str(value)))


names = list(ways)
threads = [threading.Thread(target=look, args=(names[part::3],)) for part in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for line in seen:
    print(*line)
