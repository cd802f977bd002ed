"""Writes the table of calls into docs/guarantees.md, from reenact.intercept.table."""

from __future__ import annotations

from pathlib import Path

from reenact.intercept.table import TABLE

PAGE = Path(__file__).parents[1] / "docs" / "guarantees.md"
BEGIN = "<!-- table of calls: made from reenact.intercept.table, checked by tests/docs -->"
END = "<!-- end of table -->"


def table() -> str:
    rows = ["| of | calls | treatment |", "|---|---|---|"]
    for row in TABLE:
        calls = ", ".join(f"`{name}`" for name in row.names)
        rows.append(f"| `{row.owner}` | {calls} | {row.treatment} |")
    return "\n".join(rows)


def updated(page: str) -> str:
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text("utf-8")), "utf-8")
