package pgcatalog

import (
	"math"
	"math/big"
	"slices"
	"strings"
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
