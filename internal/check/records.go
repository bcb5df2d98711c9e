package check

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// scanCSV returns the first record, and how many of the others have too few or
// too many fields, misplaced quotes or bytes that are not UTF-8.
func scanCSV(path string) (header []string, malformed int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, errors.New("it cannot be opened")
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	first, err := r.Read()
	if err != nil {
		return nil, 0, errors.New("it has no first record that names the columns")
	}
	header = slices.Clone(first)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for {
		record, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			return header, malformed, nil
		case errors.As(err, &bad):
			malformed++
		case err != nil:
			return nil, 0, errors.New("it cannot be read to its end")
		case slices.ContainsFunc(record, func(s string) bool { return !utf8.ValidString(s) }):
			malformed++
		}
	}
}

// scanJSONLines returns the keys that occur, and how many lines are not a JSON
// object in UTF-8. Blank lines are no records.
func scanJSONLines(path string) (keys map[string]bool, malformed int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, errors.New("it cannot be opened")
	}
	defer f.Close()
	keys = map[string]bool{}
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var object map[string]json.RawMessage
			if !utf8.Valid(line) || json.Unmarshal(line, &object) != nil || object == nil {
				malformed++
			}
			for key := range object {
				keys[key] = true
			}
		}
		if err == io.EOF {
			return keys, malformed, nil
		}
		if err != nil {
			return nil, 0, errors.New("it cannot be read to its end")
		}
	}
}
