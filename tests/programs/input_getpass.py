# reenact-test: stdin=a secret\nfrom a list\n
"""A password asked for where there is no terminal, and whether there is one.

Varies: nothing.
"""

import getpass
import os
import sys
import termios
import warnings

warnings.simplefilter("ignore")
try:
    os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    print("a terminal")
except OSError as error:
    print(error)
    print(getpass.getpass("Password: ", sys.stdout))
try:
    termios.tcgetattr(0)
except termios.error as error:
    print(error)
print(os.isatty(0), repr(sys.stdin.readline()))
