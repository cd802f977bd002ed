"""Threads that share a Redis: counters, pipelines, transactions that retry, a blocking queue."""

from __future__ import annotations

import hashlib
import sys
import threading

import redis

WORKERS = 6
client = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]), decode_responses=True)
results: list[str] = []
retries = 0


def withdraw(account: str) -> int:
    """Optimistic: watches the key, and tries again if somebody else wrote it."""
    global retries
    with client.pipeline() as pipe:
        while True:
            try:
                pipe.watch(account)
                balance = int(pipe.get(account) or 0)
                pipe.multi()
                pipe.set(account, balance + 1)
                pipe.execute()
                return balance + 1
            except redis.WatchError:
                retries += 1


def work(number: int) -> None:
    for turn in range(15):
        seen = client.incr("visits")
        balance = withdraw("account")
        with client.pipeline(transaction=False) as pipe:
            pipe.hset("turns", f"{number}.{turn}", seen).lpush("log", f"{number} {seen} {balance}")
            pipe.execute()
        client.rpush("jobs", f"{number}.{turn}")


def consume() -> None:
    while (item := client.blpop("jobs", timeout=10)) and item[1] != "end":
        results.append(item[1])


def main() -> None:
    client.flushall()
    consumer = threading.Thread(target=consume)
    workers = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for thread in [consumer, *workers]:
        thread.start()
    for thread in workers:
        thread.join()
    client.rpush("jobs", "end")
    consumer.join()
    final = [results, client.lrange("log", 0, -1), sorted(client.hgetall("turns").items())]
    print(f"visits {client.get('visits')}, balance {client.get('account')}, {retries} retries")
    print(f"{len(results)} jobs, server {client.info('server')['run_id']}")
    print("state", hashlib.sha256(repr(final).encode()).hexdigest())


main()
