"""A thread that is not Python's, and that no signal reaches: it cannot be held."""

import ctypes
import signal

libc = ctypes.CDLL(None)
CALLING = signal.SIGRTMIN + 9


def begin():
    """A new thread takes over what is blocked. Not by signal.pthread_sigmask: a replay does not."""
    thread, before = ctypes.c_ulong(), (ctypes.c_ulong * 16)()
    blocked = (ctypes.c_ulong * 16)(1 << CALLING - 1)
    libc.pthread_sigmask(signal.SIG_BLOCK, blocked, before)
    libc.pthread_create(ctypes.byref(thread), None, libc.pause, None)
    libc.pthread_sigmask(signal.SIG_SETMASK, before, None)


total = 0
begin()
for number in range(200):
    total += number
print(total)
