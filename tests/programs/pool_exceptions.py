# reenact-test: layout=yes
"""Exceptions in futures: result(), exception(), map() that stops at the first.

Varies: the order of failures, how many tasks ran of the failing map.
"""

from concurrent.futures import ThreadPoolExecutor, as_completed

ran = []


def task(number):
    ran.append(number)
    if number % 5 == 0:
        raise ZeroDivisionError(f"task {number}")
    if number % 7 == 0:
        raise KeyError(number)
    return number


with ThreadPoolExecutor(4) as pool:
    futures = {pool.submit(task, number): number for number in range(1, 25)}
    for future in as_completed(futures):
        error = future.exception()
        print(futures[future], repr(error) if error else future.result())

    seen = []
    try:
        for result in pool.map(task, range(31, 60)):
            seen.append(result)
    except (ZeroDivisionError, KeyError) as error:
        print("map gave", seen, "then", repr(error))

    try:
        pool.submit(task, 5).result()
    except ZeroDivisionError as error:
        frames = []
        traceback = error.__traceback__
        while traceback:
            frames.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        print("raised through", frames)
print("ran", ran)
