"""The cell magic %%discreet of notebooks."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from .client import Client, connect
from .result import Explanation, Result


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise ValueError(f"%%discreet: {message}")


def _arguments() -> _Arguments:
    p = _Arguments(prog="%%discreet", add_help=False)
    for name in ("epsilon", "delta", "rho", "accuracy", "confidence"):
        p.add_argument("--" + name)
    p.add_argument("--fresh", action="store_true", help="pay again for what was answered before")
    p.add_argument("--free", action="store_true", help="charge nothing: what is stored answers, or nothing does")
    p.add_argument("--explain", action="store_true", help="say what it would cost, for free")
    p.add_argument("--client", help="the variable that holds the connection; else the variable db, else DISCREET_URL")
    p.add_argument("into", nargs="?", help="the variable that the answer is put into")
    return p


def load(ipython: Any) -> None:
    """Define the magic in an interpreter."""

    def discreet(line: str, cell: str) -> Result | Explanation:
        """Ask the statement in the cell: %%discreet [--rho R] [--epsilon E] [--delta D] [--accuracy A] [--explain] [--fresh] [--free] [NAME]."""
        a = _arguments().parse_args(shlex.split(line))
        db = ipython.user_ns.get(a.client or "db")
        opened = None
        if not isinstance(db, Client):
            if a.client:
                raise ValueError(f"%%discreet: {a.client} is no connection of discreet.connect")
            db = opened = connect()
        try:
            amounts = {name: getattr(a, name) for name in ("epsilon", "delta", "rho", "accuracy", "confidence")}
            out = db.explain(cell, free=a.free, **amounts) if a.explain else db.query(cell, fresh=a.fresh, free=a.free, **amounts)
        finally:
            if opened:
                opened.close()
        if a.into:
            ipython.user_ns[a.into] = out
        return out

    ipython.register_magic_function(discreet, "cell", "discreet")
