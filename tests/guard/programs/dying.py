"""A thread ends the process by a fatal signal. dying.py SIGSEGV|SIGABRT"""

import ctypes
import os
import sys
import threading

pointers = {"good": ctypes.addressof(ctypes.create_string_buffer(b"text")), "bad": 0}


def follow(name):
    address = pointers[name]
    return ctypes.string_at(address)  # dies here


def give_up(name):
    os.abort()  # or here


def work(end, name):
    for number in range(1000):
        pointers["seen"] = number
    end(name)


threads = [
    threading.Thread(target=work, args=(str, "good")),
    threading.Thread(target=work, args=(follow if sys.argv[1] == "SIGSEGV" else give_up, "bad")),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
