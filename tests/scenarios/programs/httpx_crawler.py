"""Crawls a site with httpx: with threads that share a client, or with tasks of an AsyncClient."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import httpx

LINK = re.compile(r'href="([^"]+)"')
pages: dict[str, str] = {}  # in order of arrival


def keep(path: str, answer: httpx.Response) -> list[str]:
    answer.raise_for_status()
    pages[path] = hashlib.sha256(answer.content).hexdigest()
    return LINK.findall(answer.text)


def crawl_with_threads(root: str) -> None:
    with httpx.Client(base_url=root, timeout=20) as client, ThreadPoolExecutor(8) as pool:
        seen = {"/"}
        running = {pool.submit(client.get, "/"): "/"}
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                for link in keep(running.pop(future), future.result()):
                    if link not in seen:
                        seen.add(link)
                        running[pool.submit(client.get, link)] = link


async def crawl_with_tasks(root: str) -> None:
    seen = {"/"}
    async with httpx.AsyncClient(base_url=root, timeout=20) as client, asyncio.TaskGroup() as group:

        async def visit(path: str) -> None:
            for link in keep(path, await client.get(path)):
                if link not in seen:
                    seen.add(link)
                    group.create_task(visit(link))

        group.create_task(visit("/"))


mode, root = sys.argv[1:]
if mode == "threads":
    crawl_with_threads(root)
else:
    asyncio.run(crawl_with_tasks(root))
print(f"{len(pages)} pages")
print("state", hashlib.sha256(repr(pages).encode()).hexdigest())
