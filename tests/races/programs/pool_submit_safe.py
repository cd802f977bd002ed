"""What is written before a task is submitted, the task sees, whichever thread does it."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box


def work(box):
    box.value += 1


with ThreadPoolExecutor(2) as pool:
    for number in range(6):
        box = Box()
        box.value = number
        pool.submit(work, box)
