"""redis: two threads get a connection each from a pool that may have one.

ConnectionPool.make_connection compares the number of connections with the limit, and counts
afterwards, without a lock. The connections here are dummies: nothing is sent.
"""

import os
import threading

import redis


class Dummy:
    def __init__(self, **_: object) -> None:
        self.pid = os.getpid()

    def connect(self) -> None:
        pass

    def disconnect(self) -> None:
        pass

    def can_read(self) -> bool:
        return False


def main() -> None:
    pool = redis.ConnectionPool(connection_class=Dummy, max_connections=1)
    outcomes: list[str] = []

    def take() -> None:
        try:
            pool.get_connection("GET")
            outcomes.append("granted")
        except redis.ConnectionError:
            outcomes.append("refused")

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["granted", "refused"], outcomes


if __name__ == "__main__":
    main()
