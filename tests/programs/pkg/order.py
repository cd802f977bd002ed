"""Which module bodies ran, in which thread."""

import threading

bodies = []


def note(module):
    bodies.append((module, threading.current_thread().name))
