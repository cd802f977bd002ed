"""Two threads that wait for each other."""

import threading

first, second = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def take(one, other):
    with one:
        both.wait()
        with other:
            print("never")


threads = [threading.Thread(target=take, args=each) for each in ((first, second), (second, first))]
for each in threads:
    each.start()
for each in threads:
    each.join()
