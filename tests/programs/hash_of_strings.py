"""Iteration order of sets of strings and bytes, which depends on the hash seed.

Varies: the order, with the seed; and with the threads' order of insertion.
"""

import threading

words = set()
snapshots = []


def work(name):
    for number in range(30):
        words.add(f"{name}{number}")
        if number % 10 == 0:
            snapshots.append(list(words)[:6])


threads = [threading.Thread(target=work, args=(name,)) for name in ("red", "green", "blue")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("words", list(words))
print("bytes", [b.decode() for b in {word.encode() for word in words}][:20])
print("tuples", list({(word, len(word)) for word in words})[:5])
print("hash digits", hash("reenact") % 1000, hash(("a", 1)) % 1000, hash(frozenset("ab")) % 1000)
for snapshot in snapshots:
    print(snapshot)
