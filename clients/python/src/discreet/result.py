"""What a server answers."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

Value = str | int | float | bool | Decimal | datetime.date | datetime.time | datetime.datetime | None
"""A value of an answer, as Python has its type."""


@dataclass(frozen=True)
class Amounts:
    """Amounts of privacy loss, as exact decimals. Of remaining, measure says which of them count."""

    epsilon: Decimal
    delta: Decimal
    rho: Decimal
    measure: str = ""

    @staticmethod
    def _of(members: Mapping[str, Any]) -> Amounts:
        return Amounts(
            Decimal(members["epsilon"]), Decimal(members["delta"]), Decimal(members["rho"]), str(members.get("measure", ""))
        )

    def __str__(self) -> str:
        named = (("epsilon", self.epsilon), ("delta", self.delta), ("rho", self.rho))
        return ", ".join(f"{name} {amount}" for name, amount in named if amount) or "nothing"


@dataclass(frozen=True)
class Column:
    """A column of an answer. Why says why a noisy one has no intervals."""

    name: str
    type: str
    noisy: bool
    why: str = ""


class _Answer:
    """What answers and explanations have in common."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.raw = members
        self.columns = [Column(c["name"], c["type"], c["noisy"], c.get("why", "")) for c in members["columns"]]
        self.confidence = float(members["confidence"])
        self.cost = Amounts._of(members["cost"])
        left = members.get("remaining")
        self.remaining = Amounts._of(left) if left else None
        self.mechanisms: list[Mapping[str, Any]] = list(members["mechanisms"])
        self.notes: list[str] = list(members.get("notes", ()))
        self.kept: list[str] = list(members.get("kept", ()))
        self.statement: str = members["statement"]


class Explanation(_Answer):
    """What a statement would cost, and how large its error would be."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.expected_error: dict[str, float] = {e.get("of", e["column"]): float(e["error"]) for e in members["expected_error"]}
        self.certificate: Mapping[str, Any] = members["certificate"]
        self.engine_sql: list[str] = list(members["engine_sql"])

    def __str__(self) -> str:
        lines = [f"cost: {self.cost}"]
        if self.remaining:
            lines.append(f"left: {self.remaining}")
        lines += [f"{name}: off by at most {error:g}, with confidence {self.confidence:g}" for name, error in self.expected_error.items()]
        return "\n".join(lines + [f"note: {n}" for n in self.notes])

    __repr__ = __str__


class Result(_Answer):
    """An answer: its rows, an interval for each noisy value, what it cost and what remains."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        read = [_reader(c.type) for c in self.columns]
        self.rows: list[tuple[Value, ...]] = [
            tuple(r(v) for r, v in zip(read, row, strict=True)) for row in members["rows"]
        ]
        self.intervals: list[tuple[tuple[Value, Value] | None, ...]] = [
            tuple(None if i is None else (r(i[0]), r(i[1])) for r, i in zip(read, row, strict=True))
            for row in members["intervals"]
        ]
        self.reused = bool(members.get("reused", False))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self.rows)} rows of {', '.join(c.name for c in self.columns)}; cost {self.cost}; left {self.remaining}>"

    def _bounded(self, j: int) -> bool:
        return self.columns[j].noisy and not self.columns[j].why

    def _series(self) -> list[tuple[str, str, list[Value]]]:
        """Return names, types and values of the columns, with NAME_low and NAME_high after a noisy NAME."""
        taken: dict[str, int] = {}

        def unique(name: str) -> str:
            taken[name] = taken.get(name, 0) + 1
            return name if taken[name] == 1 else unique(f"{name}_{taken[name]}")

        out: list[tuple[str, str, list[Value]]] = []
        for j, c in enumerate(self.columns):
            name = unique(c.name)
            out.append((name, c.type, [row[j] for row in self.rows]))
            if self._bounded(j):
                for at, end in enumerate(("low", "high")):
                    bounds = [i[at] if (i := row[j]) is not None else None for row in self.intervals]
                    out.append((unique(f"{name}_{end}"), c.type, bounds))
        return out

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with the columns NAME_low and NAME_high after each noisy NAME."""
        import pandas as pd

        columns = {name: pd.Series(values, dtype=_pandas(kind), name=name) for name, kind, values in self._series()}
        frame = pd.DataFrame(columns)
        frame.attrs = {"cost": str(self.cost), "remaining": str(self.remaining), "confidence": self.confidence}
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame with the columns NAME_low and NAME_high after each noisy NAME."""
        import polars as pl

        return pl.DataFrame([pl.Series(name, values, dtype=_polars(kind)) for name, kind, values in self._series()])

    def plot(self, x: str | None = None, y: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw a noisy column with its intervals as error bars over the rows, named by another column.

        Without names it draws the first column that has intervals, over the first exact one.
        """
        names = [c.name for c in self.columns]
        if y is None:
            y = next((c.name for j, c in enumerate(self.columns) if self._bounded(j)), None)
        if y not in names:
            raise ValueError("no column has intervals" if y is None else f"there is no column {y}")
        if x is None:
            x = next((c.name for c in self.columns if not c.noisy), None)
        elif x not in names:
            raise ValueError(f"there is no column {x}")
        at = names.index(y)
        drawn = [i for i, row in enumerate(self.rows) if isinstance(row[at], int | float | Decimal)]
        values = [_number(self.rows[i][at]) for i in drawn]
        below, above = [], []
        for i, value in zip(drawn, values, strict=True):
            interval = self.intervals[i][at]
            low, high = (value, value) if interval is None else (_number(interval[0]), _number(interval[1]))
            below.append(max(0.0, value - low))
            above.append(max(0.0, high - value))
        labels = [str(i + 1) if x is None else str(self.rows[i][names.index(x)]) for i in drawn]
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots()[1]
        ax.errorbar(range(len(values)), values, yerr=[below, above], fmt="o", capsize=4)
        ax.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
        ax.set_xlabel(x or "row")
        ax.set_ylabel(f"{y}, with intervals of confidence {self.confidence:g}")
        return ax

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(c.name)}</th>" for c in self.columns)
        body = ""
        for row, intervals in zip(self.rows, self.intervals, strict=True):
            cells = ""
            for value, interval in zip(row, intervals, strict=True):
                text = "" if value is None else escape(_shown(value))
                if interval is not None:
                    text += f" <small>({escape(_shown(interval[0]))} to {escape(_shown(interval[1]))})</small>"
                cells += f"<td>{text}</td>"
            body += f"<tr>{cells}</tr>"
        foot = f"confidence {self.confidence:g}; cost: {self.cost}; left: {self.remaining}"
        if self.reused:
            foot += "; a stored answer: nothing was charged"
        notes = "".join(f"<br>note: {escape(n)}" for n in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p><small>{escape(foot)}{notes}</small></p>"


class Table:
    """What is declared of a table or view, and what may be asked about it."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.raw = members
        self.name: str = members["table"]
        self.public: bool = members["public"]
        self.domain: str = members.get("domain", "")
        self.unit: str = members.get("unit", "")
        self.columns: list[Mapping[str, Any]] = list(members["columns"])

    def __repr__(self) -> str:
        kind = "public" if self.public else f"protects a unit of {self.domain or 'a domain'}"
        return f"<{self.name}: {kind}; {', '.join(c['name'] + ' ' + c['type'] for c in self.columns)}>"


class Domain:
    """The budget of a domain: its limit, what was spent, and what remains."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.raw = members
        self.name: str = members["domain"]
        self.measure: str = members["measure"]
        self.limit = Amounts._of(members["limit"])
        self.spent = Amounts._of(members["spent"])
        self.remaining = Amounts._of(members["remaining"])
        self.suspended: bool = members["suspended"]

    def __repr__(self) -> str:
        return f"<{self.name}: spent {self.spent} of {self.limit}; left {self.remaining}>"


class Entry:
    """One record of the ledger."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.raw = members
        self.record: int = members["record"]
        self.kind: str = members["kind"]
        self.time = datetime.datetime.fromisoformat(_microseconds(members["time"]))
        self.analyst: str = members.get("analyst", "")
        self.statement: str = members.get("statement", "")
        self.answered: bool = members["answered"]
        charge = members.get("charge")
        self.charge = Amounts._of(charge) if charge else None

    def __repr__(self) -> str:
        return f"<{self.record} {self.kind} {self.analyst} {self.statement!r}: {self.charge}>"


def _microseconds(time: str) -> str:
    """Cut a time after its microseconds, the last that datetime has."""
    time = time.replace("Z", "+00:00")
    head, point, tail = time.partition(".")
    if not point:
        return time
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return head + "." + tail[:digits][:6].ljust(6, "0") + tail[digits:]


def _reader(kind: str) -> Callable[[Any], Value]:
    """Return what makes a Python value of a JSON value of an SQL type."""
    by_type: dict[str, Callable[[Any], Value]] = {
        "real": float,
        "double": float,
        "date": datetime.date.fromisoformat,
        "time": datetime.time.fromisoformat,
        "timestamp": datetime.datetime.fromisoformat,
    }
    if kind.startswith("decimal"):
        by_type[kind] = Decimal

    def value(v: Any) -> Value:
        read = by_type.get(kind)
        if v is None or read is None:
            out: Value = v
            return out
        try:
            return read(v)
        except ValueError:
            return str(v)  # a date that Python has no place for, such as infinity

    return value


def _number(v: Value) -> float:
    if not isinstance(v, int | float | Decimal):
        raise TypeError(f"{v!r} is no number")
    return float(v)


def _shown(v: Value) -> str:
    return f"{v:,.6g}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) and not isinstance(v, bool) else str(v)


def _pandas(kind: str) -> str:
    numbers = {"smallint": "Int64", "integer": "Int64", "bigint": "Int64", "real": "float64", "double": "float64"}
    return numbers.get(kind, "boolean" if kind == "boolean" else "object")


def _polars(kind: str) -> Any:
    import polars as pl

    if kind.startswith("decimal"):
        precision, _, scale = kind[len("decimal(") : -1].partition(",")
        return pl.Decimal(int(precision), int(scale or 0))
    return {
        "boolean": pl.Boolean,
        "smallint": pl.Int64,
        "integer": pl.Int64,
        "bigint": pl.Int64,
        "real": pl.Float64,
        "double": pl.Float64,
        "date": pl.Date,
        "time": pl.Time,
        "timestamp": pl.Datetime("us"),
    }.get(kind, pl.String)
