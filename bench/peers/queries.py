"""Answers the statements of bench/rmse by another library, and prints the error of each.

Usage: queries.py smartnoise | polars | google [FILE], with what TestErrors writes on standard input. What was measured is kept
in FILE, statement by statement, and not measured again. Prints one object of JSON: by statement and epsilon, the root mean square error of each aggregate over all draws and
groups. Each statement has the same guarantee and the same bounds as Discreet's; a group that is not shown has the
count and the sum 0 and an average in the middle of the bounds, and averages are clamped to the bounds,
as any user could. What a library does not answer is left out, and said on standard error.
"""

import csv
import importlib.metadata
import json
import math
import os
import sys

NUMBERS = {"age", "hours_per_week", "education_num", "capital_gain", "capital_loss", "fnlwgt", "visit_month"}


class Question:
    def __init__(self, raw, tables, given):
        self.id, self.table_name = raw["id"], raw["table"]
        self.table = tables[raw["table"]]
        self.keys, self.private = raw.get("keys", []), raw.get("private", False)
        self.aggregates, self.where = raw["aggregates"], raw.get("where")
        self.domains = [given["domains"][k] for k in self.keys]
        truth = given["truth"][self.id]
        self.truth = {tuple(k): v for k, v in zip(truth["keys"], truth["values"])}
        self.draws = max(4, math.ceil(given["errors"] / len(self.truth)))
        groups = 1
        for d in self.domains:
            groups *= len(d)
        # As Discreet's: never more groups than there are, and one without GROUP BY.
        self.max_groups = self.table["max_groups"] if self.private else min(self.table["max_groups"], groups)
        self.max_rows = self.table["max_rows"]

    def bounds(self, column):
        return self.table["bounds"][column]

    def kept(self, row):
        if not self.where:
            return True
        column, operator, value = self.where
        have = row[column]
        return {"=": have == value, ">": operator == ">" and have > value, ">=": operator == ">=" and have >= value}[operator]

    def combinations(self):
        out = [()]
        for d in self.domains:
            out = [key + (v,) for key in out for v in d]
        return out

    def unknown(self, aggregate):
        function, column = aggregate
        if function in ("avg", "median"):
            return sum(self.bounds(column)) / 2
        if function == "stddev":
            low, high = self.bounds(column)
            return (high - low) / 2
        return 0.0

    def possible(self, aggregate, x):
        """What anybody would make of it."""
        function, column = aggregate
        if x is None or not math.isfinite(x):
            return self.unknown(aggregate)
        if function in ("avg", "median"):
            low, high = self.bounds(column)
            return min(max(x, low), high)
        if function == "stddev":
            low, high = self.bounds(column)
            return min(max(x, 0.0), (high - low) / 2)
        return x

    def errors(self, answers):
        """answers: dictionaries from a group's key to the values of its aggregates."""
        squares, n = [0.0] * len(self.aggregates), 0
        for shown in answers:
            for key, exact in self.truth.items():
                n += 1
                for i, aggregate in enumerate(self.aggregates):
                    x = self.possible(aggregate, shown[key][i]) if key in shown else self.unknown(aggregate)
                    squares[i] += (x - exact[i]) ** 2
        # Of whole numbers, an error that was never made counts as one of a half.
        return [math.sqrt((s if f in ("avg", "stddev") else max(s, 0.25)) / n) for s, (f, _) in zip(squares, self.aggregates)]


def rows_of(folder, name):
    def number(column, text):
        if column in NUMBERS or column == "patient_id":
            return int(text)
        return float(text) if column == "cost" else text

    with open(f"{folder}/{name}.csv", newline="") as f:
        out = [{c: number(c, t) for c, t in row.items()} for row in csv.DictReader(f)]
    for i, row in enumerate(out):
        row["row"] = i
    return out


def text_key(values):
    return tuple(str(v) for v in values)


def smartnoise(questions, given):
    """SmartNoise SQL takes epsilon for each noisy column: all columns of a statement share its cost."""
    import pandas
    import snsql
    from snsql import Privacy

    frames = {n: pandas.DataFrame(rows_of(given["folder"], n)).drop(columns=["row"]) for n in given["workload"]["tables"]}
    delta = float(given["workload"]["delta"])
    functions = {"count": "COUNT(*)", "units": "COUNT(DISTINCT patient_id)", "sum": "SUM({})", "avg": "AVG({})", "stddev": "STDDEV({})"}

    def metadata(q):
        columns = {}
        for c in frames[q.table_name].columns:
            if c == "patient_id":
                columns[c] = {"type": "int", "private_id": True}
            elif c in q.table["bounds"] and c == "cost":
                columns[c] = {"type": "float", "lower": float(q.bounds(c)[0]), "upper": float(q.bounds(c)[1])}
            elif c in q.table["bounds"]:
                columns[c] = {"type": "int", "lower": q.bounds(c)[0], "upper": q.bounds(c)[1]}
            elif c in NUMBERS:
                columns[c] = {"type": "int"}
            else:
                columns[c] = {"type": "string"}
        # It has one bound, of all rows of a unit.
        table = {"max_ids": q.max_groups * q.max_rows, "censor_dims": q.private, "row_privacy": not q.table["unit"],
                 "sample_max_ids": bool(q.table["unit"]), **columns}
        return {"": {"": {q.table_name: table}}}

    def answered(q, sql, frame, epsilon):
        def reader(share):
            return snsql.from_df(frame, privacy=Privacy(epsilon=float(epsilon) / share, delta=delta / share), metadata=metadata(q))

        columns = [m for m in reader(1)._get_mechanism_costs(sql) if m]
        r = reader(len(columns))
        # It parses, rewrites and calibrates at each call: here once, since nothing changes.
        parsed, rewritten = r.parse_query_string(sql), r._rewrite(sql)
        mechanisms = r._get_mechanisms(rewritten[0])
        r.parse_query_string, r._rewrite_ast, r._get_mechanisms = lambda _: parsed, lambda _: rewritten, lambda _: mechanisms
        subquery = rewritten[0]
        exact = None
        for draw in range(q.draws):
            if draw % 20 == 0:  # which rows are kept is drawn anew from time to time: it takes longest
                exact = list(r._get_reader(subquery)._execute_ast(subquery))
            rows = r.execute(sql, pre_aggregated=[tuple(x) for x in exact])[1:]
            yield {text_key(row[: len(q.keys)]): [float(x) for x in row[len(q.keys):]] for row in rows}

    for q in questions:
        if any(f not in functions for f, _ in q.aggregates):
            yield q, None, "no quantiles"
            continue
        selected = q.keys + [functions[f].format(c) + f" AS a{i}" for i, (f, c) in enumerate(q.aggregates)]
        sql = "SELECT " + ", ".join(selected) + f" FROM {q.table_name}"
        frame = frames[q.table_name]
        if q.where:
            value = f"'{q.where[2]}'" if isinstance(q.where[2], str) else q.where[2]
            sql += f" WHERE {q.where[0]} {q.where[1]} {value}"
        if q.keys:
            sql += " GROUP BY " + ", ".join(q.keys)
        for epsilon in given["workload"]["epsilons"]:
            try:
                answers = list(answered(q, sql, frame, epsilon))
            except Exception as e:  # what its grammar lacks, say
                yield q, None, " ".join(f"{type(e).__name__}: {e}".split())[:300]
                break
            yield q, (epsilon, q.errors(answers)), None


def polars(questions, given):
    """OpenDP's context: one query has the whole loss, which it splits."""
    import polars as pl
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    delta = float(given["workload"]["delta"])
    frames = {n: pl.read_csv(f"{given['folder']}/{n}.csv") for n in given["workload"]["tables"]}
    frames["visits"] = frames["visits"].with_columns(pl.col("cost").cast(pl.Float64))
    for q in questions:
        frame = frames[q.table_name]
        by = list(q.keys)

        def aggregate(i, function, column):
            if function == "count":
                return dp.len(signed=True).alias(f"a{i}")
            low, high = q.bounds(column) if column != "*" else (None, None)
            if function == "units":
                return pl.col("patient_id").dp.n_unique(signed=True).alias(f"a{i}")
            if column == "cost":
                low, high = float(low), float(high)
                x = pl.col(column).fill_nan(low).fill_null(low)
            else:
                x = pl.col(column).fill_null(low)
            if function == "sum":
                return x.dp.sum((low, high)).alias(f"a{i}")
            if function == "avg":
                return x.dp.mean((low, high)).alias(f"a{i}")
            if function == "median":
                step = (high - low) / 100 if column == "cost" else 1
                count = int((high - low) / step)
                return x.dp.median([low + j * step for j in range(count + 1)]).alias(f"a{i}")
            raise NotImplementedError(function)

        try:
            expressions = [aggregate(i, f, c) for i, (f, c) in enumerate(q.aggregates)]
        except NotImplementedError as e:
            yield q, None, f"no {e}"
            continue
        # rows in all and in a group, as public knowledge: sums of floating-point numbers need it
        margins = [dp.polars.Margin(by=[], max_length=1_000_000)]
        if by:
            margins.append(dp.polars.Margin(by=by, max_length=1_000_000, max_groups=1000))
        for epsilon in given["workload"]["epsilons"]:
            answers, failed = [], None
            if q.table["unit"]:
                unit = dp.unit_of(contributions=1, identifier=pl.col(q.table["unit"]))
            else:
                unit = dp.unit_of(contributions=1)
            context = dp.Context.compositor(data=frame.lazy(), privacy_unit=unit,
                                            privacy_loss=dp.loss_of(epsilon=float(epsilon), delta=delta if q.private else None),
                                            split_evenly_over=1, margins=margins)
            query = context.query()
            try:
                if q.where:
                    c, operator, value = q.where
                    query = query.filter({"=": pl.col(c) == value, ">": pl.col(c) > value if operator == ">" else None,
                                          ">=": pl.col(c) >= value if operator == ">=" else None}[operator])
                if q.table["unit"]:
                    rows = 1 if all(f == "units" for f, _ in q.aggregates) else q.max_rows
                    query = query.truncate_per_group(rows, by=by)
                    if by:
                        # "sample", the default, fails on one key in 0.16.0: a field is there twice
                        query = query.truncate_num_groups(q.max_groups, by=by, keep="first")
                if by:
                    query = query.group_by(by).agg(*expressions)
                    if not q.private:
                        keys = pl.DataFrame(q.combinations(), schema=by, orient="row").with_columns(
                            *(pl.col(k).cast(frame.schema[k]) for k in by))
                        query = query.with_keys(keys)
                else:
                    query = query.select(*expressions)
                measurement = query.resolve()  # once: it searches for the scale
                for _ in range(q.draws):
                    out = measurement(frame.lazy()).collect()
                    names = [f"a{i}" for i in range(len(q.aggregates))]
                    answers.append({text_key(row[k] for k in by): [None if row[n] is None else float(row[n]) for n in names]
                                    for row in out.to_dicts()})
            except Exception as e:  # it says in many ways what it does not do
                failed = " ".join(f"{type(e).__name__}: {e}".split())[:300]
            if failed:
                yield q, None, failed
                break
            yield q, (epsilon, q.errors(answers)), None


def google(questions, given):
    """PipelineDP over Google's building blocks. What is drawn anew is the noise, and which groups are chosen."""
    import pipeline_dp
    from pipeline_dp.pipeline_backend import LocalBackend

    class Again:
        """Computes anew each time it is looked at."""

        def __init__(self, make):
            self.make = make

        def __iter__(self):
            return iter(self.make())

    class Backend(LocalBackend):
        def map_values(self, col, fn, stage_name=None, resource_hints=None):
            if stage_name == "Compute DP metrics":
                return Again(lambda: ((k, fn(v)) for k, v in col))
            return super().map_values(col, fn, stage_name, resource_hints)

        def filter(self, col, fn, stage_name=None):
            if stage_name == "Filter private partitions":
                return Again(lambda: (x for x in col if fn(x)))
            return super().filter(col, fn, stage_name)

    M = pipeline_dp.Metrics
    metrics = {"count": M.COUNT, "units": M.PRIVACY_ID_COUNT, "sum": M.SUM, "avg": M.MEAN, "stddev": M.VARIANCE, "median": M.PERCENTILE(50)}
    names = {"count": "count", "units": "privacy_id_count", "sum": "sum", "avg": "mean", "stddev": "variance", "median": "percentile_50"}
    data = {n: rows_of(given["folder"], n) for n in given["workload"]["tables"]}
    for q in questions:
        rows = [r for r in data[q.table_name] if q.kept(r)]
        # One aggregation a column of values; counts go with the first.
        columns = list(dict.fromkeys(c for _, c in q.aggregates if c != "*")) or ["*"]
        for epsilon in given["workload"]["epsilons"]:
            accountant = pipeline_dp.NaiveBudgetAccountant(float(epsilon), float(given["workload"]["delta"]))
            engine = pipeline_dp.DPEngine(accountant, Backend())
            parts = []
            for column in columns:
                mine = [i for i, (_, c) in enumerate(q.aggregates) if c == column or (c == "*" and column == columns[0])]
                bounded = {} if column == "*" else dict(min_value=q.bounds(column)[0], max_value=q.bounds(column)[1])
                params = pipeline_dp.AggregateParams(
                    metrics=[metrics[q.aggregates[i][0]] for i in mine], max_partitions_contributed=q.max_groups,
                    max_contributions_per_partition=q.max_rows, **bounded)
                extractors = pipeline_dp.DataExtractors(
                    privacy_id_extractor=lambda r, u=q.table["unit"] or "row": r[u],
                    partition_extractor=lambda r: text_key(r[k] for k in q.keys),
                    value_extractor=(lambda r: 0) if column == "*" else (lambda r, c=column: r[c]))
                public = None if q.private else q.combinations()
                parts.append((mine, engine.aggregate(rows, params, extractors, public)))
            accountant.compute_budgets()
            answers = []
            for _ in range(q.draws):
                shown = {}
                for mine, result in parts:
                    for key, values in result:
                        out = shown.setdefault(key, [None] * len(q.aggregates))
                        for i in mine:
                            x = getattr(values, names[q.aggregates[i][0]])
                            out[i] = math.sqrt(max(x, 0)) if q.aggregates[i][0] == "stddev" else float(x)
                answers.append(shown)
            yield q, (epsilon, q.errors(answers)), None


PACKAGES = {"smartnoise": ["smartnoise-sql", "opendp"], "polars": ["opendp", "polars"], "google": ["pipeline-dp", "python-dp"]}


def main():
    library = sys.argv[1]
    if sys.argv[2:] == ["--versions"]:
        print(", ".join(f"{p} {importlib.metadata.version(p)}" for p in PACKAGES[library]))
        return
    given = json.load(sys.stdin)
    questions = [Question(raw, given["workload"]["tables"], given) for raw in given["workload"]["statements"]]
    kept, out = (sys.argv[2:] + [None])[0], {}
    if kept and os.path.exists(kept):
        with open(kept) as f:
            out = json.load(f)
    questions = [q for q in questions if len(out.get(q.id, {})) < len(given["workload"]["epsilons"])]
    for q, measured, why in {"smartnoise": smartnoise, "polars": polars, "google": google}[library](questions, given):
        if why is not None:
            print(f"{library} does not answer {q.id!r}: {why}", file=sys.stderr)
            continue
        out.setdefault(q.id, {})[measured[0]] = measured[1]
        if kept:
            with open(kept + ".new", "w") as f:
                json.dump(out, f)
            os.replace(kept + ".new", kept)
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
