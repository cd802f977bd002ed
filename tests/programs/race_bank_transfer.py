"""Transfers between locked accounts, where one rare path forgets the lock.

Varies: every balance; seldom also the total, which should be constant.
"""

import random
import threading

ACCOUNTS = 5
START = 100

balances = [START] * ACCOUNTS
locks = [threading.Lock() for _ in range(ACCOUNTS)]
refused = [0] * 4
rare = [0] * 4


def change(account, amount):
    balances[account] = checked(balances[account]) + amount


def checked(balance):
    return balance


def transfer(name, source, target, amount):
    first, second = sorted((source, target))
    with locks[first], locks[second]:
        if balances[source] < amount:
            refused[name] += 1
            return
        change(source, -amount)
        change(target, amount)


def pay_fee(name, account):
    rare[name] += 1
    change(account, -1)
    change(0, 1)


def work(name):
    choose = random.Random(name)
    for _ in range(150):
        source, target = choose.sample(range(ACCOUNTS), 2)
        transfer(name, source, target, choose.randrange(60))
        if choose.random() < 0.05:
            pay_fee(name, target)


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("balances", balances)
print("total", sum(balances), "expected", ACCOUNTS * START)
print("refused", refused, "fees", rare)
