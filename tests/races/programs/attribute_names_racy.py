"""Two threads write the same attribute, of one object, in different functions."""

from _shared import run


class Window:
    def __init__(self):
        self.width = 80
        self.height = 25

    def widen(self):
        self.width = 132  # at: widen

    def reset(self):
        self.width = 80  # at: reset


window = Window()
run(window.widen, window.reset)
