"""Crawls a site with `requests` and a pool of threads: follows every link once."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import requests

LINK = re.compile(r'href="([^"]+)"')
root = sys.argv[1]
pages: dict[str, str] = {}
order: list[str] = []
lock = threading.Lock()
local = threading.local()


def session() -> requests.Session:
    if not hasattr(local, "session"):
        local.session = requests.Session()
    return local.session


def crawl(queue: Queue[str | None], seen: set[str]) -> None:
    while (path := queue.get()) is not None:
        answer = session().get(root + path, timeout=20)
        answer.raise_for_status()
        with lock:
            pages[path] = hashlib.sha256(answer.content).hexdigest()
            order.append(f"{path} {threading.current_thread().name}")
            new = [link for link in LINK.findall(answer.text) if link not in seen]
            seen.update(new)
        for link in new:
            queue.put(link)
        queue.task_done()
    queue.task_done()


def main() -> None:
    queue: Queue[str | None] = Queue()
    queue.put("/")
    with ThreadPoolExecutor(8, thread_name_prefix="crawler") as pool:
        workers = [pool.submit(crawl, queue, {"/"}) for _ in range(8)]
        queue.join()
        for _ in workers:
            queue.put(None)
        for worker in workers:
            worker.result()
    print(f"{len(pages)} pages")
    print("order", hashlib.sha256("\n".join(order).encode()).hexdigest())
    print("state", hashlib.sha256(repr(sorted(pages.items())).encode()).hexdigest())


main()
