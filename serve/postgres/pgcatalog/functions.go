package pgcatalog

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// functions are those that have a meaning here; the others of PostgreSQL give NULL. A function
// that PostgreSQL calls strict is not called with NULL.
var functions = map[string]function{
	// The session.
	"version":                 func(q *query, _ *invocation, _ []any) any { return q.versionText() },
	"current_database":        func(q *query, _ *invocation, _ []any) any { return q.session.Database },
	"current_schema":          func(*query, *invocation, []any) any { return "public" },
	"current_schemas":         currentSchemas,
	"current_user":            func(q *query, _ *invocation, _ []any) any { return q.session.Account },
	"session_user":            func(q *query, _ *invocation, _ []any) any { return q.session.Account },
	"getpgusername":           func(q *query, _ *invocation, _ []any) any { return q.session.Account },
	"pg_backend_pid":          func(q *query, _ *invocation, _ []any) any { return int64(q.session.Process) },
	"pg_is_in_recovery":       no,
	"pg_is_wal_replay_paused": no,
	"pg_is_other_temp_schema": no,
	"pg_my_temp_schema":       func(*query, *invocation, []any) any { return int64(0) },
	"pg_client_encoding":      func(*query, *invocation, []any) any { return "UTF8" },
	"getdatabaseencoding":     func(*query, *invocation, []any) any { return "UTF8" },
	"now":                     moment,
	"transaction_timestamp":   moment,
	"statement_timestamp":     moment,
	"clock_timestamp":         moment,
	"extract":                 func(_ *query, _ *invocation, a []any) any { return field(a) },
	"date_part": func(_ *query, _ *invocation, a []any) any {
		if r, ok := field(a).(*big.Rat); ok {
			f, _ := r.Float64()
			return f
		}
		return nil
	},
	"pg_postmaster_start_time":           func(q *query, _ *invocation, _ []any) any { return q.session.Started.UTC().Format(timestamp) + "+00" },
	"pg_conf_load_time":                  func(q *query, _ *invocation, _ []any) any { return q.session.Started.UTC().Format(timestamp) + "+00" },
	"current_setting":                    currentSetting,
	"set_config":                         func(_ *query, _ *invocation, args []any) any { return args[1] },
	"pg_encoding_to_char":                encodingName,
	"pg_char_to_encoding":                encodingNumber,
	"pg_encoding_max_length":             func(*query, *invocation, []any) any { return int64(4) },
	"pg_get_userbyid":                    userByID,
	"pg_has_role":                        hasRole,
	"has_table_privilege":                hasPrivilege,
	"has_any_column_privilege":           hasPrivilege,
	"has_column_privilege":               hasPrivilege,
	"has_schema_privilege":               hasPrivilege,
	"has_database_privilege":             hasPrivilege,
	"has_function_privilege":             hasPrivilege,
	"has_type_privilege":                 hasPrivilege,
	"has_language_privilege":             hasPrivilege,
	"has_tablespace_privilege":           hasPrivilege,
	"has_sequence_privilege":             hasPrivilege,
	"has_foreign_data_wrapper_privilege": no,
	"has_server_privilege":               no,

	// What is seen without its schema.
	"pg_table_is_visible":          visible("pg_class", "relnamespace"),
	"pg_type_is_visible":           visible("pg_type", "typnamespace"),
	"pg_function_is_visible":       visible("pg_proc", "pronamespace"),
	"pg_operator_is_visible":       visible("pg_operator", "oprnamespace"),
	"pg_opclass_is_visible":        visible("pg_opclass", "opcnamespace"),
	"pg_opfamily_is_visible":       visible("pg_opfamily", "opfnamespace"),
	"pg_collation_is_visible":      visible("pg_collation", "collnamespace"),
	"pg_conversion_is_visible":     visible("pg_conversion", "connamespace"),
	"pg_ts_config_is_visible":      visible("pg_ts_config", "cfgnamespace"),
	"pg_ts_dict_is_visible":        visible("pg_ts_dict", "dictnamespace"),
	"pg_ts_parser_is_visible":      visible("pg_ts_parser", "prsnamespace"),
	"pg_ts_template_is_visible":    visible("pg_ts_template", "tmplnamespace"),
	"pg_statistics_obj_is_visible": visible("pg_statistic_ext", "stxnamespace"),

	// What objects are called and made of.
	"format_type":                        formatType,
	"pg_get_expr":                        func(_ *query, _ *invocation, args []any) any { return args[0] },
	"pg_get_indexdef":                    indexDefinition,
	"pg_get_constraintdef":               constraintDefinition,
	"pg_get_viewdef":                     viewDefinition,
	"pg_get_function_result":             functionResult,
	"pg_get_function_arguments":          functionArguments,
	"pg_get_function_identity_arguments": functionArguments,
	"obj_description":                    description(false),
	"col_description":                    columnDescription,
	"shobj_description":                  description(true),
	"pg_relation_is_publishable":         publishable,
	"to_regclass":                        toObject(oidRegclass),
	"to_regtype":                         toObject(oidRegtype),
	"to_regproc":                         toObject(oidRegproc),
	"to_regprocedure":                    toObject(oidRegprocedure),
	"to_regnamespace":                    toObject(oidRegnamespace),
	"to_regrole":                         toObject(oidRegrole),
	"to_regcollation":                    toObject(oidRegcollation),
	"pg_table_size":                      nothing,
	"pg_total_relation_size":             nothing,
	"pg_relation_size":                   nothing,
	"pg_indexes_size":                    nothing,
	"pg_database_size":                   nothing,
	"pg_tablespace_size":                 nothing,
	"pg_relation_is_updatable":           nothing,
	"pg_column_is_updatable":             no,
	"pg_tablespace_location":             func(*query, *invocation, []any) any { return "" },
	"pg_size_pretty":                     sizePretty,
	"acldefault":                         aclDefault,
	"age":                                func(*query, *invocation, []any) any { return int64(1) },
	"_pg_truetypid":                      trueType,
	"_pg_truetypmod":                     trueModifier,
	"_pg_char_max_length":                charLength,
	"_pg_char_octet_length":              charOctets,
	"_pg_numeric_precision":              numericPrecision,
	"_pg_numeric_precision_radix":        numericRadix,
	"_pg_numeric_scale":                  numericScale,
	"_pg_datetime_precision":             datetimePrecision,
	"_pg_index_position":                 indexPosition,

	// Texts.
	"lower":            func(_ *query, _ *invocation, a []any) any { return strings.ToLower(a[0].(string)) },
	"upper":            func(_ *query, _ *invocation, a []any) any { return strings.ToUpper(a[0].(string)) },
	"initcap":          func(_ *query, _ *invocation, a []any) any { return initcap(a[0].(string)) },
	"length":           func(_ *query, _ *invocation, a []any) any { return int64(utf8.RuneCountInString(a[0].(string))) },
	"char_length":      func(_ *query, _ *invocation, a []any) any { return int64(utf8.RuneCountInString(a[0].(string))) },
	"character_length": func(_ *query, _ *invocation, a []any) any { return int64(utf8.RuneCountInString(a[0].(string))) },
	"octet_length":     func(_ *query, _ *invocation, a []any) any { return int64(len(a[0].(string))) },
	"bpchar":           func(q *query, v *invocation, a []any) any { return q.write(v.types[0], a[0]) },
	"substr":           substring,
	"substring":        substring,
	"left":             left,
	"right":            right,
	"btrim":            func(_ *query, _ *invocation, a []any) any { return strings.Trim(a[0].(string), cutset(a)) },
	"ltrim":            func(_ *query, _ *invocation, a []any) any { return strings.TrimLeft(a[0].(string), cutset(a)) },
	"rtrim":            func(_ *query, _ *invocation, a []any) any { return strings.TrimRight(a[0].(string), cutset(a)) },
	"replace":          replace,
	"translate":        translate,
	"split_part":       splitPart,
	"strpos":           func(_ *query, _ *invocation, a []any) any { return position(a[0].(string), a[1].(string)) },
	"position":         func(_ *query, _ *invocation, a []any) any { return position(a[0].(string), a[1].(string)) },
	"starts_with":      func(_ *query, _ *invocation, a []any) any { return strings.HasPrefix(a[0].(string), a[1].(string)) },
	"concat":           concat,
	"concat_ws":        concatWith,
	"repeat":           repeat,
	"lpad":             pad(true),
	"rpad":             pad(false),
	"reverse":          reverse,
	"quote_ident":      func(_ *query, _ *invocation, a []any) any { return quote(a[0].(string)) },
	"quote_literal":    func(q *query, v *invocation, a []any) any { return literal(q.write(v.types[0], a[0])) },
	"quote_nullable": func(q *query, v *invocation, a []any) any {
		if a[0] == nil {
			return "NULL"
		}
		return literal(q.write(v.types[0], a[0]))
	},
	"ascii": func(_ *query, _ *invocation, a []any) any {
		r, _ := utf8.DecodeRuneInString(a[0].(string) + "\x00")
		return int64(r)
	},
	"chr":             func(_ *query, _ *invocation, a []any) any { return string(rune(a[0].(int64))) },
	"text":            func(q *query, v *invocation, a []any) any { return q.write(v.types[0], a[0]) },
	"name":            func(q *query, v *invocation, a []any) any { return shorten(oidName, -1, q.write(v.types[0], a[0])) },
	"string_to_array": stringToArray,
	"array_to_string": arrayToString,
	"regexp_replace":  regexpReplace,
	"regexp_match":    regexpMatch,
	"regexp_split_to_array": func(q *query, _ *invocation, a []any) any {
		return texts(q.pattern(a[1].(string), false).Split(a[0].(string), -1))
	},
	"like_escape": likeEscape,
	"format":      format,

	// Arrays.
	"array_upper": func(_ *query, _ *invocation, a []any) any {
		if x := a[0].(*array); a[1] == int64(1) && len(x.items) > 0 {
			return int64(x.lower + len(x.items) - 1)
		}
		return nil
	},
	"array_lower": func(_ *query, _ *invocation, a []any) any {
		if x := a[0].(*array); a[1] == int64(1) && len(x.items) > 0 {
			return int64(x.lower)
		}
		return nil
	},
	"array_length": func(_ *query, _ *invocation, a []any) any {
		if x := a[0].(*array); a[1] == int64(1) && len(x.items) > 0 {
			return int64(len(x.items))
		}
		return nil
	},
	"array_ndims": func(_ *query, _ *invocation, a []any) any {
		if len(a[0].(*array).items) == 0 {
			return nil
		}
		return int64(1)
	},
	"cardinality": func(_ *query, _ *invocation, a []any) any { return int64(len(a[0].(*array).items)) },
	"array_append": func(q *query, v *invocation, a []any) any {
		out := &array{elem: q.elem(v.result), lower: 1}
		if x, ok := a[0].(*array); ok {
			out.items = slices.Clone(x.items)
		}
		q.hold(len(out.items))
		out.items = append(out.items, a[1])
		return out
	},
	"array_prepend": func(q *query, v *invocation, a []any) any {
		out := &array{elem: q.elem(v.result), lower: 1, items: []any{a[0]}}
		if x, ok := a[1].(*array); ok {
			q.hold(len(x.items))
			out.items = append(out.items, x.items...)
		}
		return out
	},
	"array_cat": func(q *query, v *invocation, a []any) any {
		out := &array{elem: q.elem(v.result), lower: 1}
		for _, x := range a {
			if x, ok := x.(*array); ok {
				q.hold(len(x.items))
				out.items = append(out.items, x.items...)
			}
		}
		return out
	},
	"array_remove": func(q *query, v *invocation, a []any) any {
		x, ok := a[0].(*array)
		if !ok {
			return nil
		}
		out := &array{elem: x.elem, lower: 1}
		for _, i := range x.items {
			if q.tick(1); !same(i, a[1]) {
				out.items = append(out.items, i)
			}
		}
		return out
	},
	"array_position": func(q *query, _ *invocation, a []any) any {
		if x, ok := a[0].(*array); ok {
			for n, i := range x.items {
				if q.tick(1); same(i, a[1]) {
					return int64(x.lower + n)
				}
			}
		}
		return nil
	},

	// Numbers.
	"abs": func(_ *query, _ *invocation, a []any) any {
		switch x := a[0].(type) {
		case int64:
			return max(x, -x)
		case float64:
			return math.Abs(x)
		case *big.Rat:
			return new(big.Rat).Abs(x)
		}
		return nil
	},
	"ceil":    rounding(math.Ceil, 1),
	"ceiling": rounding(math.Ceil, 1),
	"floor":   rounding(math.Floor, -1),
	"round":   round,
	"trunc":   rounding(math.Trunc, 0),
	"mod": func(q *query, v *invocation, a []any) any {
		return arithmetic(q, "%", v.types[0], v.types[1], a[0], a[1])
	},
	"int4": func(q *query, v *invocation, a []any) any { return q.read(oidInt4, q.write(v.types[0], a[0])) },
	"int8": func(q *query, v *invocation, a []any) any { return q.read(oidInt8, q.write(v.types[0], a[0])) },
	"pg_typeof": func(_ *query, v *invocation, _ []any) any {
		return v.types[0]
	},
	"num_nulls": func(_ *query, _ *invocation, a []any) any {
		n := int64(0)
		for _, x := range a {
			if x == nil {
				n++
			}
		}
		return n
	},
	"num_nonnulls": func(_ *query, _ *invocation, a []any) any {
		n := int64(0)
		for _, x := range a {
			if x != nil {
				n++
			}
		}
		return n
	},

	// JSON.
	"json_build_object":  buildObject(false),
	"jsonb_build_object": buildObject(true),
	"json_build_array":   buildArray(false),
	"jsonb_build_array":  buildArray(true),
	"to_json":            func(q *query, v *invocation, a []any) any { return q.json(v.types[0], a[0], false) },
	"to_jsonb":           func(q *query, v *invocation, a []any) any { return q.json(v.types[0], a[0], true) },
	"row_to_json":        func(q *query, v *invocation, a []any) any { return q.json(v.types[0], a[0], false) },
	"array_to_json":      func(q *query, v *invocation, a []any) any { return q.json(v.types[0], a[0], false) },
}

func no(*query, *invocation, []any) any { return false }

// nothing is the size of whatever holds data: how large it is says something about it.
func nothing(*query, *invocation, []any) any { return int64(0) }

func moment(q *query, _ *invocation, _ []any) any { return q.now().Format(timestamp) + "+00" }

// field is a field of a date or of a timestamp, all of which are in UTC; nil of what is none.
func field(a []any) any {
	text, ok := a[1].(string)
	if !ok {
		return nil
	}
	at, err := time.Parse(timestamp, strings.TrimSuffix(text, "+00"))
	if err != nil {
		if at, err = time.Parse(time.DateOnly, text); err != nil {
			return nil
		}
	}
	seconds := big.NewRat(int64(at.Nanosecond()), 1e9)
	whole := func(n int) any { return big.NewRat(int64(n), 1) }
	switch name, _ := a[0].(string); strings.ToLower(name) {
	case "timezone", "timezone_hour", "timezone_minute":
		return whole(0)
	case "epoch":
		return seconds.Add(seconds, big.NewRat(at.Unix(), 1))
	case "year":
		return whole(at.Year())
	case "quarter":
		return whole((int(at.Month()) + 2) / 3)
	case "month":
		return whole(int(at.Month()))
	case "day":
		return whole(at.Day())
	case "dow":
		return whole(int(at.Weekday()))
	case "doy":
		return whole(at.YearDay())
	case "hour":
		return whole(at.Hour())
	case "minute":
		return whole(at.Minute())
	case "second":
		return seconds.Add(seconds, big.NewRat(int64(at.Second()), 1))
	}
	return nil
}

func cutset(a []any) string {
	if len(a) > 1 {
		return a[1].(string)
	}
	return " "
}

func initcap(s string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		inWord := unicode.IsLetter(before) || unicode.IsDigit(before)
		before = r
		if inWord {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// substring takes a part by places, or the part that a pattern matches.
func substring(q *query, v *invocation, a []any) any {
	s, ok := a[0].(string)
	if !ok {
		return nil
	}
	if p, ok := a[1].(string); ok {
		m := q.pattern(p, false).FindStringSubmatch(s)
		switch {
		case m == nil:
			return nil
		case len(m) > 1:
			return m[1]
		}
		return m[0]
	}
	r := []rune(s)
	from, _ := a[1].(int64)
	to := int64(len(r)) + 1
	if len(a) > 2 {
		n, ok := a[2].(int64)
		if !ok {
			return nil
		}
		if n < 0 {
			fail("22011", "negative substring length not allowed")
		}
		if from < math.MaxInt32 {
			to = min(to, from+n)
		}
	}
	from = max(from, 1)
	if from >= to {
		return ""
	}
	return string(r[from-1 : to-1])
}

func left(_ *query, _ *invocation, a []any) any {
	r, n := []rune(a[0].(string)), a[1].(int64)
	if n < 0 {
		n = max(0, int64(len(r))+n)
	}
	return string(r[:min(n, int64(len(r)))])
}

func right(_ *query, _ *invocation, a []any) any {
	r, n := []rune(a[0].(string)), a[1].(int64)
	if n < 0 {
		n = max(0, int64(len(r))+n)
	}
	return string(r[int64(len(r))-min(n, int64(len(r))):])
}

func replace(q *query, _ *invocation, a []any) any {
	s, from, to := a[0].(string), a[1].(string), a[2].(string)
	if from == "" {
		return s
	}
	q.room(len(s) + strings.Count(s, from)*len(to))
	return strings.ReplaceAll(s, from, to)
}

func translate(_ *query, _ *invocation, a []any) any {
	from, to := []rune(a[1].(string)), []rune(a[2].(string))
	return strings.Map(func(r rune) rune {
		i := slices.Index(from, r)
		switch {
		case i < 0:
			return r
		case i < len(to):
			return to[i]
		}
		return -1
	}, a[0].(string))
}

func splitPart(_ *query, _ *invocation, a []any) any {
	parts := []string{a[0].(string)}
	if a[1] != "" {
		parts = strings.Split(a[0].(string), a[1].(string))
	}
	n := a[2].(int64)
	if n == 0 {
		fail("22023", "field position must not be zero")
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return ""
	}
	return parts[n-1]
}

func position(s, part string) int64 {
	i := strings.Index(s, part)
	if i < 0 {
		return 0
	}
	return int64(utf8.RuneCountInString(s[:i])) + 1
}

func concat(q *query, v *invocation, a []any) any {
	var b strings.Builder
	for i, x := range a {
		s := q.write(v.types[i], x)
		q.room(len(s))
		b.WriteString(s)
	}
	return q.made(b.String())
}

func concatWith(q *query, v *invocation, a []any) any {
	between, ok := a[0].(string)
	if !ok {
		return nil
	}
	var parts []string
	for i, x := range a[1:] {
		if x != nil {
			s := q.write(v.types[i+1], x)
			q.room(len(s) + len(between))
			parts = append(parts, s)
		}
	}
	return q.made(strings.Join(parts, between))
}

func repeat(q *query, _ *invocation, a []any) any {
	s, n := a[0].(string), max(0, a[1].(int64))
	if n > maxValue || int64(len(s))*n > maxValue {
		fail(tooMuch, "the text is too long")
	}
	q.room(len(s) * int(n))
	return strings.Repeat(s, int(n))
}

func pad(before bool) function {
	return func(q *query, _ *invocation, a []any) any {
		r, n, fill := []rune(a[0].(string)), a[1].(int64), " "
		if len(a) > 2 {
			fill = a[2].(string)
		}
		if n = max(n, 0); n > maxValue/4 {
			fail(tooMuch, "the text is too long")
		}
		if int64(len(r)) >= n || fill == "" {
			return string(r[:min(int64(len(r)), n)])
		}
		q.room(int(n) * utf8.UTFMax)
		padding := []rune(fill)
		var more []rune
		for i := range int(n) - len(r) {
			more = append(more, padding[i%len(padding)])
		}
		if before {
			return string(more) + string(r)
		}
		return string(r) + string(more)
	}
}

func reverse(_ *query, _ *invocation, a []any) any {
	r := []rune(a[0].(string))
	slices.Reverse(r)
	return string(r)
}

func literal(s string) string {
	prefix := ""
	if strings.Contains(s, `\`) {
		prefix, s = " E", strings.ReplaceAll(s, `\`, `\\`)
	}
	return strings.TrimLeft(prefix, " ") + "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func texts(list []string) *array {
	a := &array{elem: oidText, lower: 1}
	for _, s := range list {
		a.items = append(a.items, s)
	}
	return a
}

func stringToArray(q *query, _ *invocation, a []any) any {
	s, ok := a[0].(string)
	if !ok {
		return nil
	}
	var parts []string
	switch between, ok := a[1].(string); {
	case s == "":
	case !ok:
		parts = strings.Split(s, "")
	case between == "":
		parts = []string{s}
	default:
		parts = strings.Split(s, between)
	}
	q.hold(len(parts))
	out := texts(parts)
	if len(a) > 2 && a[2] != nil {
		for i, x := range out.items {
			if x == a[2] {
				out.items[i] = nil
			}
		}
	}
	return out
}

func arrayToString(q *query, _ *invocation, a []any) any {
	x, ok := a[0].(*array)
	between, fine := a[1].(string)
	if !ok || !fine {
		return nil
	}
	var parts []string
	for _, i := range x.items {
		switch {
		case i != nil:
			s := q.write(x.elem, i)
			q.room(len(s) + len(between))
			parts = append(parts, s)
		case len(a) > 2 && a[2] != nil:
			parts = append(parts, a[2].(string))
		}
	}
	return q.made(strings.Join(parts, between))
}

func regexpReplace(q *query, _ *invocation, a []any) any {
	if len(a) > 4 {
		return nil
	}
	flags := ""
	if len(a) == 4 {
		f, ok := a[3].(string)
		if !ok {
			return nil
		}
		flags = f
	}
	s := a[0].(string)
	re := q.pattern(a[1].(string), strings.Contains(flags, "i"))
	var with strings.Builder
	for text := a[2].(string); text != ""; {
		switch {
		case len(text) > 1 && text[0] == '\\' && text[1] >= '1' && text[1] <= '9':
			fmt.Fprintf(&with, "${%c}", text[1])
			text = text[2:]
		case len(text) > 1 && text[0] == '\\' && text[1] == '&':
			with.WriteString("${0}")
			text = text[2:]
		case len(text) > 1 && text[0] == '\\' && text[1] == '\\':
			with.WriteByte('\\')
			text = text[2:]
		case text[0] == '$':
			with.WriteString("$$")
			text = text[1:]
		default:
			with.WriteByte(text[0])
			text = text[1:]
		}
	}
	q.room((len(s) + 1) * (1 + with.Len()))
	if strings.Contains(flags, "g") {
		return re.ReplaceAllString(s, with.String())
	}
	at := re.FindStringSubmatchIndex(s)
	if at == nil {
		return s
	}
	return s[:at[0]] + string(re.ExpandString(nil, with.String(), s, at)) + s[at[1]:]
}

func regexpMatch(q *query, _ *invocation, a []any) any {
	fold := len(a) > 2 && strings.Contains(a[2].(string), "i")
	s := a[0].(string)
	at := q.pattern(a[1].(string), fold).FindStringSubmatchIndex(s)
	if at == nil {
		return nil
	}
	return submatches(s, at)
}

func submatches(s string, at []int) *array {
	out := &array{elem: oidText, lower: 1}
	if len(at) == 2 {
		out.items = []any{s[at[0]:at[1]]}
	}
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			out.items = append(out.items, nil)
		} else {
			out.items = append(out.items, s[at[i]:at[i+1]])
		}
	}
	return out
}

// likeEscape rewrites a pattern with another escape to one with backslashes.
func likeEscape(_ *query, _ *invocation, a []any) any {
	p, escape := a[0].(string), a[1].(string)
	if escape == `\` {
		return p
	}
	var b strings.Builder
	skip := false
	for _, r := range p {
		switch {
		case skip:
			b.WriteByte('\\')
			b.WriteRune(r)
			skip = false
		case string(r) == escape:
			skip = true
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func format(q *query, v *invocation, a []any) any {
	text, ok := a[0].(string)
	if !ok {
		return nil
	}
	var b strings.Builder
	next := 1
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		n := next
		if end := strings.IndexByte(text[i:], '$'); end > 0 && strings.Trim(text[i:i+end], "0123456789") == "" {
			n, _ = strconv.Atoi(text[i : i+end])
			i += end + 1
		}
		if i >= len(text) {
			fail("22023", "unterminated format() type specifier")
		}
		if text[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n < 1 || n >= len(a) {
			fail("22023", "too few arguments for format()")
		}
		next = n + 1
		s := q.write(v.types[n], a[n])
		switch text[i] {
		case 's':
			b.WriteString(s)
		case 'I':
			if a[n] == nil {
				fail("22004", "null values cannot be formatted as an SQL identifier")
			}
			b.WriteString(quote(s))
		case 'L':
			if a[n] == nil {
				b.WriteString("NULL")
			} else {
				b.WriteString(literal(s))
			}
		default:
			fail("22023", "unrecognized format() type specifier %q", text[i:i+1])
		}
		q.room(len(s))
	}
	return q.made(b.String())
}

// rounding rounds a number by a rule; of a numeric, in a direction (0: towards zero).
func rounding(of func(float64) float64, direction int) function {
	return func(_ *query, _ *invocation, a []any) any {
		switch x := a[0].(type) {
		case float64:
			return of(x)
		case *big.Rat:
			if len(a) > 1 {
				return nil
			}
			n := new(big.Int).Quo(x.Num(), x.Denom())
			rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(n))
			if direction != 0 && rest.Sign() == direction {
				n.Add(n, big.NewInt(int64(direction)))
			}
			return new(big.Rat).SetInt(n)
		}
		return nil
	}
}

func round(_ *query, _ *invocation, a []any) any {
	switch x := a[0].(type) {
	case float64:
		return math.RoundToEven(x)
	case *big.Rat:
		digits := int64(0)
		if len(a) > 1 {
			digits = a[1].(int64)
		}
		if digits < 0 || digits > 1000 {
			return nil
		}
		r, _ := new(big.Rat).SetString(x.FloatString(int(digits)))
		return r
	}
	return nil
}

func buildObject(binary bool) function {
	return func(q *query, v *invocation, a []any) any {
		var pairs []member
		for i := 0; i+1 < len(a); i += 2 {
			if a[i] == nil {
				fail("22023", "argument %d: key must not be null", i+1)
			}
			pairs = append(pairs, member{q.write(v.types[i], a[i]), q.json(v.types[i+1], a[i+1], binary)})
		}
		if binary {
			return q.made(objectB(pairs))
		}
		return q.made(object1(pairs, "{", " : ", "}"))
	}
}

func buildArray(bool) function {
	return func(q *query, v *invocation, a []any) any {
		var items []string
		for i, x := range a {
			items = append(items, q.json(v.types[i], x, false))
		}
		return q.made("[" + strings.Join(items, ", ") + "]")
	}
}

// setFunctions are the functions that give rows.
var setFunctions = map[string]func(q *query, v *invocation, args []any) [][]any{
	"unnest": func(_ *query, _ *invocation, a []any) (rows [][]any) {
		x, ok := a[0].(*array)
		if !ok {
			return nil
		}
		for _, i := range x.items {
			rows = append(rows, []any{i})
		}
		return rows
	},
	"generate_series": func(q *query, _ *invocation, a []any) (rows [][]any) {
		from, ok := a[0].(int64)
		to, fine := a[1].(int64)
		step := int64(1)
		if len(a) > 2 {
			step, _ = a[2].(int64)
		}
		if !ok || !fine {
			return nil
		}
		if step == 0 {
			fail("22023", "step size cannot equal zero")
		}
		for n := from; step > 0 && n <= to || step < 0 && n >= to; n += step {
			q.hold(2)
			if rows = append(rows, []any{n}); step > 0 && n > to-step || step < 0 && n < to-step {
				break
			}
		}
		return rows
	},
	"pg_get_keywords": func(q *query, _ *invocation, _ []any) [][]any { return q.keywords() },
	"generate_subscripts": func(q *query, _ *invocation, a []any) (rows [][]any) {
		x, ok := a[0].(*array)
		if !ok || a[1] != int64(1) {
			return nil
		}
		for i := range x.items {
			rows = append(rows, []any{int64(x.lower + i)})
		}
		if len(a) > 2 && a[2] == true {
			slices.Reverse(rows)
		}
		return rows
	},
	"_pg_expandarray": func(_ *query, _ *invocation, a []any) (rows [][]any) {
		x, ok := a[0].(*array)
		if !ok {
			return nil
		}
		for i, v := range x.items {
			rows = append(rows, []any{v, int64(i + 1)})
		}
		return rows
	},
	"regexp_split_to_table": func(q *query, _ *invocation, a []any) (rows [][]any) {
		for _, s := range q.pattern(a[1].(string), false).Split(a[0].(string), -1) {
			rows = append(rows, []any{s})
		}
		return rows
	},
	"string_to_table": func(q *query, v *invocation, a []any) (rows [][]any) {
		list, ok := stringToArray(q, v, a).(*array)
		if !ok {
			return nil
		}
		for _, s := range list.items {
			rows = append(rows, []any{s})
		}
		return rows
	},
	"regexp_matches": func(q *query, _ *invocation, a []any) (rows [][]any) {
		flags := ""
		if len(a) > 2 {
			flags = a[2].(string)
		}
		n := 1
		if strings.Contains(flags, "g") {
			n = -1
		}
		s := a[0].(string)
		for _, at := range q.pattern(a[1].(string), strings.Contains(flags, "i")).FindAllStringSubmatchIndex(s, n) {
			rows = append(rows, []any{submatches(s, at)})
		}
		return rows
	},
}
