"""What most of the programs need: an object to share, and threads side by side."""

import threading


class Box:
    def __init__(self):
        self.value = 0


def run(*functions):
    """All are started before any is joined: nothing orders what they do."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
