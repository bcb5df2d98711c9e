// Package smt runs the solvers z3 and cvc5 as child processes and passes SMT-LIB
// text to and fro. It knows text, not formulas.
//
// Guarantees: a process ends when its context does, and is waited for, so that
// none is left over; what a solver prints that was not asked for is an error that
// quotes it, never an answer. It does not guarantee that answers are right: who
// relies on one checks what the solver found.
package smt

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A Solver is the name of a program.
type Solver string

const (
	Z3   Solver = "z3"
	CVC5 Solver = "cvc5"
)

// What goes wrong with a solver.
var (
	ErrMissing = errors.New("solver is not installed")
	errCrash   = errors.New("solver ended unexpectedly")
	ErrOutput  = errors.New("solver printed what was not asked for")
)

// Options are how a solver is run.
type Options struct {
	Path   string        // of the program; found by its name if empty
	Limit  time.Duration // of each question, after which its answer is Unknown; 0 is none
	Memory int           // MiB, 2048 if 0; z3 only: cvc5 has no such option
	Args   []string      // more arguments, such as "fp.xform.inline_eager=false"
}

// An Installed solver is one that was found.
type Installed struct {
	Solver  Solver
	Path    string
	Version string // as it says itself
}

// Find looks for a solver. The error says how to install it.
func Find(ctx context.Context, s Solver) (Installed, error) {
	path, err := s.path(Options{})
	if err != nil {
		return Installed{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := run(ctx, s, path, []string{"--version"}, "")
	if err != nil {
		return Installed{}, fmt.Errorf("find %s: %w", s, err)
	}
	version, _, _ := strings.Cut(out, "\n")
	return Installed{s, path, strings.TrimSpace(version)}, nil
}

func (s Solver) path(o Options) (string, error) {
	if o.Path != "" {
		return o.Path, nil
	}
	path, err := exec.LookPath(string(s))
	if err != nil {
		return "", fmt.Errorf("find %s: %w: install it with: apt-get install %s", s, ErrMissing, s)
	}
	return path, nil
}

// args are those for reading SMT-LIB from standard input.
func (s Solver) args(o Options) []string {
	var args []string
	switch s {
	case Z3:
		memory := o.Memory
		if memory == 0 {
			memory = 2048
		}
		args = []string{"-in", "-smt2", "-memory:" + strconv.Itoa(memory)}
		if o.Limit > 0 {
			args = append(args, "-t:"+milliseconds(o.Limit))
		}
	case CVC5:
		args = []string{"--lang=smt2", "--quiet", "--incremental", "--produce-models"}
		if o.Limit > 0 {
			args = append(args, "--tlimit-per="+milliseconds(o.Limit))
		}
	}
	return append(args, o.Args...)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10)
}

// An Answer is a solver's to (check-sat).
type Answer uint8

const (
	Unknown Answer = iota
	Sat
	Unsat
)

// String is the answer in SMT-LIB.
func (a Answer) String() string {
	return [...]string{"unknown", "sat", "unsat"}[min(a, 2)]
}

func parseAnswer(word string) (Answer, bool) {
	switch word {
	case "sat":
		return Sat, true
	case "unsat":
		return Unsat, true
	case "unknown", "timeout":
		return Unknown, true
	}
	return Unknown, false
}
