"""The time-travel debugger in a terminal: `reenact debug`.

`session.py` knows where somebody is and what was typed, `words.py` which words there are; the other
files have the commands, by what they are about. Commands give rows, and print nothing: whoever runs
a session shows them, and makes harmless what the program's own texts might do to a terminal.
"""
