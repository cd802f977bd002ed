"""sqlparse: the first two threads to parse; the shared lexer is seen before it has its tables.

Lexer.get_default_instance stores the new object first and fills it afterwards. A thread that comes
in between parses with an empty lexer: it raises, or finds no statement type.
"""

import threading

import sqlparse
from sqlparse.lexer import Lexer

STATEMENT = "DELETE FROM orders WHERE id = 7"


def forget_the_lexer() -> None:
    """As in a fresh process, but with compiled patterns; before 0.5 the name was misspelt."""
    sqlparse.parse(STATEMENT)
    for name in ("_default_intance", "_default_instance"):
        if hasattr(Lexer, name):
            setattr(Lexer, name, None)


def main() -> None:
    forget_the_lexer()
    kinds: list[str] = []

    def parse() -> None:
        try:
            kinds.append(sqlparse.parse(STATEMENT)[0].get_type())
        except Exception as error:
            kinds.append(repr(error))

    threads = [threading.Thread(target=parse) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kinds == ["DELETE", "DELETE"], kinds


if __name__ == "__main__":
    main()
