"""Strings, bytearrays and an io.StringIO built by several threads.

Varies: what was lost of the strings, the order in the buffers.
"""

import io
import threading
from zlib import crc32

text = ""
data = bytearray()
stream = io.StringIO()


def letter(name):
    return name


def work(name):
    global text
    for step in range(80):
        text = text + letter(name)
        data.extend(letter(name).encode())
        stream.write(f"{name}{step} ")


threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("text", len(text), {name: text.count(name) for name in "abcd"})
print("data", len(data), crc32(data))
print("stream", len(stream.getvalue()), crc32(stream.getvalue().encode()))
