"""Pipes between threads: blocking reads, buffered files on both ends, the end of the stream.

Varies: the order of lines.
"""

import os
import threading

readable, writable = os.pipe()
got = []
errors = []


def write(name):
    for number in range(5):
        os.write(writable, b"%s%d\n" % (name, number))


def read():
    with open(readable) as file:
        for line in file:
            got.append(line.strip())


reader = threading.Thread(target=read)
writers = [threading.Thread(target=write, args=(name,)) for name in (b"a", b"b", b"c")]
for thread in (reader, *writers):
    thread.start()
for thread in writers:
    thread.join()
os.close(writable)
reader.join()
print(got)

readable, writable = os.pipe2(os.O_NONBLOCK)
try:
    os.read(readable, 1)
except BlockingIOError as error:
    errors.append(str(error))
pieces = [bytearray(2), bytearray(9)]
print(os.writev(writable, [b"a", b"bcd"]), os.readv(readable, pieces), pieces)
print("written", os.write(writable, bytes(100_000)), len(os.read(readable, 1000)))
os.close(readable)
try:
    os.write(writable, b"x")
except BrokenPipeError as error:
    errors.append(str(error))
print(errors, os.get_blocking(writable), readable, writable)
os.close(writable)
