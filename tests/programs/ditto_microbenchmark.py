# reenact-test: args=--threads 4 --operations 2000
"""Ditto's microbenchmark: threads load and increment random fields of shared objects, unlocked.

Varies: every value read (a digest per thread is printed) and the final fields.
"""

import argparse
import random
import threading
from zlib import crc32


class Field:
    def __init__(self):
        self.value = 0


class Shared:
    def __init__(self, fields):
        self.fields = [Field() for _ in range(fields)]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--operations", type=int, default=2000, help="per thread")
    parser.add_argument("--ratio", default="4:1", help="loads:stores")
    parser.add_argument("--fields", type=int, default=4, help="per object")
    parser.add_argument("--objects", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def plan(options, name):
    """The operations of one thread, chosen beforehand so that the loop has only accesses in it."""
    choose = random.Random(options.seed * 1000 + name)
    loads, stores = map(int, options.ratio.split(":"))
    return [
        (
            choose.randrange(options.objects),
            choose.randrange(options.fields),
            choose.randrange(loads + stores) >= loads,
        )
        for _ in range(options.operations)
    ]


def load(field):
    return field.value


def increment(field):
    value = load(field)
    field.value = successor(value)
    return value


def successor(value):
    return value + 1


def work(name, operations, shared, digests):
    values = []
    for index, number, is_store in operations:
        field = shared[index].fields[number]
        values.append(increment(field) if is_store else load(field))
    digests[name] = crc32(repr(values).encode())


def main():
    options = parse()
    shared = [Shared(options.fields) for _ in range(options.objects)]
    digests = {}
    threads = [
        threading.Thread(target=work, args=(name, plan(options, name), shared, digests))
        for name in range(options.threads)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, digest in digests.items():
        print("thread", name, "read", digest)
    for number, item in enumerate(shared):
        print("object", number, [field.value for field in item.fields])


main()
