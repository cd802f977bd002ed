# reenact-test: layout=yes
"""concurrent.futures.wait: FIRST_COMPLETED in a loop, FIRST_EXCEPTION, and a timeout.

Varies: which futures were done at each return.
"""

import time
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, ThreadPoolExecutor, wait


def task(number):
    time.sleep((number % 3) / 1000)
    if number == 77:
        raise LookupError(number)
    return number


with ThreadPoolExecutor(4) as pool:
    pending = {pool.submit(task, number) for number in range(10)}
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        print("done", sorted(future.result() for future in done), "pending", len(pending))

    mixed = [pool.submit(task, number) for number in (2, 1, 77, 2, 2, 1)]
    done, pending = wait(mixed, return_when=FIRST_EXCEPTION)
    print("by exception", [future in done for future in mixed])

    late = [pool.submit(task, number) for number in (0, 1, 2, 2, 2, 2, 2)]
    done, pending = wait(late, timeout=0.002)
    print("in time", [future in done for future in late])
