package attack

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Written: the digits of x are written over the buffer.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Written(x float64) byte {
	buf := make([]byte, 32)
	_ = strconv.AppendFloat(buf[:0], x, 'g', -1, 64)
	return buf[0]
}

// Found: the error that is found holds x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Found(x float64) string {
	var found *strconv.NumError
	_, err := strconv.Atoi(fmt.Sprint(x))
	if errors.As(err, &found) {
		_ = found
	}
	return found.Num
}

// FoundAlways: the error that is found holds x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func FoundAlways(x float64) string {
	var found *strconv.NumError
	_, err := strconv.Atoi(fmt.Sprint(x))
	_ = errors.As(err, &found)
	return found.Num
}

// Text is a copy of the buffer, which is cleared.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Text(x byte) string {
	buf := make([]byte, 1)
	for i := range 1 {
		buf[i] = x
	}
	s := string(buf)
	for i := range 1 {
		buf[i] = 0
	}
	return s
}

// Builder: the method writes x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Builder(x float64) string {
	var b strings.Builder
	write := b.WriteString
	_, _ = write(fmt.Sprint(x))
	return b.String()
}

// KindOfNumber tells of which type its result is.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindOfNumber(x float64) any {
	if x > 0 {
		return 1
	}
	return 1.0
}

type tooLow struct{}

func (tooLow) Error() string { return "" }

type tooHigh struct{}

func (tooHigh) Error() string { return "" }

// KindOfError tells of which type its error is.
//
// want: rejected: becomes one of error
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindOfError(x float64) (err error) {
	if x > 0 {
		err = tooHigh{}
	} else {
		err = tooLow{}
	}
	return err
}

// KindsAppended are those of elements.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindsAppended(x float64) (all []any) {
	if x > 0 {
		all = append(all, 1)
	} else {
		all = append(all, 1.0)
	}
	return all
}

func same[T any](x T) T { return x }

// KindOfParameter is that of what a function returns again.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindOfParameter(x float64) any {
	if x > 0 {
		return same[any](1)
	}
	return same[any](1.0)
}

// KindByClosure is that of what a function that is a value returns again.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindByClosure(x float64) any {
	again := func(v any) any { return v }
	if x > 0 {
		return again(1)
	}
	return again(1.0)
}

// KindByLiteral calls it where it stands.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindByLiteral(x float64) any {
	if x > 0 {
		return func(v any) any { return v }(1)
	}
	return func(v any) any { return v }(1.0)
}

// KindByField calls one that a field holds.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindByField(x float64) any {
	h := struct{ again func(any) any }{func(v any) any { return v }}
	if x > 0 {
		return h.again(1)
	}
	return h.again(1.0)
}

// KindOfRest is that of one of any number of arguments.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindOfRest(x float64) any {
	first := func(v ...any) any { return v[0] }
	if x > 0 {
		return first(1)
	}
	return first(1.0)
}

// KindOfElement is that of what a range sets.
//
// want: rejected: becomes one of any
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KindOfElement(x float64) (v any) {
	if x > 0 {
		for _, v = range []int{1} {
		}
		return v
	}
	for _, v = range []float64{1} {
	}
	return v
}

// KindOfKey is not that of another key.
//
// want: rejected: becomes one of any
//
//dp:sensitivity x = 0
func KindOfKey(x float64) float64 {
	m := make(map[any]float64)
	m[1] = x
	m[1.0] = 0
	return m[1]
}
