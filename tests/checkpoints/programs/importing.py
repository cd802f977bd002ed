"""A thread imports what a debugger needs itself, bit by bit, while another one goes on."""

import threading

turns = 0


def load():
    import ast
    import dis
    import pprint
    import traceback

    print(ast.__name__, dis.__name__, pprint.__name__, traceback.__name__)


thread = threading.Thread(target=load)
thread.start()
while thread.is_alive():
    turns = len(range(turns)) + 1
print(turns > 0)
