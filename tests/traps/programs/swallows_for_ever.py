"""A worker that swallows everything and tries again, for ever."""

import threading

first, second = threading.Lock(), threading.Lock()


def take(a: threading.Lock, b: threading.Lock) -> None:
    while True:
        try:
            with a, b:
                return
        except BaseException:
            pass


threads = [
    threading.Thread(target=take, args=(first, second)),
    threading.Thread(target=take, args=(second, first)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
