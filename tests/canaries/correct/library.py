"""Much of the standard library that is written in C, used as it should be."""

import array
import bz2
import collections
import ctypes
import decimal
import hashlib
import io
import itertools
import json
import pickle
import re
import sqlite3
import struct
import threading
import xml.etree.ElementTree as Tree
import zlib


def texts() -> None:
    document = [{"name": f"n{n}", "values": list(range(n)), "half": n / 2} for n in range(200)]
    text = json.dumps(document, indent=1)
    assert json.loads(text) == document
    assert len(re.findall(r'"name": "(n\d+)"', text)) == 200
    assert re.sub(r"\s+", "", text).count("half") == 200
    assert pickle.loads(pickle.dumps(document)) == document
    root = Tree.fromstring("<a>" + "<b c='1'>text</b>" * 100 + "</a>")
    assert len(root) == 100
    grown = ""
    for number in range(5_000):
        grown += chr(97 + number % 26) * (number % 3)
    assert len(grown) > 4_000
    with io.StringIO() as file:
        file.writelines(f"{n}\n" for n in range(1_000))
        assert len(file.getvalue().splitlines()) == 1_000


def buffers() -> None:
    data = bytes(range(256)) * 500
    assert zlib.decompress(zlib.compress(data)) == data
    assert bz2.decompress(bz2.compress(data)) == data
    assert len(hashlib.sha256(data).digest()) == 32
    grown = bytearray()
    for number in range(3_000):
        grown += bytes([number % 256]) * (number % 5)
        if number % 7 == 0:
            del grown[: number % 11]
    numbers = array.array("i", range(100))
    for number in range(2_000):
        numbers.append(number)
        if number % 3 == 0:
            numbers.pop(0)
    assert struct.unpack("<3i", struct.pack("<3i", 1, 2, 3)) == (1, 2, 3)
    view = memoryview(grown)
    assert bytes(view[:10]) == bytes(grown[:10])
    assert b"".join([data[n : n + 7] for n in range(0, 1_000, 7)]) == data[:1_001]


def databases() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table t (a integer, b text)")
        connection.executemany("insert into t values (?, ?)", [(n, "x" * n) for n in range(300)])
        assert connection.execute("select sum(length(b)) from t").fetchone() == (44_850,)


def foreign() -> None:
    buffer = ctypes.create_string_buffer(100)
    ctypes.memset(buffer, 65, 99)
    assert buffer.value == b"A" * 99
    compare = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)
    )(lambda one, other: one[0] - other[0])
    numbers = (ctypes.c_int * 50)(*reversed(range(50)))
    ctypes.CDLL(None).qsort(numbers, 50, ctypes.sizeof(ctypes.c_int), compare)
    assert list(numbers) == list(range(50))
    take, give = ctypes.pythonapi.PyMem_Malloc, ctypes.pythonapi.PyMem_Free
    take.restype, give.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    block = take(ctypes.c_size_t(33))
    ctypes.memset(block, 0, 33)
    give(block)


def objects() -> None:
    queue = collections.deque(maxlen=50)
    counted = collections.Counter(n % 17 for n in range(5_000))
    ordered = collections.OrderedDict((n, str(n)) for n in range(1_000))
    for number in range(1_000):
        queue.append((number, [number] * (number % 9), {number: str(number)}))
        ordered.move_to_end(number)
    assert sum(counted.values()) == 5_000
    assert len(set(itertools.permutations(range(6)))) == 720
    assert decimal.Decimal(2).sqrt() ** 2 != 2
    assert (1 << 5_000) // 3 * 3 < 1 << 5_000

    def generate():
        yield from (lambda n=n: n for n in range(100))

    assert sum(each() for each in generate()) == 4_950
    items = []
    for number in range(200_000):
        items.append(number)
    items.sort(key=lambda n: -n)


def main() -> None:
    parts = (texts, buffers, databases, foreign, objects)
    for part in parts:
        part()
    threads = [threading.Thread(target=part) for part in parts * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
