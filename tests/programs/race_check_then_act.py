"""Check-then-act: a lazily made singleton and a last ticket sold twice.

Varies: how many instances were made, who got which, how many tickets were oversold.
"""

import threading


class Service:
    made = 0

    def __init__(self):
        Service.made = Service.made + 1
        self.number = Service.made


instance = None
tickets = 25
used = {}
sold = []


def get_instance():
    global instance
    if instance is None:
        instance = Service()
    return instance


def sell(name):
    global tickets
    if tickets > 0:
        sold.append((name, tickets))
        tickets = tickets - price()


def price():
    return 1


def work(name):
    used[name] = get_instance().number
    for _ in range(12):
        sell(name)


threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("made", Service.made, "used", used)
print("tickets", tickets, "sold", len(sold))
print(sold)
