"""A box office that means to sell each seat once."""


class Office:
    def __init__(self, seats):
        self.seats = seats
        self.sold = []

    def sell(self, name):
        if len(self.sold) < self.seats:
            self.sold.append(name)
