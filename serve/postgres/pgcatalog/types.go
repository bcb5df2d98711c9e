package pgcatalog

import (
	"fmt"
	"slices"
	"strings"
)

// An oid is the number of an object.
type oid = int64

// The types that the evaluator itself speaks of.
const (
	oidBool          oid = 16
	oidBytea         oid = 17
	oidChar          oid = 18
	oidName          oid = 19
	oidInt8          oid = 20
	oidInt2          oid = 21
	oidInt2vector    oid = 22
	oidInt4          oid = 23
	oidRegproc       oid = 24
	oidText          oid = 25
	oidOID           oid = 26
	oidXID           oid = 28
	oidCID           oid = 29
	oidOidvector     oid = 30
	oidJSON          oid = 114
	oidTID           oid = 27
	oidFloat4        oid = 700
	oidFloat8        oid = 701
	oidUnknown       oid = 705
	oidBoolArray     oid = 1000
	oidACL           oid = 1033
	oidNameArray     oid = 1003
	oidTextArray     oid = 1009
	oidBpchar        oid = 1042
	oidVarchar       oid = 1043
	oidDate          oid = 1082
	oidTime          oid = 1083
	oidTimestamp     oid = 1114
	oidTimestamptz   oid = 1184
	oidInterval      oid = 1186
	oidTimetz        oid = 1266
	oidBit           oid = 1560
	oidVarbit        oid = 1562
	oidNumeric       oid = 1700
	oidRegprocedure  oid = 2202
	oidRegoper       oid = 2203
	oidRegoperator   oid = 2204
	oidRegclass      oid = 2205
	oidRegtype       oid = 2206
	oidRecord        oid = 2249
	oidAny           oid = 2276
	oidAnyarray      oid = 2277
	oidVoid          oid = 2278
	oidAnyelement    oid = 2283
	oidAnynonarray   oid = 2776
	oidAnyenum       oid = 3500
	oidRegconfig     oid = 3734
	oidRegdictionary oid = 3769
	oidJSONB         oid = 3802
	oidAnyrange      oid = 3831
	oidRegnamespace  oid = 4089
	oidRegrole       oid = 4096
	oidRegcollation  oid = 4191
	oidCompatible    oid = 5077 // anycompatible, and its like
	oidCompatArray   oid = 5078
	oidCompatNon     oid = 5079
)

// written are the names by which SQL knows types.
var written = map[oid]string{
	oidBool: "boolean", oidInt2: "smallint", oidInt4: "integer", oidInt8: "bigint", oidFloat4: "real", oidFloat8: "double precision",
	oidNumeric: "numeric", oidBpchar: "character", oidVarchar: "character varying", oidChar: `"char"`, oidTimestamp: "timestamp without time zone",
	oidTimestamptz: "timestamp with time zone", oidTime: "time without time zone", oidTimetz: "time with time zone", oidBit: "bit",
	oidVarbit: "bit varying", oidInterval: "interval",
}

// typeName writes a type as format_type does; mod is -1 where there is none.
func (k *knowledge) typeName(t oid, mod int32) string {
	info := k.types[t]
	if info == nil {
		return "???"
	}
	if info.category == 'A' && info.elem != 0 && info.oid != oidInt2vector && info.oid != oidOidvector {
		return k.typeName(info.elem, mod) + "[]"
	}
	name, ok := written[t]
	if !ok {
		if name = quote(info.name); info.namespace != nsCatalog && info.namespace != nsPublic {
			name = quote(k.namespaceName(info.namespace)) + "." + name
		}
	}
	if mod < 0 {
		return name
	}
	switch t {
	case oidVarchar, oidBpchar:
		return fmt.Sprintf("%s(%d)", name, mod-4)
	case oidNumeric:
		return fmt.Sprintf("numeric(%d,%d)", (mod-4)>>16&0xffff, (mod-4)&0x7ff)
	case oidTimestamp, oidTimestamptz, oidTime, oidTimetz:
		first, rest, _ := strings.Cut(name, " ")
		return fmt.Sprintf("%s(%d) %s", first, mod, rest)
	case oidBit, oidVarbit:
		return fmt.Sprintf("%s(%d)", name, mod)
	}
	return name
}

func (k *knowledge) namespaceName(n oid) string {
	switch n {
	case nsCatalog:
		return "pg_catalog"
	case nsToast:
		return "pg_toast"
	case nsPublic:
		return "public"
	}
	return "information_schema"
}

// quote writes a name so that it is read as it is.
func quote(s string) string {
	plain := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] == '_') && !slices.Contains(keywords, s)
	for i := 1; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// keywords are those that PostgreSQL quotes where they are names.
var keywords = strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
char character check coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema
current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract false fetch float for
foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join
lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only
or order out outer overlaps overlay placing position precision primary real references returning right row select session_user setof similar
smallint some substring symmetric table tablesample then time timestamp to trailing treat trim true union unique user using values varchar
variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize
xmltable`)

// synonyms are the names that the grammar knows beside those of pg_type.
var synonyms = map[string]string{"integer": "int4", "int": "int4", "bigint": "int8", "smallint": "int2", "boolean": "bool", "real": "float4",
	"double precision": "float8", "decimal": "numeric", "character varying": "varchar", "character": "bpchar",
	"timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz", "time without time zone": "time",
	"time with time zone": "timetz", "bit varying": "varbit"}

// polymorphic says that a type of a parameter stands for others.
func polymorphic(t oid) bool {
	switch t {
	case oidAny, oidAnyarray, oidAnyelement, oidAnynonarray, oidAnyenum, oidAnyrange, oidCompatible, oidCompatArray, oidCompatNon, 4537, 4538, 5080:
		return true
	}
	return false
}

// implicit says whether a value of one type becomes one of another unasked.
func (k *knowledge) implicit(from, to oid) bool {
	if from == to || from == oidUnknown || to == oidAny {
		return true
	}
	switch to {
	case oidAnyelement, oidCompatible:
		return true
	case oidAnynonarray, oidCompatNon:
		return k.elem(from) == 0
	case oidAnyarray, oidCompatArray:
		return k.elem(from) != 0
	case oidRecord:
		info := k.types[from]
		return info != nil && info.kind == 'c'
	}
	if from == oidRecord {
		info := k.types[to]
		return info != nil && info.kind == 'c'
	}
	if from = k.base(from); from == to {
		return true
	}
	if k.casts[castKey{from, to}] == 'i' {
		return true
	}
	if e, f := k.elem(from), k.elem(to); e != 0 && f != 0 && to != oidInt2vector && to != oidOidvector {
		return k.implicit(e, f)
	}
	return false
}

// choose returns which candidate a call with arguments of these types means, or -1: the rules
// of PostgreSQL's documentation, chapters 10.2 and 10.3.
func (k *knowledge) choose(candidates [][]oid, actual []oid) int {
	given := make([]oid, len(actual))
	unknown := 0
	for i, t := range actual {
		if given[i] = k.base(t); t == oidUnknown {
			unknown++
		}
	}
	same := func(c []oid) bool { return slices.Equal(c, given) }
	if i := slices.IndexFunc(candidates, same); i >= 0 {
		return i
	}
	var left []int
	for i, c := range candidates {
		ok := true
		for j := range c {
			ok = ok && k.implicit(given[j], c[j])
		}
		if ok && k.consistent(c, given) {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return -1
	}
	best := func(score func(c []oid) int) {
		most := -1
		var kept []int
		for _, i := range left {
			switch n := score(candidates[i]); {
			case n > most:
				most, kept = n, []int{i}
			case n == most:
				kept = append(kept, i)
			}
		}
		left = kept
	}
	if len(left) > 1 {
		best(func(c []oid) (n int) {
			for j := range c {
				if given[j] != oidUnknown && c[j] == given[j] {
					n++
				}
			}
			return n
		})
	}
	if len(left) > 1 {
		best(func(c []oid) (n int) {
			for j := range c {
				if given[j] != oidUnknown && (c[j] == given[j] || k.isPreferred(c[j]) && k.category(c[j]) == k.category(given[j])) {
					n++
				}
			}
			return n
		})
	}
	if len(left) > 1 && unknown > 0 {
		for j := range given {
			if given[j] != oidUnknown {
				continue
			}
			category, agreed := byte('S'), false
			for _, i := range left {
				agreed = agreed || k.category(candidates[i][j]) == 'S'
			}
			if !agreed {
				category, agreed = k.category(candidates[left[0]][j]), true
				for _, i := range left {
					agreed = agreed && k.category(candidates[i][j]) == category
				}
			}
			if agreed {
				best(func(c []oid) int {
					switch {
					case k.category(c[j]) != category:
						return 0
					case k.isPreferred(c[j]):
						return 2
					}
					return 1
				})
			}
		}
	}
	if len(left) > 1 && unknown > 0 && unknown < len(given) {
		var known oid
		one := true
		for _, t := range given {
			if t != oidUnknown {
				one = one && (known == 0 || known == t)
				known = t
			}
		}
		if one {
			var kept []int
			for _, i := range left {
				ok := true
				for j, t := range candidates[i] {
					ok = ok && (given[j] != oidUnknown || k.implicit(known, t))
				}
				if ok {
					kept = append(kept, i)
				}
			}
			if len(kept) == 1 {
				left = kept
			}
		}
	}
	return left[0] // where PostgreSQL would ask for more, the first will do
}

func (k *knowledge) isPreferred(t oid) bool {
	info := k.types[t]
	return info != nil && info.preferred
}

func (k *knowledge) category(t oid) byte {
	if info := k.types[t]; info != nil {
		return info.category
	}
	return 'X'
}

// operator finds the operator that a name means; left is 0 before one operand.
func (k *knowledge) operator(name string, left, right oid) *operation {
	var found []*operation
	var args [][]oid
	for _, o := range k.operators[name] {
		if (o.left == 0) == (left == 0) {
			found = append(found, o)
			if left == 0 {
				args = append(args, []oid{o.right})
			} else {
				args = append(args, []oid{o.left, o.right})
			}
		}
	}
	if left == 0 {
		if i := k.choose(args, []oid{right}); i >= 0 {
			return found[i]
		}
		return nil
	}
	// An operand of unknown type is first taken for one of the other's type.
	if l, r := k.base(left), k.base(right); (l == oidUnknown) != (r == oidUnknown) {
		if l == oidUnknown {
			l = r
		} else {
			r = l
		}
		for i, a := range args {
			if a[0] == l && a[1] == r {
				return found[i]
			}
		}
	}
	if i := k.choose(args, []oid{left, right}); i >= 0 {
		return found[i]
	}
	return nil
}

// consistent says whether types that stand for others can stand for one.
func (k *knowledge) consistent(params, actual []oid) bool {
	var same oid
	var compatible []oid
	for i, p := range params {
		a := actual[i]
		if a == oidUnknown {
			continue
		}
		switch p {
		case oidAnyarray, oidCompatArray:
			a = k.elem(a)
		case oidAnyelement, oidAnynonarray, oidCompatible, oidCompatNon:
		default:
			continue
		}
		if p == oidCompatArray || p == oidCompatible || p == oidCompatNon {
			compatible = append(compatible, a)
			continue
		}
		if same != 0 && same != a {
			return false
		}
		same = a
	}
	_, _, ok := k.agree(compatible)
	return ok
}

// common returns the one type that values of several become, as in UNION and CASE.
func (k *knowledge) common(types []oid) oid {
	t, next, ok := k.agree(types)
	if !ok {
		fail(wrongType, "types %s and %s cannot be matched", k.typeName(t, -1), k.typeName(next, -1))
	}
	return t
}

// agree is common; where there is no such type, it returns two that have none.
func (k *knowledge) agree(types []oid) (oid, oid, bool) {
	t := oidUnknown
	for _, next := range types {
		switch {
		case next == oidUnknown || next == t:
		case t == oidUnknown:
			t = next
		case k.category(k.base(t)) == k.category(k.base(next)):
			b, n := k.base(t), k.base(next)
			if !k.isPreferred(b) && k.implicit(b, n) && !k.implicit(n, b) || b == n {
				t = n
			} else if b != t {
				t = b
			}
		case k.implicit(t, next):
			t = next
		case !k.implicit(next, t):
			return t, next, false
		}
	}
	if t == oidUnknown {
		return oidText, 0, true
	}
	return t, 0, true
}

// concrete returns the type that a polymorphic one stands for in a call.
func (k *knowledge) concrete(result oid, params, actual []oid) oid {
	var item oid
	var compatible []oid
	for i, p := range params {
		if i >= len(actual) {
			break
		}
		a := k.base(actual[i])
		switch p {
		case oidAnyelement, oidAnynonarray, oidAnyenum:
			if a != oidUnknown {
				item = a
			}
		case oidAnyarray:
			if e := k.elem(a); e != 0 {
				item = e
			}
		case oidCompatible, oidCompatNon:
			compatible = append(compatible, a)
		case oidCompatArray:
			if e := k.elem(a); e != 0 {
				compatible = append(compatible, e)
			}
		}
	}
	if len(compatible) > 0 {
		item = k.common(compatible)
	}
	if item == 0 {
		item = oidText
	}
	switch result {
	case oidAnyelement, oidAnynonarray, oidAnyenum, oidCompatible, oidCompatNon:
		return item
	case oidAnyarray, oidCompatArray:
		return k.arrayOf(item)
	}
	return result
}
