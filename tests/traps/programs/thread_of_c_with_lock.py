"""A thread that C code starts takes a lock of the program's."""

import ctypes
import threading

library = ctypes.CDLL(None)
callback_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
lock = threading.Lock()
called = []


@callback_type
def callback(_: object) -> None:
    with lock:
        called.append(1)


thread = ctypes.c_ulong()
assert library.pthread_create(ctypes.byref(thread), None, callback, None) == 0
assert library.pthread_join(thread, None) == 0
assert called == [1]
