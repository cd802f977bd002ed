"""A thread that C code starts runs Python code: nobody asked us."""

import ctypes

library = ctypes.CDLL(None)
callback_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
called = []


@callback_type
def callback(_: object) -> None:
    called.append(1)


thread = ctypes.c_ulong()
assert library.pthread_create(ctypes.byref(thread), None, callback, None) == 0
assert library.pthread_join(thread, None) == 0
assert called == [1]
