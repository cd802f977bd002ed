"""Fetches pages over HTTPS with urllib, a few at a time."""

from __future__ import annotations

import hashlib
import ssl
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

root, authority = sys.argv[1:]
context = ssl.create_default_context(cafile=authority)
pages: dict[str, str] = {}  # in order of arrival


def fetch(path: str) -> None:
    try:
        with urllib.request.urlopen(root + path, timeout=20, context=context) as answer:
            pages[path] = f"{answer.status} {hashlib.sha256(answer.read()).hexdigest()}"
    except urllib.error.HTTPError as error:
        pages[path] = f"{error.code}"


with ThreadPoolExecutor(4) as pool:
    list(pool.map(fetch, [f"/page/{number}" for number in range(12)] + ["/missing"]))
try:
    urllib.request.urlopen(root + "/", timeout=20)
except urllib.error.URLError as error:
    print("without the certificate:", error.reason)
print(f"{len(pages)} pages, /missing {pages['/missing']}")
print("state", hashlib.sha256(repr(pages).encode()).hexdigest())
