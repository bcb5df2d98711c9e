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
