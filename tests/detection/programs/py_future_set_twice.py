"""Future set twice: a result and a failure both find it not done yet.

From: first answer wins, with concurrent.futures.Future.
Needs: both threads ask before either sets. InvalidStateError.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future


class Answer:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.future: Future[str] = Future()

    def give(self, text: str) -> None:
        if not self.future.done():
            self.future.set_result(text)

    def give_locked(self, text: str) -> None:
        with self.lock:
            self.give(text)


def run(answer: Answer, give: Callable[[str], None]) -> None:
    threads = [threading.Thread(target=give, args=(text,)) for text in ("fast", "slow")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answer.future.result() in ("fast", "slow")


def buggy() -> None:
    answer = Answer()
    run(answer, answer.give)


def safe() -> None:
    answer = Answer()
    run(answer, answer.give_locked)
