"""Two tellers lock the same two accounts in opposite orders: now and then, both wait for ever."""

import threading

ann, bob = threading.Lock(), threading.Lock()


def transfer(first, second):
    for _ in range(20):
        with first, second:
            pass


tellers = [
    threading.Thread(target=transfer, args=(ann, bob)),
    threading.Thread(target=transfer, args=(bob, ann)),
]
for teller in tellers:
    teller.start()
for teller in tellers:
    teller.join()
print("all transfers done")
