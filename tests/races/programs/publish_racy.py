"""Subscribers enter themselves while a message is sent to all who are there."""

from _shared import run


class Channel:
    def __init__(self):
        self.subscribers = []

    def subscribe(self, subscriber):
        self.subscribers.append(subscriber)  # at: subscribe

    def publish(self, message):
        for subscriber in self.subscribers:  # at: publish
            subscriber(message)


channel = Channel()
run(lambda: channel.subscribe(len), lambda: channel.publish("news"))
