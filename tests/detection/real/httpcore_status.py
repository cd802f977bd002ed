"""httpcore: a request is in the pool's list before the pool's lock is taken for it.

Another thread whose response ends just then gives that request a connection; the request itself,
under the lock at last, finds that it has one already, and its own assertion fails.
"""

import threading

import httpcore
from httpcore.backends.mock import MockBackend

ANSWER = [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"]


def main() -> None:
    pool = httpcore.ConnectionPool(network_backend=MockBackend(ANSWER * 4), max_connections=2)
    outcomes: list[object] = []

    def ask() -> None:
        try:
            outcomes.append(pool.request("GET", "http://shop.test/stock").content)
        except BaseException as error:
            outcomes.append(repr(error))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [b"yes", b"yes"], outcomes


if __name__ == "__main__":
    main()
