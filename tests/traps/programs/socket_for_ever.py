"""A wake-up through a socket that is not sent under some schedules: all wait for ever."""

import socket
import threading

ours, theirs = socket.socketpair()
is_waiting = False


def wait() -> None:
    global is_waiting
    is_waiting = True
    ours.recv(1)


def wake() -> None:
    if is_waiting:
        theirs.send(b"x")


waiter = threading.Thread(target=wait)
waker = threading.Thread(target=wake)
waiter.start()
waker.start()
waiter.join()
waker.join()
