"""A thread that C code starts runs Python code and takes a lock, while threads of ours count."""

import ctypes
import threading

libc = ctypes.CDLL(None)
lock = threading.Lock()
counts = [0, 0, 0]
seen = []


def one_more(value):
    return value + 1


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def visit(argument):
    for _ in range(5):
        with lock:
            seen.append(threading.get_ident())
    return None


def work(name):
    for step in range(500):
        counts[name] = one_more(counts[name])
        if step % 50 == 0:
            with lock:
                counts[2] += 1


threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
for thread in threads:
    thread.start()
ident = ctypes.c_ulong()
assert libc.pthread_create(ctypes.byref(ident), None, visit, None) == 0
assert libc.pthread_join(ident, None) == 0
for thread in threads:
    thread.join()
print(counts, len(seen))
