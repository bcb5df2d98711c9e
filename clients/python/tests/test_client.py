"""Tests against a real server, whose address and token the environment has."""

import datetime
import json
import os
import subprocess
import sys
from decimal import Decimal

import httpx
import pytest

import discreet

GROUPED = "SELECT department, count(*) AS visits, avg(cost) AS price FROM visits GROUP BY department ORDER BY department"


@pytest.fixture
def db():
    with discreet.connect() as client:
        yield client


def test_query(db):
    r = db.query(GROUPED, rho="0.001")
    assert len(r) == 8 and [c.name for c in r.columns] == ["department", "visits", "price"]
    assert r.cost.rho == Decimal("0.001") and r.remaining.measure == "zcdp" and r.remaining.rho > 0
    low, high = r.intervals[0][1]
    assert low <= r.rows[0][1] <= high and isinstance(r.rows[0][2], float)
    assert "<table>" in r._repr_html_()


def test_a_repetition_is_free_and_fresh_pays(db):
    first = db.query("SELECT count(*) AS n FROM visits", rho=0.001)
    again = db.query("SELECT count(*) AS n FROM visits", rho=Decimal("0.001"))
    assert again.reused and again.rows == first.rows and not db.query("SELECT count(*) AS n FROM visits", rho=0.001, fresh=True).reused


def test_free_charges_nothing(db):
    # No version of these data is declared, so that nothing that is stored serves another statement.
    before = db.budget()[0].spent
    for ask in (db.query, db.explain):
        with pytest.raises(discreet.Refused) as e:
            ask("SELECT department, sum(cost) FROM visits GROUP BY department", rho="0.1", free=True)
        assert e.value.code == "D070" and "may cost nothing" in str(e.value)
    assert db.budget()[0].spent == before


def test_an_accuracy_has_its_price(db):
    sql = "SELECT count(*) AS n FROM visits WHERE age > 2"
    near, far = db.explain(sql, accuracy=500), db.explain(sql, accuracy="2000")
    assert near.cost.rho > far.cost.rho > 0
    r = db.query(sql, accuracy=2000)
    low, high = r.intervals[0][0]
    assert r.cost.rho == far.cost.rho and 2000 < high - low <= 4000
    with pytest.raises(discreet.Refused) as e:
        db.query(sql, accuracy=2000, rho="0.1")
    assert e.value.code == "D260"


def test_parameters_and_types(db):
    r = db.query(
        "SELECT count(*) AS n, sum(cost) > 0 AS some FROM visits WHERE age > $1 AND sex = $2 AND seen_at < $3",
        [50, "F", "2025-07-01"],
        rho="0.001",
    )
    assert isinstance(r.rows[0][0], int) and isinstance(r.rows[0][1], bool)


def test_explain_is_free(db):
    before = db.budget()[0].spent
    e = db.explain(GROUPED, rho="0.01")
    assert set(e.expected_error) == {"visits", "price"} and e.cost.rho == Decimal("0.01") and "cost: rho 0.01" in str(e)
    assert db.budget()[0].spent == before


def test_tables_budget_history(db):
    assert [t.name for t in db.tables()] == ["visits", "departments"] and db.table("departments").public
    db.query("SELECT count(*) AS n FROM visits WHERE age > 1", rho="0.001")
    newest = next(db.history())
    assert newest.analyst == "anna" and newest.charge.rho == Decimal("0.001") and isinstance(newest.time, datetime.datetime)
    assert db.account("10 * gaussian(3)", delta=1e-6)["best"]["accountant"] == "gdp"


@pytest.mark.parametrize(
    ("sql", "amounts", "kind", "code"),
    [
        ("SELECT age FROM visits", {"rho": 1}, discreet.Refused, "D041"),
        ("SELECT nothing FROM visits", {"rho": 1}, discreet.Refused, "D011"),
        (GROUPED, {}, discreet.Refused, "D070"),
        (GROUPED, {"rho": 100}, discreet.BudgetExhausted, "D076"),
    ],
)
def test_refusals(db, sql, amounts, kind, code):
    with pytest.raises(kind) as e:
        db.query(sql, **amounts)
    assert e.value.code == code and e.value.hint
    if code == "D011":
        assert "  1 | SELECT nothing FROM visits\n    |        ^^^^^^^" in str(e.value)


def test_who_is_nobody():
    with discreet.connect(token="discreet_0000000000000000_AAAA") as db, pytest.raises(discreet.NotSignedIn):
        db.budget()
    for url in ("", "data.example", "http://data.example"):
        with pytest.raises(ValueError):
            discreet.connect(url or "ftp://x", "secret")


def test_frames(db):
    r = db.query(GROUPED, rho="0.001")
    names = ["department", "visits", "visits_low", "visits_high", "price", "price_low", "price_high"]
    frame = r.to_pandas()
    assert list(frame.columns) == names and (frame.visits_low <= frame.visits).all() and str(frame.visits.dtype) == "Int64"
    other = r.to_polars()
    assert other.columns == names and other["visits"].to_list() == frame.visits.to_list()


def test_plot(db):
    import matplotlib

    matplotlib.use("Agg")
    ax = db.query(GROUPED, rho="0.001").plot()
    assert len(ax.containers) == 1 and ax.get_xticklabels()[0].get_text() == "Cardiology" and ax.get_ylabel().startswith("visits")


def test_magic(db):
    from IPython.testing.globalipapp import get_ipython, start_ipython

    ip = start_ipython() or get_ipython()
    ip.user_ns["db"] = db
    ip.run_line_magic("load_ext", "discreet")
    r = ip.run_cell_magic("discreet", "--rho 0.001 answer", "SELECT count(*) AS n FROM visits")
    assert ip.user_ns["answer"] is r and len(r) == 1
    with pytest.raises(discreet.Refused, match="may cost nothing"):
        ip.run_cell_magic("discreet", "--free --rho 0.5", "SELECT count(*) AS n FROM visits WHERE age > 3")
    assert ip.run_cell_magic("discreet", "--explain --rho 0.5", "SELECT count(*) AS n FROM visits").cost.rho == Decimal("0.5")
    assert ip.run_cell_magic("discreet", "--explain --accuracy 500", "SELECT count(*) AS n FROM visits").cost.rho > 0


def test_a_lost_connection_is_charged_once():
    """The server's answer is lost twice; the third try gets it, with the same key."""
    keys = []

    def serve(request):
        keys.append((request.headers.get("Idempotency-Key"), json.loads(request.content)["rho"]))
        if len(keys) < 3:
            raise httpx.ReadError("lost")
        return httpx.Response(202, json={"approval": "7"})

    with discreet.connect("http://127.0.0.1:1", "t", transport=httpx.MockTransport(serve)) as db, pytest.raises(discreet.Pending) as e:
        db.query("SELECT 1", rho=0.1, fresh=True)
    assert e.value.approval == "7" and len(set(keys)) == 1 and keys[0][0] and keys[0][1] == "0.1"


def test_types_are_strict():
    # What it has read of the libraries is kept for all clones, as .ci/kept does.
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "discreet", "mypy")
    try:
        os.makedirs(cache, exist_ok=True)
    except OSError:
        cache = os.devnull
    out = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache], capture_output=True, text=True, cwd=os.path.dirname(os.path.dirname(__file__)))
    assert out.returncode == 0, out.stdout + out.stderr
