"""The connection to a server."""

from __future__ import annotations

import ipaddress
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from decimal import Decimal
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from .errors import Pending, refusal
from .result import Domain, Entry, Explanation, Result, Table

Amount = str | int | float | Decimal
"""An amount of privacy loss. A float means the shortest decimal that it prints as: 0.1 is one tenth."""

Value = str | int | float | bool | Decimal | None
Parameter = Value | Sequence[Value]
"""The value of $1, $2 and so on; a list is an array, for ``x = ANY ($1)``."""

_ATTEMPTS = 3


def connect(
    url: str | None = None,
    token: str | None = None,
    *,
    timeout: float = 600.0,
    transport: httpx.BaseTransport | None = None,
) -> Client:
    """Return a client of the server at url, as the account whose token it is.

    What is not given is taken from the variables DISCREET_URL and DISCREET_TOKEN. A token is
    sent over https, or to this machine, alone.
    """
    url = url or os.environ.get("DISCREET_URL", "")
    token = token or os.environ.get("DISCREET_TOKEN", "")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"no server: want something like https://data.example, not {url!r}")
    if parts.scheme == "http" and not _loopback(parts.hostname):
        raise ValueError("a token goes over https, or to this machine")
    if not token:
        raise ValueError("no token: the owner makes one with discreet user add NAME --token")
    return Client(
        httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=timeout,
            transport=transport,
            follow_redirects=False,
        )
    )


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Client:
    """A server, asked as one account. Closing it, or leaving its with block, closes its connections."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def query(
        self,
        sql: str,
        params: Sequence[Parameter] = (),
        *,
        epsilon: Amount | None = None,
        delta: Amount | None = None,
        rho: Amount | None = None,
        accuracy: Amount | None = None,
        confidence: Amount | None = None,
        fresh: bool = False,
        free: bool = False,
        key: str | None = None,
    ) -> Result:
        """Answer a statement. It spends budget, which never comes back: explain is free.

        A statement that the account had answered before returns that answer and costs nothing,
        unless fresh is set. With a key, a retry of the same statement returns its answer even
        then; without one, a fresh statement has a key of its own, so that a lost connection
        never makes it cost twice. With an accuracy in the place of an amount it costs the least
        at which counts and sums are off by that at most, with the confidence. With free nothing
        is charged, whatever amount is named: what is stored answers, as precise as it is, or the
        statement is refused (D070).
        """
        body = _statement(sql, params, epsilon, delta, rho, accuracy, confidence, free)
        headers = {}
        if fresh:
            body["fresh"] = True
            key = key or str(uuid.uuid4())
        if key:
            headers["Idempotency-Key"] = key
        return Result(self._ask("POST", "/v1/query", body, headers, sql))

    def explain(
        self,
        sql: str,
        params: Sequence[Parameter] = (),
        *,
        epsilon: Amount | None = None,
        delta: Amount | None = None,
        rho: Amount | None = None,
        accuracy: Amount | None = None,
        confidence: Amount | None = None,
        free: bool = False,
    ) -> Explanation:
        """Say what a statement would cost and how large its error would be. It is free.

        With free it says so of the stored answer that query would return with it.
        """
        body = _statement(sql, params, epsilon, delta, rho, accuracy, confidence, free)
        return Explanation(self._ask("POST", "/v1/explain", body, {}, sql))

    def tables(self) -> list[Table]:
        """Say what may be asked about."""
        return [Table(t) for t in self._ask("GET", "/v1/tables")["tables"]]

    def table(self, name: str) -> Table:
        """Say what may be asked about in one table."""
        return Table(self._ask("GET", "/v1/tables/" + quote(name, safe=""))["tables"][0])

    def budget(self) -> list[Domain]:
        """Say of each domain what was spent and what is left."""
        return [Domain(d) for d in self._ask("GET", "/v1/budget")["domains"]]

    def history(self) -> Iterator[Entry]:
        """Go through what was asked, the newest first."""
        path = "/v1/history?limit=200"
        while True:
            page = self._ask("GET", path)
            for entry in page["history"]:
                yield Entry(entry)
            if page["before"] is None:
                return
            path = f"/v1/history?limit=200&before={page['before']}"

    def account(self, plan: str, *, delta: Amount | None = None, epsilon: Amount | None = None) -> dict[str, Any]:
        """Bound what a plan of releases reveals: epsilon at delta, or delta at epsilon."""
        body: dict[str, Any] = {"plan": plan}
        for name, amount in (("delta", delta), ("epsilon", epsilon)):
            if amount is not None:
                body[name] = _decimal(amount)
        return self._ask("POST", "/v1/account", body, {}, plan)

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        statement: str = "",
    ) -> dict[str, Any]:
        """Send a request, again if the connection is lost: what was answered is not charged again."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._http.request(method, path, json=body, headers=headers)
                break
            except httpx.TransportError:
                if attempt == _ATTEMPTS:
                    raise
        try:
            members = json.loads(answer.text, parse_float=Decimal)
        except ValueError:
            members = None
        if not isinstance(members, dict):
            raise refusal(answer.status_code, {"code": "", "message": f"the server answers {answer.status_code}"}, "")
        if answer.status_code == 202:
            raise Pending(str(members.get("approval", "")))
        if answer.status_code != 200:
            raise refusal(answer.status_code, members, statement)
        return members


def _statement(
    sql: str,
    params: Sequence[Parameter],
    epsilon: Amount | None,
    delta: Amount | None,
    rho: Amount | None,
    accuracy: Amount | None,
    confidence: Amount | None,
    free: bool,
) -> dict[str, Any]:
    body: dict[str, Any] = {"sql": sql}
    if free:
        body["free"] = True
    if isinstance(params, str):
        raise TypeError("params is a sequence of values, not a string")
    if len(params) > 0:
        body["params"] = [_value(p) for p in params]
    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho, "accuracy": accuracy, "confidence": confidence}
    body.update({name: _decimal(amount) for name, amount in amounts.items() if amount is not None})
    return body


def _value(parameter: Parameter) -> Any:
    if isinstance(parameter, Decimal):
        return str(parameter)
    if isinstance(parameter, Sequence) and not isinstance(parameter, str | bytes):
        if any(isinstance(item, Decimal) for item in parameter):  # a list is of one kind
            return [item if item is None or isinstance(item, bool) else str(item) for item in parameter]
        return list(parameter)
    return parameter


def _decimal(amount: Amount) -> str:
    """Return the decimal that was written."""
    if isinstance(amount, bool):
        raise TypeError("an amount is a number")
    return amount if isinstance(amount, str) else repr(amount) if isinstance(amount, float) else str(amount)
