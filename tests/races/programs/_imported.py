"""A module for the programs that import while threads run."""

uses = 0
table = {}
for number, name in enumerate(("zero", "one", "two")):
    table[name] = number
