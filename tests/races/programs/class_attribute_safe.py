"""One thread sets an attribute of an instance, another reads that of the class: two variables."""

from _shared import run


class Service:
    limit = 10


service = Service()
service.limit = 15


def raise_limit():
    service.limit = 20


def read_default():
    return Service.limit


run(raise_limit, read_default)
