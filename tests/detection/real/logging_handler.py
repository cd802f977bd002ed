"""CPython, logging: a handler that is removed makes a thread that is logging skip the next one.

Logger.removeHandler shortens the very list that callHandlers goes through.
"""

import logging
import threading


class Keep(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record.getMessage())


def main() -> None:
    logger = logging.Logger("shop", logging.INFO)
    screen, file = Keep(), Keep()
    logger.addHandler(screen)
    logger.addHandler(file)
    threads = [
        threading.Thread(target=logger.info, args=("sold",)),
        threading.Thread(target=logger.removeHandler, args=(screen,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for handler in (screen, file):
        handler.close()
    assert file.kept == ["sold"], file.kept


if __name__ == "__main__":
    main()
