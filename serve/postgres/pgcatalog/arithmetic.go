package pgcatalog

import (
	"math"
	"math/big"
)

// arithmetic computes with two numbers: integers within the bounds of their type, numerics exactly.
func arithmetic(q *query, name string, left, right oid, a, b any) any {
	zero := func() { fail("22012", "division by zero") }
	switch x := a.(type) {
	case int64:
		y, ok := b.(int64)
		if !ok {
			break
		}
		t := left
		if right == oidInt8 || right == oidInt4 && left == oidInt2 {
			t = right
		}
		over := func(v int64, wrong bool) any {
			if wrong {
				fail(outOfRange, "%s out of range", q.typeName(t, -1))
			}
			return q.fit(t, v)
		}
		switch name {
		case "+":
			return over(x+y, (x+y > x) != (y > 0) && y != 0)
		case "-":
			return over(x-y, (x-y < x) != (y > 0) && y != 0)
		case "*":
			return over(x*y, x != 0 && (x*y/x != y || x == -1 && y == math.MinInt64))
		case "/":
			if y == 0 {
				zero()
			}
			return over(x/y, x == math.MinInt64 && y == -1)
		case "%":
			if y == 0 {
				zero()
			}
			if y == -1 {
				return int64(0)
			}
			return x % y
		case "&":
			return x & y
		case "|":
			return x | y
		case "#":
			return x ^ y
		case "<<", ">>":
			bits := int64(64)
			switch left {
			case oidInt4:
				bits = 32
			case oidInt2:
				bits = 16
			}
			y &= bits - 1
			if left == oidInt2 {
				y = b.(int64) & 31
			}
			if name == ">>" {
				return x >> y
			}
			switch left {
			case oidInt2:
				return int64(int16(x << y))
			case oidInt4:
				return int64(int32(x << y))
			}
			return x << y
		}
	case float64:
		y, ok := b.(float64)
		if !ok {
			break
		}
		switch name {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		case "/":
			if y == 0 {
				zero()
			}
			return x / y
		case "^":
			return math.Pow(x, y)
		}
	case *big.Rat:
		y, ok := b.(*big.Rat)
		if !ok {
			break
		}
		q.tick(1 + (x.Num().BitLen()+y.Num().BitLen())/64)
		if x.Num().BitLen()+y.Num().BitLen()+x.Denom().BitLen()+y.Denom().BitLen() > 20_000 {
			fail(outOfRange, "value overflows numeric format")
		}
		switch name {
		case "+":
			return new(big.Rat).Add(x, y)
		case "-":
			return new(big.Rat).Sub(x, y)
		case "*":
			return new(big.Rat).Mul(x, y)
		case "/", "%":
			if y.Sign() == 0 {
				zero()
			}
			z := new(big.Rat).Quo(x, y)
			if name == "/" {
				return z
			}
			whole := new(big.Int).Quo(z.Num(), z.Denom())
			return z.Sub(x, z.Mul(y, new(big.Rat).SetInt(whole)))
		}
	}
	return nil
}

// calculations are the operators of which arithmetic knows numbers alone.
var calculations = []string{"+", "-", "*", "/", "%", "^"}

func (k *knowledge) calculable(t oid) bool {
	t = k.base(t)
	return integer(t) || float(t) || t == oidNumeric
}

func temporal(t oid) bool {
	switch t {
	case oidDate, oidTime, oidTimetz, oidTimestamp, oidTimestamptz, oidInterval:
		return true
	}
	return false
}

// rounded returns the integer nearest to a number: of two, the even one of a float, that
// away from zero of a numeric.
func rounded(v any) int64 {
	r, ok := v.(*big.Rat)
	if !ok {
		f := v.(float64)
		if f != f || f < -9.3e18 || f > 9.3e18 {
			fail(outOfRange, "bigint out of range")
		}
		r = new(big.Rat)
		r.SetFloat64(f)
		floor := new(big.Int).Div(r.Num(), r.Denom())
		rest := new(big.Rat).Sub(r, new(big.Rat).SetInt(floor))
		up := rest.Cmp(big.NewRat(1, 2))
		if up > 0 || up == 0 && floor.Bit(0) == 1 {
			floor.Add(floor, big.NewInt(1))
		}
		if !floor.IsInt64() {
			fail(outOfRange, "bigint out of range")
		}
		return floor.Int64()
	}
	n, ok := new(big.Int).SetString(r.FloatString(0), 10)
	if !ok || !n.IsInt64() {
		fail(outOfRange, "bigint out of range")
	}
	return n.Int64()
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
