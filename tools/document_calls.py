"""Writes docs/coverage.md from reenact.intercept.table: every call, and what is done with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reenact.intercept.table import REFUSED_MODULES, SOURCES, TABLE, Row

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
HEAD = """\
# Every call to the outside, and what is done with it

Made from `src/reenact/intercept/table.py` by `python tools/document_calls.py`. What is not here and
reaches outside all the same is noted as it happens (`reenact info`), and ends the run under
`--strict`. What a program sees of all this is in [guarantees.md](guarantees.md); how to choose
another treatment for a source is in [configuration.md](reference/configuration.md).

| treatment | what it means |
|---|---|
| modelled | the gate does it itself: sleeping, starting and ending threads |
| recorded | the outcome is kept, and a replay returns it without calling |
| passed | a replay does it again, on its own stand-ins: scratch files, its own standard output |
| deferred | a replay does it again, and what it makes stays inside its process |
| refused | an error that says why |

| undo class | what it takes to run the call once more after going back in time |
|---|---|
| repeatable | nothing |
| recordable | its recorded outcome |
| revocable | what it changed is put back |
| deferrable | it waits until going back is out of the question |
| irrevocable | nothing helps: somebody else has seen it |
"""


def page() -> str:
    tables = "\n".join(_section(source, text) for source, text in SOURCES.items())
    return f"{HEAD}\n{tables}\n{_refused()}"


def _section(source: str, text: str) -> str:
    rows = [row for row in TABLE if row.source == source]
    return "\n".join([f"## {source}", "", f"{text[0].upper()}{text[1:]}.", "", *_table(rows), ""])


def _table(rows: list[Row]) -> Iterator[str]:
    yield "| of | calls | treatment | undo class |"
    yield "|---|---|---|---|"
    for row in rows:
        calls = ", ".join(f"`{name}`" for name in row.names)
        yield f"| `{row.owner}` | {calls} | {row.treatment} | {row.undo} |"


def _refused() -> str:
    lines = [f"| `{name}` | {reason} |" for name, reason in REFUSED_MODULES.items()]
    head = ["## Modules that are refused", "", "Importing one raises ImportError.", ""]
    return "\n".join([*head, "| module | why |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
