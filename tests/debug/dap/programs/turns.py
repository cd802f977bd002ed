"""Two threads take turns at adding to a balance; the total is not what was hoped for."""

import threading


class Account:
    def __init__(self):
        self.balance = 0
        self.log = []


def add(amount, to):
    """Its own function, so that there is something to step into."""
    result = amount + to
    return result


def deposit(account, mine, other):
    for number in range(2):
        mine.acquire()
        before = account.balance
        account.balance = add(before, 1)
        account.log.append((number, before))
        other.release()


def main():
    account = Account()
    print("begin")
    first, second = threading.Lock(), threading.Lock()
    second.acquire()
    pairs = (first, second), (second, first)
    threads = [threading.Thread(target=deposit, args=(account, *each)) for each in pairs]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print("total", account.balance)
    assert account.balance == 5, "no"


if __name__ == "__main__":
    main()
