"""loguru: `logger.remove()` changes the dict of handlers that another thread is going through.

After the first handler is gone its private copy of the dict becomes the shared one, and it goes on
popping from it. The thread that logs gets RuntimeError: dictionary changed size.
"""

import threading

from loguru import logger


def main() -> None:
    logger.remove()
    lines: list[str] = []
    for _ in range(3):
        logger.add(lines.append, format="{message}")

    def log() -> None:
        logger.info("order received")
        logger.info("order paid")

    threads = [threading.Thread(target=log), threading.Thread(target=logger.remove)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines) <= 6


if __name__ == "__main__":
    main()
