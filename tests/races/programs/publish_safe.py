"""Subscribers are copied with the lock; the message is sent without it."""

import threading

from _shared import run


class Channel:
    def __init__(self):
        self.lock = threading.Lock()
        self.subscribers = []

    def subscribe(self, subscriber):
        with self.lock:
            self.subscribers.append(subscriber)

    def publish(self, message):
        with self.lock:
            present = list(self.subscribers)
        for subscriber in present:
            subscriber(message)


channel = Channel()
run(lambda: channel.subscribe(len), lambda: channel.publish("news"))
