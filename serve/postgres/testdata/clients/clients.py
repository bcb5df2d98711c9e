"""Asks the server under test through Python's clients. Usage: clients.py HOST PORT PASSWORD"""

import asyncio
import datetime
import decimal
import sys
from urllib.parse import quote

import asyncpg
import pandas
import polars
import psycopg
import psycopg2
import sqlalchemy

host, port, password = sys.argv[1:]
grouped = "SELECT department, count(*) AS visits, avg(cost) AS cost FROM visits GROUP BY department ORDER BY department"
options = "-c discreet.rho=0.0001"
dsn = f"host={host} port={port} user=anna password='{password}' dbname=discreet"
url = f"anna:{quote(password)}@{host}:{port}/discreet?options={quote(options)}"
everything = (
    "SELECT true, 1::smallint, 2::int, 3::bigint, 1.5::real, 2.5::double precision, 1.25::decimal(5,2), 'x', "
    "DATE '2024-02-29', TIME '12:34:56.7', TIMESTAMP '2024-02-29 12:00:00', INTERVAL '2 days 03:04:05', NULL"
)
meant = (
    True, 1, 2, 3, 1.5, 2.5, decimal.Decimal("1.25"), "x", datetime.date(2024, 2, 29), datetime.time(12, 34, 56, 700000),
    datetime.datetime(2024, 2, 29, 12), datetime.timedelta(days=2, hours=3, minutes=4, seconds=5), None,
)


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, not {want!r}")


def use_psycopg():
    with psycopg.connect(dsn, options=options) as c:
        for binary in False, True:
            cursor = c.cursor(binary=binary)
            check("groups", len(cursor.execute(grouped).fetchall()), 8)
            check("types", cursor.execute(everything).fetchone(), meant)
        for _ in range(7):  # it prepares what it sees often
            check("parameter", c.execute("SELECT name FROM departments WHERE name = %s", ("ICU",)).fetchall(), [("ICU",)])
        since = datetime.datetime(2025, 3, 1)
        c.execute("SELECT count(*) FROM visits WHERE age > %s AND cost < %s AND seen_at >= %s", (30, decimal.Decimal("100.5"), since)).fetchone()
        with c.cursor("portions") as cursor:
            cursor.execute(grouped)
            check("portions", [len(cursor.fetchmany(3)), len(cursor.fetchall())], [3, 5])
        with c.cursor().copy("COPY (SELECT name FROM departments ORDER BY name) TO STDOUT") as copy:
            check("copy", list(copy.rows())[0], ("Cardiology",))
    with psycopg.connect(dsn, autocommit=True) as c:
        with c.pipeline():
            first, second = c.execute("SELECT 1"), c.execute("SELECT 2")
            check("pipeline", [first.fetchall(), second.fetchall()], [[(1,)], [(2,)]])
        try:
            c.execute("SELECT count(*) FROM visit")
        except psycopg.errors.UndefinedTable as e:
            check("place", (e.diag.statement_position, e.diag.message_hint), ("22", "did you mean visits?"))
        else:
            sys.exit("an unknown table was answered")


def use_psycopg2():
    c = psycopg2.connect(dsn, options=options)
    cursor = c.cursor()
    cursor.execute(grouped)
    check("groups", len(cursor.fetchall()), 8)
    c.rollback()
    c.close()


def use_asyncpg():
    async def ask():
        c = await asyncpg.connect(host=host, port=int(port), user="anna", password=password, database="discreet", server_settings={"discreet.rho": "0.0001"})
        check("groups", len(await c.fetch(grouped)), 8)
        check("parameter", (await c.fetch("SELECT name FROM departments WHERE name = $1", "ICU"))[0]["name"], "ICU")
        async with c.transaction():
            check("cursor", len([row async for row in c.cursor("SELECT name FROM departments", prefetch=3)]), 8)
        await c.reset()
        await c.close()

    asyncio.run(ask())


def use_sqlalchemy():
    engine = sqlalchemy.create_engine("postgresql+psycopg://" + url)
    check("tables", sorted(sqlalchemy.inspect(engine).get_table_names()), ["departments", "visits"])
    visits = sqlalchemy.Table("visits", sqlalchemy.MetaData(), autoload_with=engine)
    check("columns", [c.name for c in visits.columns], ["patient_id", "department", "age", "sex", "seen_at", "cost"])
    with engine.connect() as c:
        q = sqlalchemy.select(visits.c.department, sqlalchemy.func.count().label("n")).where(visits.c.age > 30).group_by(visits.c.department)
        check("groups", len(c.execute(q).fetchall()), 8)
    frame = pandas.read_sql(grouped, engine)
    check("pandas", ([str(t) for t in frame.dtypes[1:]], len(frame)), (["int64", "float64"], 8))
    with engine.connect() as c:
        check("polars", polars.read_database(grouped, c).dtypes, [polars.String, polars.Int64, polars.Float64])


def use_polars():
    for engine in "connectorx", "adbc":
        frame = polars.read_database_uri(grouped, "postgresql://" + url, engine=engine)
        check(engine, frame.dtypes, [polars.String, polars.Int64, polars.Float64])


for use in use_psycopg, use_psycopg2, use_asyncpg, use_sqlalchemy, use_polars:
    use()
    print(use.__name__.removeprefix("use_"))
