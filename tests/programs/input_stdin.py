# reenact-test: stdin=first\nsecond\nthird line\nfourth\nBytes\nthe rest\nof it\n
"""Standard input from a pipe: input(), lines, bytes, descriptor 0, and its end.

Varies: which thread gets which line.
"""

import os
import sys
import threading

got = []
turn = threading.Lock()  # two threads inside one text stream lose lines, in any Python


def ask(name):
    with turn:
        got.append((name, input(f"{name}? ")))


threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(got, sys.stdin.isatty())
print(repr(sys.stdin.readline()), repr(next(sys.stdin)))
print(repr(sys.stdin.read(5)))
print(repr(sys.stdin.read()))
print(os.read(0, 10))
try:
    input()
except EOFError as error:
    print("end:", error)
