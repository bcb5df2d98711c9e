package pgcatalog

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Values are nil (NULL), bool, int64 (integers, numbers of objects), float64, *big.Rat (numeric), string
// (all else, as PostgreSQL writes it), *array and *record.

// An array has one dimension, as all of the system catalog have, or arrays as items.
type array struct {
	elem  oid
	lower int // of the first item: 0 of int2vector and oidvector
	items []any
}

// A record is a row as a value.
type record struct {
	columns []column
	values  []any
}

// integer says whether values of a type are int64.
func integer(t oid) bool {
	switch t {
	case oidInt2, oidInt4, oidInt8, oidOID, oidXID, oidCID, oidRegproc, oidRegprocedure, oidRegoper, oidRegoperator, oidRegclass, oidRegtype,
		oidRegrole, oidRegnamespace, oidRegconfig, oidRegdictionary, oidRegcollation:
		return true
	}
	return false
}

// float says whether values of a type are float64.
func float(t oid) bool { return t == oidFloat4 || t == oidFloat8 }

// base follows domains.
func (k *knowledge) base(t oid) oid {
	for range 8 {
		info := k.types[t]
		if info == nil || info.kind != 'd' {
			break
		}
		t = info.base
	}
	return t
}

// elem returns the type of the items of an array type, or 0.
func (k *knowledge) elem(t oid) oid {
	switch t = k.base(t); t {
	case oidInt2vector:
		return oidInt2
	case oidOidvector:
		return oidOID
	case oidAnyarray:
		return oidText
	}
	if info := k.types[t]; info != nil && info.category == 'A' {
		return info.elem
	}
	return 0
}

// arrayOf returns the type of arrays of a type.
func (k *knowledge) arrayOf(t oid) oid {
	if t == oidUnknown {
		t = oidText
	}
	if info := k.types[t]; info != nil && info.array != 0 {
		return info.array
	}
	return oidTextArray
}

// read makes a value of its text. It panics with an *Error where the text is none.
func (k *knowledge) read(t oid, s string) any {
	t = k.base(t)
	if elem := k.elem(t); elem != 0 {
		if t == oidInt2vector || t == oidOidvector {
			a := &array{elem: elem}
			for f := range strings.FieldsSeq(s) {
				a.items = append(a.items, k.read(elem, f))
			}
			return a
		}
		return k.readArray(elem, s)
	}
	bad := func() { fail("22P02", "invalid input syntax for type %s: %q", k.typeName(t, -1), s) }
	switch {
	case t == oidBool:
		switch v := strings.ToLower(strings.TrimSpace(s)); {
		case v != "" && (strings.HasPrefix("true", v) || strings.HasPrefix("yes", v)) || v == "on" || v == "1":
			return true
		case v != "" && (strings.HasPrefix("false", v) || strings.HasPrefix("no", v)) || v == "off" || v == "of" || v == "0":
			return false
		}
		bad()
	case integer(t):
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil {
			bad()
		}
		return k.fit(t, n)
	case float(t):
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			bad()
		}
		return f
	case t == oidNumeric:
		if len(s) > 200 || strings.ContainsAny(s, "/xXpP_") {
			bad()
		}
		if _, e, ok := strings.Cut(strings.ToLower(s), "e"); ok {
			if n, err := strconv.Atoi(e); err != nil || n > 400 || n < -400 {
				bad()
			}
		}
		r, ok := new(big.Rat).SetString(strings.TrimSpace(s))
		if !ok {
			bad()
		}
		return r
	case t == oidName && len(s) > 63:
		return strings.ToValidUTF8(s[:63], "")
	case t == oidChar && len(s) > 1:
		return s[:1]
	}
	return s
}

// fit holds an integer to the bounds of its type.
func (k *knowledge) fit(t oid, n int64) int64 {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch t {
	case oidInt8:
	case oidInt2:
		low, high = math.MinInt16, math.MaxInt16
	case oidInt4:
		low, high = math.MinInt32, math.MaxInt32
	default: // numbers of objects have no sign: -1 is the largest
		if n < 0 && n >= math.MinInt32 {
			n += 1 << 32
		}
		low, high = 0, math.MaxUint32
	}
	if n < low || n > high {
		fail("22003", "%s out of range", k.typeName(t, -1))
	}
	return n
}

// readArray reads {a,"b c",NULL}.
func (k *knowledge) readArray(elem oid, s string) any {
	p := &arrayReader{k: k, elem: elem, rest: strings.TrimSpace(s)}
	if i := strings.Index(p.rest, "={"); i > 0 && p.rest[0] == '[' { // bounds
		p.rest = p.rest[i+1:]
	}
	a := p.array(0)
	if strings.TrimSpace(p.rest) != "" {
		p.bad(s)
	}
	return a
}

type arrayReader struct {
	k    *knowledge
	elem oid
	rest string
}

func (p *arrayReader) bad(s string) { fail("22P02", "malformed array literal: %q", s) }

func (p *arrayReader) array(depth int) *array {
	if depth > 6 || !strings.HasPrefix(p.rest, "{") {
		p.bad(p.rest)
	}
	p.rest = strings.TrimLeft(p.rest[1:], " ")
	a := &array{elem: p.elem, lower: 1}
	if strings.HasPrefix(p.rest, "}") {
		p.rest = p.rest[1:]
		return a
	}
	for {
		p.rest = strings.TrimLeft(p.rest, " \n\t")
		if strings.HasPrefix(p.rest, "{") {
			a.items = append(a.items, p.array(depth+1))
		} else {
			a.items = append(a.items, p.item())
		}
		p.rest = strings.TrimLeft(p.rest, " \n\t")
		if p.rest == "" {
			p.bad(p.rest)
		}
		mark := p.rest[0]
		p.rest = p.rest[1:]
		switch mark {
		case '}':
			return a
		case ',':
		default:
			p.bad(p.rest)
		}
	}
}

func (p *arrayReader) item() any {
	var b strings.Builder
	if strings.HasPrefix(p.rest, `"`) {
		i := 1
		for ; i < len(p.rest) && p.rest[i] != '"'; i++ {
			if p.rest[i] == '\\' && i+1 < len(p.rest) {
				i++
			}
			b.WriteByte(p.rest[i])
		}
		if i == len(p.rest) {
			p.bad(p.rest)
		}
		p.rest = p.rest[i+1:]
		return p.k.read(p.elem, b.String())
	}
	i := 0
	for ; i < len(p.rest) && !strings.ContainsRune(",{}\"", rune(p.rest[i])); i++ {
		if p.rest[i] == '\\' && i+1 < len(p.rest) {
			i++
		}
		b.WriteByte(p.rest[i])
	}
	p.rest = p.rest[i:]
	s := strings.TrimRight(b.String(), " ")
	if strings.EqualFold(s, "null") {
		return nil
	}
	if s == "" {
		p.bad(p.rest)
	}
	return p.k.read(p.elem, s)
}

// write gives the text of a value of a type. NULL is the caller's.
func (d *database) write(t oid, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "t"
		}
		return "f"
	case int64:
		switch d.base(t) {
		case oidRegclass, oidRegtype, oidRegproc, oidRegprocedure, oidRegoper, oidRegoperator, oidRegrole, oidRegnamespace, oidRegconfig, oidRegdictionary, oidRegcollation:
			return d.objectName(d.base(t), v)
		}
		return strconv.FormatInt(v, 10)
	case float64:
		return formatFloat(d.base(t), v)
	case *big.Rat:
		return formatRat(v)
	case string:
		return v
	case *array:
		if b := d.base(t); b == oidInt2vector || b == oidOidvector {
			var out []string
			for _, i := range v.items {
				out = append(out, d.write(v.elem, i))
			}
			return strings.Join(out, " ")
		}
		return d.writeArray(v)
	case *record:
		var b strings.Builder
		b.WriteByte('(')
		for i, x := range v.values {
			if i > 0 {
				b.WriteByte(',')
			}
			if x == nil {
				continue
			}
			s := d.write(v.columns[i].typ, x)
			if s == "" || strings.ContainsAny(s, "\"\\(), \t\n\r") {
				s = `"` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(s) + `"`
			}
			b.WriteString(s)
		}
		b.WriteByte(')')
		return b.String()
	}
	return ""
}

func (d *database) writeArray(a *array) string {
	var b strings.Builder
	if a.lower != 1 && len(a.items) > 0 {
		b.WriteString("[" + strconv.Itoa(a.lower) + ":" + strconv.Itoa(a.lower+len(a.items)-1) + "]=")
	}
	b.WriteByte('{')
	for i, v := range a.items {
		if i > 0 {
			b.WriteByte(',')
		}
		switch v := v.(type) {
		case nil:
			b.WriteString("NULL")
		case *array:
			b.WriteString(d.writeArray(v))
		default:
			s := d.write(a.elem, v)
			if s == "" || strings.EqualFold(s, "null") || strings.ContainsAny(s, "\"\\{}, \t\n\r\v\f") {
				s = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
			}
			b.WriteString(s)
		}
	}
	b.WriteByte('}')
	return b.String()
}

func formatFloat(t oid, f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	bits := 64
	if t == oidFloat4 {
		bits = 32
	}
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok {
		n, _ := strconv.Atoi(exponent)
		if limit := 15; n >= -4 && n < limit { // PostgreSQL writes digits up to here
			return strconv.FormatFloat(f, 'f', -1, bits)
		}
		sign := "+"
		if n < 0 {
			sign, n = "-", -n
		}
		s = mantissa + "e" + sign
		if n < 10 {
			s += "0"
		}
		return s + strconv.Itoa(n)
	}
	return s
}

// formatRat writes a numeric; of one without an end, PostgreSQL's sixteen digits.
func formatRat(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	d, n := new(big.Int).Set(r.Denom()), 0
	for _, p := range []int64{2, 5} {
		for k := 1; ; k++ {
			q, m := new(big.Int).QuoRem(d, big.NewInt(p), new(big.Int))
			if m.Sign() != 0 {
				break
			}
			d, n = q, max(n, k)
		}
	}
	if d.IsInt64() && d.Int64() == 1 {
		return r.FloatString(n)
	}
	return r.FloatString(16)
}

// compare orders two values of one type that are not NULL.
func compare(a, b any) int {
	switch x := a.(type) {
	case bool:
		y, _ := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y)
		case float64:
			return cmp.Compare(float64(x), y)
		case *big.Rat:
			return new(big.Rat).SetInt64(x).Cmp(y)
		}
	case float64:
		switch y := b.(type) {
		case float64:
			return -cmp.Compare(-x, -y) // NaN last
		case int64:
			return cmp.Compare(x, float64(y))
		}
	case *big.Rat:
		switch y := b.(type) {
		case *big.Rat:
			return x.Cmp(y)
		case int64:
			return x.Cmp(new(big.Rat).SetInt64(y))
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y)
		}
	case *array:
		if y, ok := b.(*array); ok {
			return compareList(x.items, y.items)
		}
	case *record:
		if y, ok := b.(*record); ok {
			return compareList(x.values, y.values)
		}
	}
	return 0
}

// compareList orders lists; NULL is after all else and equals itself.
func compareList(x, y []any) int {
	for i := range min(len(x), len(y)) {
		switch {
		case x[i] == nil && y[i] == nil:
		case x[i] == nil:
			return 1
		case y[i] == nil:
			return -1
		default:
			if c := compare(x[i], y[i]); c != 0 {
				return c
			}
		}
	}
	return cmp.Compare(len(x), len(y))
}

// key appends what equal values, and no others, have in common.
func key(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		if v {
			return append(b, 't')
		}
		return append(b, 'f')
	case int64:
		return append(strconv.AppendInt(append(b, 'r'), v, 10), ';')
	case float64:
		return append(strconv.AppendFloat(append(b, 'd'), v+0, 'g', -1, 64), ';')
	case *big.Rat:
		return append(append(append(b, 'r'), v.RatString()...), ';')
	case string:
		return append(strconv.AppendInt(append(b, 's'), int64(len(v)), 10), ":"+v...)
	case *array:
		b = append(strconv.AppendInt(append(b, 'a'), int64(len(v.items)), 10), ':')
		for _, i := range v.items {
			b = key(b, i)
		}
	case *record:
		b = append(strconv.AppendInt(append(b, 'R'), int64(len(v.values)), 10), ':')
		for _, i := range v.values {
			b = key(b, i)
		}
	}
	return b
}
