"""Two threads have an object, and write one attribute of it before the last of them drops it."""

import threading


class Resource:
    def __init__(self):
        self.state = "new"


def use(resource):
    resource.state = "used"  # at: write


def main():
    resource = Resource()
    threads = [threading.Thread(target=use, args=(resource,)) for _ in range(2)]
    del resource
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
