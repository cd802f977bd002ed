"""What is found out about a run: races and lock orders, in words.

`raw.py` takes apart what the core has written, `names.py`, `reach.py` and `advice.py` put it into
words, `build.py` makes findings of it (`findings.py`). `suppress.py` and `baseline.py` say which
are known already; `report.py` has the result, which `text.py` and `sarif.py` show.
"""

from reenact.analysis.build import findings_of

__all__ = ["findings_of"]
