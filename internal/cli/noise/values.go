package noise

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// privateValues are the values of a release: from --value, a file or standard input. They
// are read before anything is charged, and no error repeats one.
type privateValues struct {
	what  string                 // what each must be: "a number"
	take  func(text string) bool // keeps a value, or refuses it
	count int

	flags bool // --value was given
	file  string
	lines string // the name of the file that was read
}

func (v *privateValues) define(fs *flag.FlagSet) {
	fs.Func("value", "the private `V`, or V,V,...; may be repeated (others on the machine can see a command line: -f or - keeps it from them)", func(text string) error {
		v.flags = true
		for part := range strings.SplitSeq(text, ",") {
			if v.count++; !v.take(strings.TrimSpace(part)) {
				return v.unreadable(v.count)
			}
		}
		return nil
	})
	fs.StringVar(&v.file, "f", "", "read the private values from `FILE`, one a line (- for standard input)")
}

// unreadable says where a value stands, but not what it is.
func (v *privateValues) unreadable(number int) error {
	where := fmt.Sprintf("line %d of %s", number, v.lines)
	if v.lines == "" {
		where = fmt.Sprintf("value %d of --value", number)
	}
	return diagnostic.New("D141", diagnostic.Span{}, "%s is not %s", where, v.what).
		Because("it is not shown because it is private; nothing was charged")
}

// read reads the values that no flag has given.
func (v *privateValues) read(ctx context.Context, in io.Reader, args []string) error {
	stdin := v.file == "-" || len(args) == 1 && args[0] == "-"
	switch {
	case len(args) > 1, len(args) == 1 && !stdin:
		return diagnostic.New("D113", diagnostic.Span{}, "unexpected argument").
			Try("private values come with --value V,V,..., -f FILE, or - for standard input")
	case v.flags && (stdin || v.file != ""), len(args) == 1 && v.file != "" && v.file != "-":
		return diagnostic.New("D115", diagnostic.Span{}, "--value, -f and - exclude each other")
	case stdin:
		return v.scan(ctx, "standard input", in)
	case v.file != "":
		f, err := os.Open(v.file)
		if err != nil {
			return workplace.Unreadable(v.file, err)
		}
		defer f.Close()
		return v.scan(ctx, v.file, f)
	case !v.flags:
		return diagnostic.New("D113", diagnostic.Span{}, "no private value").
			Try("give --value V,V,..., -f FILE, or - for standard input")
	}
	return nil
}

// scan reads a value a line, and stops waiting when its caller does.
func (v *privateValues) scan(ctx context.Context, name string, r io.Reader) error {
	v.lines = name
	done := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if v.count++; !v.take(strings.TrimSpace(lines.Text())) {
				done <- v.unreadable(v.count)
				return
			}
		}
		err := lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = v.unreadable(v.count + 1)
		case err != nil:
			err = workplace.Unreadable(name, err)
		}
		done <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}

var (
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

// integers keeps whole numbers.
func integers(to *[]*big.Int) *privateValues {
	return &privateValues{what: "a whole number of at most 100 digits", take: func(text string) bool {
		if !terminal.IntegerText.MatchString(text) {
			return false
		}
		n, ok := new(big.Int).SetString(text, 10)
		*to = append(*to, n)
		return ok
	}}
}

// floats keeps finite numbers.
func floats(to *[]float64) *privateValues {
	return &privateValues{what: "a finite number", take: func(text string) bool {
		if !decimalText.MatchString(text) {
			return false
		}
		x, err := strconv.ParseFloat(text, 64)
		*to = append(*to, x)
		return err == nil
	}}
}

// texts keeps lines as they are.
func texts(to *[]string) *privateValues {
	return &privateValues{what: "text", take: func(text string) bool {
		*to = append(*to, text)
		return true
	}}
}

// exactNumber reads a number of a flag, exactly.
func exactNumber(to **big.Rat) func(string) error {
	return func(text string) (err error) {
		*to, err = numeric.ParseRat(text)
		return err
	}
}

// count reads a whole number from 1.
func count(to *int64) func(string) error {
	return func(text string) (err error) {
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 {
			return errors.New("want a whole number from 1")
		}
		return nil
	}
}
