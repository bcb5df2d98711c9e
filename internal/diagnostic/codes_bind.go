package diagnostic

import "strings"

// D010-D039: names and types.
var bindEntries = []Entry{
	{
		Code:  "D010",
		Title: "unknown table",
		Explain: "FROM names a table that neither the catalog nor a WITH query of the statement declares, or a column is qualified " +
			"with a table that FROM does not name. Only tables that the owner declared in the catalog exist. The message is " +
			"the same whether or not the file or database holds a table of that name.",
		Example: "SELECT count(*) FROM visit",
	},
	{
		Code:  "D011",
		Title: "unknown column",
		Explain: "No table in FROM has a column of this name. A column that the catalog does not declare does not exist, whatever " +
			"the file holds. Names fold to lower case unless they are quoted; text constants take single quotes. GROUP BY and " +
			"ORDER BY can use an output name of the select list; WHERE and HAVING cannot.",
		Example: "SELECT avg(agee) FROM visits",
	},
	{
		Code:  "D012",
		Title: "ambiguous name",
		Explain: "The name could mean several columns. Qualify it with its table, or give the tables aliases. In GROUP BY and " +
			"ORDER BY a column can also be named by its number in the select list.",
		Example: "SELECT age FROM visits AS a JOIN visits AS b USING (patient_id)",
	},
	{
		Code:  "D013",
		Title: "unknown function",
		Explain: "Discreet has a list of functions. Each has PostgreSQL's meaning, gives a value for every input (NULL where " +
			"PostgreSQL would raise an error), depends on its arguments alone, and cannot grow its output without bound. All " +
			"others are refused, whatever the engine offers. DISTINCT, FILTER and * are for aggregates alone. The functions " +
			"are abs, ascii, btrim, ceil, ceiling, char_length, character_length, coalesce, concat, concat_ws, date_diff, date_part, date_trunc, datetime_diff, datetime_trunc, exp, " +
			"extract, floor, format_date, format_datetime, format_timestamp, greatest, if, ifnull, initcap, least, left, length, ln, log, log10, lower, lpad, ltrim, mod, nullif, position, pow, power, " +
			"regexp_count, regexp_like, regexp_replace, regexp_substr, repeat, replace, reverse, right, round, rpad, rtrim, safe_divide, sign, split_part, sqrt, starts_with, strpos, substr, substring, " +
			"timestamp_diff, timestamp_seconds, timestamp_trunc, to_char, to_date, to_timestamp, translate, trim, trunc, upper, width_bucket; the aggregates are approx_count_distinct, approx_quantiles, approx_top_count, avg, bool_and, bool_or, corr, count, countif, covar_pop, covar_samp, every, logical_and, logical_or, max, median, min, mode, " +
			"percentile_cont, percentile_disc, regr_avgx, regr_avgy, regr_count, regr_intercept, regr_r2, regr_slope, regr_sxx, " +
			"regr_sxy, regr_syy, stddev, " +
			"stddev_pop, stddev_samp, sum, var_pop, var_samp, variance; with OVER also row_number, rank, dense_rank, percent_rank, cume_dist, " +
			"ntile, lag, lead, first_value, last_value, nth_value.",
		Example: "SELECT md5(department) FROM visits",
	},
	{
		Code:  "D014",
		Title: "neither aggregated nor a grouping key",
		Explain: "The statement groups its rows, and a group may hold many values of this column, so there is no single value to " +
			"show. Add the column to GROUP BY, or aggregate it. An expression of the select list may use a grouping " +
			"expression as a whole.",
		Example: "SELECT department, age FROM visits GROUP BY department",
	},
	{
		Code:  "D015",
		Title: "types do not fit",
		Explain: "The operator or function is not defined for these types, or one column would get values of different types. " +
			"Numbers convert to each other, dates to timestamps, and constants in quotes to the type that their place needs. " +
			"Everything else needs an explicit CAST.",
		Example: "SELECT department + 1 FROM visits",
	},
	{
		Code:    "D016",
		Title:   "wrong number of arguments",
		Explain: "The function or aggregate takes a different number of arguments, or an alias names more columns than the table has.",
		Example: "SELECT sqrt(cost, 2) FROM visits",
	},
	{
		Code:  "D017",
		Title: "constant out of range or malformed",
		Explain: "The constant is not a value of the type that its place needs. Dates are written as 2025-01-31, timestamps as " +
			"2025-01-31 12:30:00, intervals as 1 day 2 hours. Numbers must fit their type.",
		Example: "SELECT count(*) FROM visits WHERE seen_at > '2025-02-30'",
	},
	{
		Code:  "D018",
		Title: "aggregate in the wrong place",
		Explain: "WHERE, GROUP BY and JOIN conditions apply to single rows, so they cannot contain aggregates. Put conditions on " +
			"aggregates into HAVING. Aggregates do not nest: aggregate once in a subquery in FROM, and again around it. Only " +
			"count takes DISTINCT.",
		Example: "SELECT department FROM visits WHERE count(*) > 5 GROUP BY department",
	},
	{
		Code:  "D019",
		Title: "unknown type or cast",
		Explain: "The types are boolean, smallint, integer, bigint, real, double precision, numeric(p,s) with at most 38 digits, " +
			"text, varchar(n), date, time, timestamp and interval. Casts are those of PostgreSQL, without those between intervals " +
			"and text.",
		Example: "SELECT CAST(department AS uuid) FROM visits",
	},
	{
		Code:  "D020",
		Title: "pattern not supported",
		Explain: "The pattern of LIKE, ILIKE, ~ and ~* must be a constant, because a pattern from the data could fail or take " +
			"arbitrarily long. Regular expressions may use only what means the same in PostgreSQL and in the engine: " +
			"literals, ., bracket expressions with characters and ranges, ^ at the beginning and $ at the end of a branch, " +
			"groups, |, the greedy quantifiers * + ? {m,n}, \\d, and punctuation after a backslash. \\w and \\s match different " +
			"characters in the two: write [A-Za-z0-9_] or [ \\t] instead. Where the text of a match is told (substring, regexp_replace, " +
			"regexp_substr, regexp_count), the first match must also be the longest one: a|ab is refused. Where all matches are looked for, no text may be read " +
			"again for each of them: <[^>]*>|< is refused, <[^<>]*>|< is not.",
		Example: `SELECT count(*) FROM visits WHERE department ~ '\w+'`,
	},
	{
		Code:  "D021",
		Title: "constant required",
		Explain: "The value must be known before any data is read: LIMIT and OFFSET, the unit of date_trunc, the field of extract, " +
			"the digits of round, the bounds and thresholds of width_bucket, the texts of replace. In GROUP BY and ORDER BY it is the other " +
			"way round: a constant makes no sense as a key there, unless it is the number of a column.",
		Example: "SELECT replace(department, department, 'x') FROM visits",
	},
	{
		Code:  "D022",
		Title: "subquery not supported here",
		Explain: "IN (SELECT ...) and EXISTS become joins. So each must be a condition of its own in WHERE, perhaps with NOT, and " +
			"joined to the others by AND. Their WHERE may refer to the statement around them. A subquery used as a value must " +
			"have one row whatever the data: one aggregate without GROUP BY. Its WHERE may equate its own columns with columns around " +
			"it. Write any other subquery as a join in FROM.",
		Example: "SELECT count(*) FROM visits WHERE age > 80 OR department IN (SELECT name FROM departments)",
	},
	{
		Code:    "D023",
		Title:   "columns do not match",
		Explain: "Both sides of a UNION, and all rows of VALUES, must have the same number of columns, and the types of each column must have a common type. The subquery of IN, and a subquery used as a value, must have one column.",
		Example: "SELECT department, age FROM visits UNION ALL SELECT name FROM departments",
	},
	{
		Code:    "D024",
		Title:   "no such column number",
		Explain: "A number in GROUP BY or ORDER BY means that column of the select list, counted from 1.",
		Example: "SELECT department, count(*) FROM visits GROUP BY 3",
	},
	{
		Code:  "D025",
		Title: "interval as a key",
		Explain: "Two intervals can compare equal and still differ, as 1 month and 30 days do. Which of them a group or a minimum " +
			"shows would depend on the order of the rows. So GROUP BY, DISTINCT, ORDER BY, min, max, greatest and least do " +
			"not take intervals. Use the length in seconds: extract(epoch FROM ...).",
		Example: "SELECT max(seen_at - TIMESTAMP '2025-01-01 00:00:00') FROM visits",
	},
	{
		Code:    "D026",
		Title:   "name used twice",
		Explain: "Two tables in FROM, or two WITH queries, have the same name. Give one of them an alias.",
		Example: "SELECT count(*) FROM visits, visits",
	},
	{
		Code:  "D027",
		Title: "too many decimal digits",
		Explain: "A decimal holds at most 38 digits, and multiplication adds the digits after the point of both sides. Round a " +
			"factor first, or compute in double precision.",
		Example: "SELECT 0.00000000000000000001 * 0.00000000000000000001",
	},
	{
		Code:  "D028",
		Title: "statement too large",
		Explain: "A WITH query is copied at each of its uses, and BETWEEN and CASE x WHEN repeat an operand, so a short text can " +
			"mean a huge computation. A statement may have at most 1,000 relations, 10,000 repeated expressions and 10 " +
			"aggregations over one another (GROUP BY, DISTINCT, UNION).",
		Example: "WITH a AS (SELECT 1 AS x), " +
			strings.Join([]string{chain("b", "a"), chain("c", "b"), chain("d", "c"), chain("e", "d")}, ", ") + " SELECT count(*) FROM e",
	},
	{
		Code:  "D029",
		Title: "ORDER BY outside the output",
		Explain: "A row of SELECT DISTINCT, UNION or VALUES can stand for several rows of the input, so the result can be sorted " +
			"only by its output columns. Put the query into FROM and sort around it.",
		Example: "SELECT DISTINCT department FROM visits ORDER BY age",
	},
	{
		Code:  "D030",
		Title: "parameter without a value",
		Explain: "The statement has a parameter such as $1, and no value came with it. Clients of the server send values with the " +
			"statement. At the shell, write the constant itself.",
		Example: "SELECT count(*) FROM visits WHERE age > $1",
	},
	{
		Code:  "D031",
		Title: "a window function that cannot be",
		Explain: "Functions over windows look at the rows that WHERE, GROUP BY and HAVING leave. So they stand in the select list and in " +
			"ORDER BY alone, and do not nest: compute them in a subquery in FROM, and write conditions on them around it. Frames are " +
			"PostgreSQL's: they begin before they end, and offsets are constants. Windows have count, sum, avg, min, max, bool_and and " +
			"bool_or, and the functions that PostgreSQL has for them.",
		Example: "SELECT department FROM visits WHERE row_number() OVER (ORDER BY cost) = 1",
	},
}

// chain is a WITH query that uses another one six times.
func chain(name, of string) string {
	return name + " AS (SELECT 1 AS x FROM " + of + strings.Repeat(" UNION ALL SELECT x FROM "+of, 5) + ")"
}
