// Command notices says what the binary of discreet links, for the archives of a release:
//
//	notices licences    every licence and notice of the linked modules, in full
//	notices spdx        the parts list, as SPDX 2.3 in JSON
//
// GOOS, GOARCH and CGO_ENABLED choose the binary, as they do for go build. The module
// cache is read, nothing is fetched that go build would not. The parts list is dated by
// SOURCE_DATE_EPOCH, and names VERSION, so that it has the same bytes each time.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: notices licences|spdx")
	}
	parts, err := linked("./cmd/discreet")
	if err != nil {
		return err
	}
	return write(args[0], parts, out)
}

// write writes what a command line asks for of the linked parts.
func write(what string, parts []part, out io.Writer) error {
	switch what {
	case "licences":
		return writeLicences(out, parts)
	case "spdx":
		seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
		if err != nil {
			return errors.New("SOURCE_DATE_EPOCH is not set to seconds")
		}
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(document(parts, time.Unix(seconds, 0).UTC()))
	}
	return fmt.Errorf("%q is neither licences nor spdx", what)
}

func writeLicences(out io.Writer, parts []part) error {
	for _, p := range parts {
		if _, err := fmt.Fprintf(out, "%s\n%s %s: %s\n", rule, p.name, p.version, p.licence); err != nil {
			return err
		}
		for _, text := range p.texts {
			if _, err := fmt.Fprintf(out, "\n---- %s\n\n%s\n", text.name, text.text); err != nil {
				return err
			}
		}
		if p.note != "" {
			if _, err := fmt.Fprintf(out, "\n%s\n", p.note); err != nil {
				return err
			}
		}
	}
	return nil
}

const rule = "================================================================================"
