"""One thread sets an attribute of a class, another reads it by way of an instance."""

from _shared import run


class Service:
    limit = 10

    def has_room(self):
        return self.limit > 5  # at: read


service = Service()


def raise_limit():
    Service.limit = 20  # at: write


run(service.has_room, raise_limit)
