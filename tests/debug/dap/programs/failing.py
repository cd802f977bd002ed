"""Exceptions: one that is caught, one that ends a thread, one that ends the program."""

import threading


class Odd(Exception):
    def __str__(self):
        return f"odd {self.args[0]}"


def work(number):
    try:
        int("x")
    except ValueError:
        print("caught")
    if number % 2:
        raise Odd(number)


for number in range(3):
    thread = threading.Thread(target=work, args=(number,))
    thread.start()
    thread.join()
{}["missing"]
