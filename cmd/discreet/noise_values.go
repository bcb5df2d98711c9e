package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// privateValues are what a release is about: from --value, a file or standard
// input. They are read before anything is charged, and no error repeats one.
type privateValues struct {
	what  string                 // they must be: "a number"
	take  func(text string) bool // keeps one
	count int

	flags bool // --value was given
	file  string
}

func (v *privateValues) define(fs *flag.FlagSet) {
	fs.Func("value", "the private `V`, or V,V,...; may be repeated (others on the machine can see a command line: -f or - keeps it from them)", func(text string) error {
		v.flags = true
		for part := range strings.SplitSeq(text, ",") {
			if v.count++; !v.take(strings.TrimSpace(part)) {
				return v.unreadable("value " + strconv.Itoa(v.count) + " of --value")
			}
		}
		return nil
	})
	fs.StringVar(&v.file, "f", "", "read the private values from `FILE`, one a line (- for standard input)")
}

func (v *privateValues) unreadable(where string) error {
	return diagnostic.New("D141", diagnostic.Span{}, "%s is not %s", where, v.what).
		Because("it is not shown because it is private; nothing was charged")
}

// read reads what the flags have not given.
func (v *privateValues) read(ctx context.Context, in io.Reader, args []string) error {
	stdin := v.file == "-" || len(args) == 1 && args[0] == "-"
	switch {
	case len(args) > 1, len(args) == 1 && !stdin:
		return diagnostic.New("D113", diagnostic.Span{}, "an argument that is no flag").
			Try("private values come with --value V,V,..., -f FILE, or - for standard input")
	case v.flags && (stdin || v.file != ""), len(args) == 1 && v.file != "" && v.file != "-":
		return diagnostic.New("D115", diagnostic.Span{}, "--value, -f and - exclude each other")
	case stdin:
		return v.lines(ctx, "standard input", in)
	case v.file != "":
		f, err := os.Open(v.file)
		if err != nil {
			return unreadable(v.file, err)
		}
		defer f.Close()
		return v.lines(ctx, v.file, f)
	case !v.flags:
		return diagnostic.New("D113", diagnostic.Span{}, "no private value").
			Try("give --value V,V,..., -f FILE, or - for standard input")
	}
	return nil
}

// lines reads a value a line, and waits for no reader longer than its caller.
func (v *privateValues) lines(ctx context.Context, name string, r io.Reader) error {
	done := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if v.count++; !v.take(strings.TrimSpace(lines.Text())) {
				done <- v.unreadable("line " + strconv.Itoa(v.count) + " of " + name)
				return
			}
		}
		err := lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = v.unreadable("line " + strconv.Itoa(v.count+1) + " of " + name)
		case err != nil:
			err = unreadable(name, err)
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

var integerText = regexp.MustCompile(`^[+-]?[0-9]{1,100}$`)

// integers keeps whole numbers.
func integers(to *[]*big.Int) *privateValues {
	return &privateValues{what: "a whole number of at most 100 digits", take: func(text string) bool {
		if !integerText.MatchString(text) {
			return false
		}
		n, ok := new(big.Int).SetString(text, 10)
		*to = append(*to, n)
		return ok
	}}
}
