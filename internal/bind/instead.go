package bind

import (
	"regexp"
	"sync"
)

const otherFunctions = "discreet help D013 lists the functions; for anything else ask the owner to store the value as a column of its own"

// instead says what to write in the place of a function that PostgreSQL or
// DuckDB has and the list has not, or "".
func instead(name string) string {
	if hint := replacements[name]; hint != "" {
		return hint
	}
	for _, f := range families() {
		if f.names.MatchString(name) {
			return f.hint
		}
	}
	return ""
}

// Ways out that several functions share.
const (
	byRange   = "count by range, GROUP BY width_bucket(x, 0, 100, 10), and read it from the counts"
	byValue   = "count by value: SELECT x, count(*) ... GROUP BY x; groups of few units do not show"
	likeliest = "count by value and keep the largest: SELECT x, count(*) ... GROUP BY x ORDER BY count(*) DESC LIMIT 1"
	ownColumn = "ask the owner to store the value as a column of its own"
	oneField  = "write extract(year FROM x), with the field that is wanted"
	fromText  = "write CAST(x AS date), or CAST(x AS timestamp), or CAST(x AS double precision); dates are read in ISO form, what cannot be read is NULL"
	matching  = "test with x ~ 'pattern' or LIKE, cut with split_part and substring(x FROM 'pattern'), change with regexp_replace"
	distances = "subtract them: dates give days, timestamps an interval, of which extract(epoch FROM y - x) is the seconds"
	noServer  = "leave it out: there is no server, session or schema here, only the tables that the catalog declares"
	sameValue = "compare and group by the value itself: the noise protects people, so values need not be hidden"
)

// replacements name what is written instead of a function.
var replacements = map[string]string{
	// Aggregates.
	"mad": byRange, "mode": likeliest, "approx_top_k": likeliest, "approx_top_count": likeliest, "approx_top_sum": likeliest, "histogram": byValue, "histogram_exact": byValue, "entropy": byValue,
	"count_if": "write count(*) FILTER (WHERE x > 0)", "sumif": "write sum(x) FILTER (WHERE x > 0)",
	"count_star": "write count(*)", "uniq": "write count(DISTINCT x)",
	"mean": "write avg(x)", "favg": "write avg(x)", "fsum": "write sum(x), which is exact", "sum_no_overflow": "write sum(x), which is exact",
	"sumkahan": "write sum(x), which is exact", "kahan_sum": "write sum(x), which is exact",
	"wavg": "write sum(x * y) / sum(y)", "weighted_avg": "write sum(x * y) / sum(y)",
	"product": "write exp(sum(ln(x)))", "geomean": "write exp(avg(ln(x)))", "geometric_mean": "write exp(avg(ln(x)))",
	"sem": "write stddev_samp(x) / sqrt(count(x))", "stdev": "write stddev_samp(x)", "std": "write stddev_samp(x)", "var": "write var_samp(x)",
	"any":   "write count(*) FILTER (WHERE x > 0); within a unit bool_or(x > 0)",
	"first": "within a unit write min(x) or max(x)", "last": "within a unit write min(x) or max(x)", "any_value": likeliest + "; where x is the same in a whole group, put it into GROUP BY; within a unit write min(x)", "arbitrary": "within a unit write min(x) or max(x)",

	// Choice.
	"iif": "write CASE WHEN x > 0 THEN y ELSE 0 END", "iff": "write CASE WHEN x > 0 THEN y ELSE 0 END",
	"decode": "write CASE x WHEN 1 THEN 'one' ELSE 'other' END", "switch": "write CASE x WHEN 1 THEN 'one' ELSE 'other' END",
	"nvl": "write coalesce(x, y)", "isnull": "write x IS NULL", "error": "write NULL: a statement must not fail on data",
	"constant_or_null": "write CASE WHEN x IS NOT NULL THEN 1 END",
	"xor":              "write (x > 0) <> (y > 0)", "notlike": "write x NOT LIKE 'pattern'", "like": "write x LIKE 'pattern'",
	"isnan": "write x IS NULL: NaN and infinities of the data are NULL", "isinf": "write x IS NULL: NaN and infinities of the data are NULL", "isfinite": "write x IS NOT NULL: NaN and infinities of the data are NULL",

	// Numbers.
	"cbrt": "write sign(x) * power(abs(x), 1.0 / 3)", "dcbrt": "write sign(x) * power(abs(x), 1.0 / 3)", "dsqrt": "write sqrt(x)", "dround": "write round(x)", "dtrunc": "write trunc(x)",
	"log2": "write ln(x) / ln(2)", "dlog1": "write ln(x)", "dlog10": "write log10(x)", "dexp": "write exp(x)", "dpow": "write power(x, y)", "square": "write x * x",
	"degrees": "write x * 57.29577951308232", "radians": "write x / 57.29577951308232", "pi": "write 3.141592653589793", "e": "write exp(1)",
	"div": "write trunc(x / y)", "divide": "write x / y", "fdiv": "write floor(x / y)", "fmod": "write x::numeric(18,6) % y", "add": "write x + y", "subtract": "write x - y", "multiply": "write x * y",
	"even": "write 2 * ceil(x / 2)", "round_even": "write round(x): doubles are rounded half to even", "roundbankers": "write round(x): doubles are rounded half to even",
	"bool": "write CAST(x AS boolean), or x <> 0", "signbit": "write x < 0", "uminus": "write -x", "random_normal": "leave it out: a statement cannot draw random numbers; the noise is added to its result", "int": "write CAST(x AS integer)", "cast_to_type": "write CAST(x AS integer)", "try_cast": "write CAST(x AS integer): what does not fit is NULL",
	"equi_width_bins": "write width_bucket(x, 0, 100, 10)", "gcd": ownColumn, "lcm": ownColumn, "bin": ownColumn, "hex": ownColumn, "greatest_common_divisor": ownColumn, "least_common_multiple": ownColumn,
	"is_histogram_other_bin": byValue,

	// Text.
	"len": "write length(x)", "strlen": "write length(x)", "octet_length": "write length(x), which counts characters", "bit_length": "write length(x), which counts characters", "textlen": "write length(x)", "length_grapheme": "write length(x)",
	"ucase": "write upper(x)", "lcase": "write lower(x)", "casefold": "write lower(x)",
	"instr": "write strpos(x, y)", "charindex": "write strpos(x, y)", "locate": "write strpos(x, y)", "contains": "write strpos(x, y) > 0", "prefix": "write starts_with(x, y)",
	"suffix": "write right(x, length(y)) = y", "ends_with": "write right(x, length(y)) = y", "endswith": "write right(x, length(y)) = y", "startswith": "write starts_with(x, y)",
	"mid": "write substr(x, 2, 3)", "overlay": "write left(x, 2) || y || substr(x, 5)",
	"left_grapheme": "write left(x, 2)", "right_grapheme": "write right(x, 2)", "substring_grapheme": "write substr(x, 2, 3)", "substring_index": "write split_part(x, ',', 1)",
	"split": "write split_part(x, ',', 1)", "str_split": "write split_part(x, ',', 1)", "string_split": "write split_part(x, ',', 1)", "string_to_array": "write split_part(x, ',', 1)", "string_to_table": "write split_part(x, ',', 1)",
	"str_split_regex": matching, "string_split_regex": matching, "to_number": fromText, "format": "write x || y", "printf": "write x || y",
	"strip_accents": "write replace(x, 'é', 'e'), once for each character", "unaccent": "write replace(x, 'é', 'e'), once for each character",
	"regexp": matching,

	// Time.
	"age": distances, "datesub": distances, "timestampdiff": "write timestamp_diff(y, x, HOUR)", "datediff": "write date_diff(y, x, DAY)",
	"date_sub": "write x - INTERVAL '1 day'; for the time between two dates y - x", "date_add": "write x + INTERVAL '1 day'", "dateadd": "write x + INTERVAL '1 day'", "adddate": "write x + INTERVAL '1 day'",
	"add_months": "write x + INTERVAL '1 month'", "date_subtract": "write x - INTERVAL '1 day'",
	"date_bin": "write date_trunc('hour', x)", "time_bucket": "write date_trunc('hour', x)", "datetrunc": "write date_trunc('month', x)", "datepart": "write date_part('month', x)",
	"last_day": "write date_trunc('month', x) + INTERVAL '1 month' - INTERVAL '1 day'", "days_in_month": "write extract(day FROM date_trunc('month', x) + INTERVAL '1 month' - INTERVAL '1 day')",
	"dayname": "write extract(isodow FROM x), 1 is Monday", "monthname": "write extract(month FROM x)", "epoch": "write extract(epoch FROM x)", "julian": "write x - DATE '2000-01-01', in days",
	"make_date": "write DATE '2025-01-31', or CAST(y || '-01-01' AS date)", "make_time": "write TIME '12:30:00'", "make_timestamp": "write TIMESTAMP '2025-01-31 12:30:00'", "make_interval": "write INTERVAL '1 day 2 hours'",
	"strftime": "write to_char(x, 'YYYY-MM-DD'), or format_date('%Y-%m-%d', x)", "from_unixtime": "write to_timestamp(x)",
	"timestamp_millis": "write to_timestamp(x / 1000)", "timestamp_micros": "write to_timestamp(x / 1000000)", "to_unixtime": "write extract(epoch FROM x)", "unix_timestamp": "write extract(epoch FROM x)", "unix_seconds": "write extract(epoch FROM x)", "strptime": fromText, "try_strptime": fromText, "parse_date": fromText,
	"today": "write DATE '2025-01-31', the date itself", "timezone": "add a constant interval: x + INTERVAL '2 hours'",

	// What is declared.
	"typeof": "the catalog declares the types", "format_type": "the catalog declares the types", "format_bytes": "write x / 1048576", "pg_typeof": "the catalog declares the types", "hash": sameValue,
}

// A family is a set of functions with one way out.
type family struct {
	names *regexp.Regexp
	hint  string
}

// They are compiled when a name needs them, not at each start of a command.
var families = sync.OnceValue(func() []family {
	var out []family
	for _, f := range [][2]string{
		{`^(a?(sin|cos|tan|cot)h?d?|atan2d?)$`, ownColumn},
		{`^bool(eq|ne|lt|le|gt|ge|send|recv|in|out)$`, "write x = y"},
		{`^(percentile|quantile|approx_quantile|approx_percentile|approx_median|reservoir_quantile)`, "write median(x), or percentile_cont(0.9) WITHIN GROUP (ORDER BY x)"},
		{`^reg(proc|class|type|role|oper|namespace|config|dictionary|collation)`, noServer},
		{`^(regr|covar|covariance)_?`, "write covar_pop(y, x), or corr(y, x), or regr_slope(y, x)"},
		{`^(skewness|kurtosis)`, "compute it from averages of bounded values: avg(x), avg(x * x), avg(x * x * x)"},
		{`^(arg_|argm)|^(min|max)_by$|^(first|last)_`, likeliest},
		{`^(fill|rank_dense|ratio_to_report)$`, "write x / sum(x) OVER (), or dense_rank() OVER (ORDER BY x)"},
		{`^(string_agg|group_concat|listagg|array_agg|list|json_agg|jsonb_agg|xmlagg|json_object_agg|jsonb_object_agg|json_group|bitstring_agg|range_agg|range_intersect_agg)`, "it would publish values of single records; " + byValue},
		{`^bit_(and|or|xor)$`, "within a unit write min(x) or max(x); across units " + byValue},
		{`^regexp|^regexp_|^text(regex|ic|like)|^name(regex|ic|like)|like`, matching},
		{`^(year|quarter|month|week|day|hour|minute|second|millisecond|microsecond|nanosecond|decade|century|millennium|era|isoyear|isodow|dayof|weekday|weekofyear|yearweek|epoch_)`, oneField},
		{`^to_(year|quarter|month|week|day|hour|minute|second|milli|micro|decade|centur)`, "write INTERVAL '1 day', with a constant"},
		{`^justify_|^interval|^timestamp|^date|^time|^make_timestamp|^normalized_interval`, oneField + "; dates and timestamps take + and - with days and intervals"},
		{`^(md5|sha|crc|hash|encode|to_base|from_base|base64|bar|url_)`, sameValue},
		{`(^|_)(json|jsonb|xml|xpath|array|list|map|struct|union|variant|enum|hstore|tsvector|tsquery)|^(height|width|popen|pclose|strip|area|center|diameter|radius|slope)$`, "declare the value as a column of its own"},
		{`^(ts_|to_ts|st_|inet|cidr|network|range|multirange|box|circle|point|poly|path|lseg|line|uuid|bit|varbit)`, "declare the value as a column of its own"},
		{`^(pg_|has_|current_|inet_|txid_|lo_|nextval|currval|setval|lastval|version|getvariable|set_config|to_reg|row_security|shobj|obj_|col_desc|session|in_search)`, noServer},
		{`^(generate|unnest|range|repeat_row|read_|sniff|query|glob)`, "declare a public table in the catalog, or write VALUES"},
	} {
		out = append(out, family{regexp.MustCompile(f[0]), f[1]})
	}
	return out
})

// insteadOfType says what to write in the place of a type that there is not,
// or "".
func insteadOfType(name string) string {
	for _, f := range typeFamilies {
		if f.names.MatchString(name) {
			return f.hint
		}
	}
	return ""
}

var typeFamilies = []family{
	{regexp.MustCompile(`^_|\[`), ownColumn},
	{regexp.MustCompile(`^time(_?stamp)?(tz|_s|_ms|_us|_ns)?$|^datetime|with time zone$`), "write timestamp, date or time: there are no time zones, and fractions have six digits"},
	{regexp.MustCompile(`^u?(tiny|small|big|huge|long|short)?int(eger|egral)?\d*$|^integral$|^byte$|^long$|^short$`), "write smallint, integer, bigint or numeric(38,0)"},
	{regexp.MustCompile(`^(string|clob|nvarchar|citext|name|bpchar|char)`), "write text, or varchar(20)"},
	{regexp.MustCompile(`^(money|number|dec|bignum|varint)`), "write numeric(18,2)"},
	{regexp.MustCompile(`^(json|jsonb|xml|uuid|bytea|blob|inet|cidr|macaddr|bit|varbit|hstore|tsvector|point|internal)`), ownColumn + "; an id is compared as text"},
}
