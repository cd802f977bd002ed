"""Random numbers, bytes, choices and unique names, of the shared generator and of others.

Varies: all of it, from run to run.
"""

import os
import random
import secrets
import tempfile
import threading
import uuid

seen = []
own = random.Random()
system = random.SystemRandom()
ways = {
    "random": random.random,
    "integer": lambda: random.randint(1, 10**9),
    "choice": lambda: random.choice("abcdefgh"),
    "sample": lambda: random.sample(range(100), 5),
    "gauss": lambda: random.gauss(0, 1),
    "bits": lambda: random.getrandbits(200),
    "own": own.random,
    "another": lambda: random.Random().random(),
    "seeded again": lambda: random.seed() or random.random(),
    "seeded": lambda: random.Random(7).random(),
    "system": system.random,
    "urandom": lambda: os.urandom(9),
    "getrandom": lambda: os.getrandom(9),
    "token": secrets.token_hex,
    "below": lambda: secrets.randbelow(10**12),
    "uuid1": uuid.uuid1,
    "uuid4": uuid.uuid4,
    "name": lambda: tempfile.mktemp(prefix="x"),
}


def look(names):
    for name in names:
        seen.append((name, ways[name]()))


names = list(ways)
threads = [threading.Thread(target=look, args=(names[part::3],)) for part in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, value in seen:
    print(name, value)
