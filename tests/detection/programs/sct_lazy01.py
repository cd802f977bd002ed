"""Order taken for granted: the check is believed to run before both additions, as it was started
before them.

From: lazy01_bad, SCTBench (CS).
Needs: both additions happen before the check.
"""

import threading


class Total:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.checked = threading.Event()
        self.value = 0
        self.at_check = -1

    def add(self, amount: int) -> None:
        with self.lock:
            self.value += amount

    def check(self) -> None:
        with self.lock:
            self.at_check = self.value
        self.checked.set()

    def add_after_check(self, amount: int) -> None:
        self.checked.wait()
        self.add(amount)


def buggy() -> None:
    total = Total()
    threads = [
        threading.Thread(target=total.check),
        threading.Thread(target=total.add, args=(1,)),
        threading.Thread(target=total.add, args=(2,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.at_check < 3


def safe() -> None:
    total = Total()
    threads = [
        threading.Thread(target=total.check),
        threading.Thread(target=total.add_after_check, args=(1,)),
        threading.Thread(target=total.add_after_check, args=(2,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.at_check < 3
