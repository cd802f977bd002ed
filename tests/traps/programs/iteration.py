"""A dictionary grows while another thread goes through it."""

import threading

users = {"ann": 1, "bob": 2}


def register() -> None:
    users["cem"] = 3


thread = threading.Thread(target=register)
thread.start()
total = 0
for name in users:
    total += users[name]
thread.join()
assert total in (3, 6)
