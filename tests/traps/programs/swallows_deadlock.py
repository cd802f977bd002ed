"""Everything is swallowed, even what ends threads that wait for ever."""

import threading

first, second = threading.Lock(), threading.Lock()


def take(a: threading.Lock, b: threading.Lock) -> None:
    try:
        with a, b:
            pass
    except BaseException:
        pass


threads = [
    threading.Thread(target=take, args=(first, second)),
    threading.Thread(target=take, args=(second, first)),
]
try:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
except BaseException:
    pass
