"""Two threads have an object and drop it: its finalizer comes after all that both did with it."""

import threading

ended = []


class Resource:
    def __init__(self):
        self.left = 0
        self.right = 0

    def __del__(self):
        ended.append(self.left + self.right)


def use_left(resource):
    resource.left = 1


def use_right(resource):
    resource.right = 2


def main():
    resource = Resource()
    threads = [
        threading.Thread(target=use_left, args=(resource,)),
        threading.Thread(target=use_right, args=(resource,)),
    ]
    del resource
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
assert ended == [3]
