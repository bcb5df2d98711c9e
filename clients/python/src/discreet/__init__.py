"""Ask private data over HTTP, and get differentially private answers with intervals.

>>> import discreet
>>> db = discreet.connect("https://data.example", token="...")
>>> db.explain("SELECT count(*) AS n FROM visits", rho="0.01").expected_error
>>> r = db.query("SELECT count(*) AS n FROM visits", rho="0.01")
>>> r.rows, r.cost.rho, r.remaining.rho

What a query costs never comes back; explain is free.
"""

from __future__ import annotations

from typing import Any

from .client import Client, connect
from .errors import BudgetExhausted, NotSignedIn, Pending, Refused, TooBusy, Unavailable
from .result import Amounts, Column, Domain, Entry, Explanation, Result, Table

__all__ = [
    "Amounts",
    "BudgetExhausted",
    "Client",
    "Column",
    "Domain",
    "Entry",
    "Explanation",
    "NotSignedIn",
    "Pending",
    "Refused",
    "Result",
    "Table",
    "TooBusy",
    "Unavailable",
    "connect",
]


def load_ipython_extension(ipython: Any) -> None:
    """Define the cell magic %%discreet, for %load_ext discreet."""
    from .magic import load

    load(ipython)
