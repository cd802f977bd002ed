"""Base and derived class each have a private attribute of one name: two variables."""

from _shared import run


class Meter:
    def __init__(self):
        self.__count = 0

    def tick(self):
        self.__count += 1


class Logged(Meter):
    def __init__(self):
        super().__init__()
        self.__count = 0

    def log(self):
        self.__count += 1


logged = Logged()
run(logged.tick, logged.log)
