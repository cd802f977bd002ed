"""A pair of connected sockets between threads: all ways to send and to receive.

Varies: how the bytes are cut into pieces, and the order.
"""

import socket
import threading

ours, theirs = socket.socketpair()
seen = []


def answer():
    with theirs, theirs.makefile("rwb") as file:
        for line in file:
            file.write(line.upper())
            file.flush()


def tell(*words):
    seen.append(words)
    print(*words)


thread = threading.Thread(target=answer)
thread.start()
tell(ours.fileno(), theirs.fileno(), ours.family.name, ours.getsockopt(socket.SOL_SOCKET, 3))
ours.sendall(b"one\n")
tell(ours.recv(100))
ours.send(b"two\n")
target = bytearray(10)
tell(ours.recv_into(target), target)
ours.sendmsg([b"th", b"ree\n"])
tell(ours.recvmsg(100))
ours.sendall(b"four\n")
tell(ours.recvfrom(2, socket.MSG_PEEK), ours.recvfrom_into(target), target)
ours.sendall(b"five\n")
pieces = [bytearray(2), bytearray(9)]
tell(ours.recvmsg_into(pieces), pieces)
ours.settimeout(0.005)
try:
    ours.recv(1)
except TimeoutError as error:
    tell("timeout:", error)
ours.setblocking(False)
try:
    ours.recv(1)
except BlockingIOError as error:
    tell("blocking:", error)
ours.setblocking(True)
ours.shutdown(socket.SHUT_WR)
tell("end", ours.recv(1))
thread.join()
ours.close()
try:
    ours.send(b"x")
except OSError as error:
    tell("closed:", error)
