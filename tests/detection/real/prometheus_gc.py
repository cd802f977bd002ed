"""prometheus_client: a collection of garbage during a scrape waits for the scrape's own lock.

The collector of GC figures updates its histograms in a callback of the collection. If the
collection starts while the same thread copies a histogram under its lock, it waits for itself.
"""

import gc
import threading

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.gc_collector import GCCollector


class Node:
    def __init__(self) -> None:
        self.me = self


def make_garbage() -> None:
    for _ in range(400):
        Node()


def main() -> None:
    registry = CollectorRegistry()
    callbacks = list(gc.callbacks)
    GCCollector(registry=registry)
    pages: list[bytes] = []

    def scrape() -> None:
        for _ in range(3):
            pages.append(generate_latest(registry))

    threads = [threading.Thread(target=target) for target in (scrape, make_garbage)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks[:] = callbacks
    assert len(pages) == 3


if __name__ == "__main__":
    main()
