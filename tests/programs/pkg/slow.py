"""A module whose body takes long, so that several threads want it meanwhile."""

import threading
import time

from pkg import order

order.note("slow")
time.sleep(0.003)
value = 0
for number in range(200):
    value += number
made_by = threading.current_thread().name
