"""Directories are made and removed; what is left is told. removing.py DIRECTORY"""

import os
import sys

import reenact

place = sys.argv[1]
for number in range(3):
    os.mkdir(os.path.join(place, f"{number}"))
for number in range(3):
    os.rmdir(os.path.join(place, f"{number}"))
left = os.listdir(place)
reenact.rollback(f"left: {left}")
