"""Blocks of the raw domain in several threads at once, without the GIL."""

import threading

import misbehaving

threads = [threading.Thread(target=misbehaving.churn_raw, args=(20_000,)) for _ in range(4)]
for thread in threads:
    thread.start()
texts = [str(number) * 3 for number in range(20_000)]
for thread in threads:
    thread.join()
