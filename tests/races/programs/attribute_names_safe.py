"""Two threads write attributes of one object with different names."""

from _shared import run


class Window:
    def __init__(self):
        self.width = 80
        self.height = 25

    def widen(self):
        self.width = 132

    def heighten(self):
        self.height = 50


window = Window()
run(window.widen, window.heighten)
