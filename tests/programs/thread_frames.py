"""sys._current_frames: main looks where the other threads are.

Varies: the functions in which they were seen.
"""

import sys
import threading

stop = False
started = threading.Barrier(4)
sightings = []


def inner(value):
    return value + 1


def outer(value):
    for _ in range(3):
        value = inner(value)
    return value


def work():
    value = 0
    started.wait()
    while not stop:
        value = outer(value) % 1000


def own_functions(frame):
    names = []
    while frame is not None:
        if frame.f_code.co_filename == __file__:
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return "<".join(names)


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
started.wait()
for _ in range(30):
    frames = sys._current_frames()
    sightings.append([own_functions(frames[thread.ident]) for thread in threads])
stop = True
for thread in threads:
    thread.join()

for sighting in sightings:
    print(*sighting, sep="   ")
