"""Waiting for several descriptors with select, poll, epoll and selectors, in threads.

Varies: what is ready first, and how often there is nothing.
"""

import select
import selectors
import socket
import threading
import time

log = []


def send(pairs):
    for number, (_, far) in enumerate(pairs):
        time.sleep(0.001)
        far.sendall(b"%d" % number)


def by_select(nears):
    return select.select(nears, [], [], 0.002)[0]


def by_poll(nears):
    poll = select.poll()
    for near in nears:
        poll.register(near, select.POLLIN)
    ready = {number for number, _ in poll.poll(2)}
    return [near for near in nears if near.fileno() in ready]


def by_epoll(nears):
    with select.epoll() as epoll:
        for near in nears:
            epoll.register(near, select.EPOLLIN)
        ready = {number for number, _ in epoll.poll(0.002)}
    return [near for near in nears if near.fileno() in ready]


def by_selector(nears):
    with selectors.DefaultSelector() as selector:
        for near in nears:
            selector.register(near, selectors.EVENT_READ, near)
        return [key.data for key, _ in selector.select(0.002)]


def collect(way):
    pairs = [socket.socketpair() for _ in range(3)]
    sender = threading.Thread(target=send, args=(pairs,))
    sender.start()
    left = [near for near, _ in pairs]
    while left:
        ready = way(left)
        log.append((way.__name__, [near.recv(5) for near in ready]))
        left = [near for near in left if near not in ready]
    sender.join()
    for near, far in pairs:
        near.close()
        far.close()


ways = (by_select, by_poll, by_epoll, by_selector)
threads = [threading.Thread(target=collect, args=(way,)) for way in ways]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for line in log:
    print(*line)
