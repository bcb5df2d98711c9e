"""What a server refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Refused(Exception):
    """A refusal: what is refused, where in the statement, why, and the way out.

    It is made from the statement, the catalog and the state of the budget, never from data.
    """

    def __init__(self, status: int, members: Mapping[str, Any], statement: str = "") -> None:
        self.status = status
        self.code: str = str(members.get("code", ""))
        self.message: str = str(members.get("message", ""))
        self.why: str = str(members.get("why", ""))
        self.hint: str = str(members.get("hint", ""))
        self.line = int(members.get("line", 0))
        self.column = int(members.get("column", 0))
        self.length = int(members.get("length", 0))
        self.asked: Mapping[str, Any] | None = members.get("asked")
        self.left: Mapping[str, Any] | None = members.get("left")
        self.statement = statement
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [f"error[{self.code}]: {self.message}"]
        text = self.statement.split("\n")
        if 0 < self.line <= len(text):
            lines.append(f"  {self.line} | {text[self.line - 1]}")
            lines.append("  " + " " * len(str(self.line)) + " | " + " " * (self.column - 1) + "^" * max(1, self.length))
        if self.why:
            lines.append(f"  why:  {self.why}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class BudgetExhausted(Refused):
    """The budget does not suffice: asked is what the statement would cost, left what there is."""


class NotSignedIn(Refused):
    """There is no token, or it is no account's."""


class TooBusy(Refused):
    """The server has too much to do. Nothing was charged."""


class Unavailable(Refused):
    """The answer could not be computed, or the server failed."""


class Pending(Exception):
    """An owner must approve the statement first. Send the same statement again then."""

    def __init__(self, approval: str) -> None:
        self.approval = approval
        super().__init__(f"an owner must approve this statement first: approval {approval}; then send it again")


def refusal(status: int, members: Mapping[str, Any], statement: str) -> Refused:
    """Return the error that a status stands for."""
    kinds: dict[int, type[Refused]] = {401: NotSignedIn, 402: BudgetExhausted, 429: TooBusy, 503: Unavailable}
    return kinds.get(status, Refused)(status, members, statement)
