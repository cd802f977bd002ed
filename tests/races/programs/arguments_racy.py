"""Two threads get one list as their argument, and write the same items."""

import threading


def work(numbers):
    for index in (0, 1):
        numbers[index] = 0  # at: write


numbers = [1, 2]
threads = [threading.Thread(target=work, args=(numbers,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
