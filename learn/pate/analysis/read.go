package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A ReadError says what is wrong with a file of votes, and where. It repeats nothing
// of the file.
type ReadError struct {
	Line, Column int // from 1; Column counts the numbers of a line
	Why, Hint    string
}

func (e *ReadError) Error() string {
	if e.Line == 0 {
		return e.Why
	}
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Why)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Why)
}

const labelsHint = "votes have a line a query and a column a class, each a number of teachers; labels, and lists of row numbers, are no votes"

// ReadVotes reads votes as CSV: a line a query, a column a class, whole numbers of
// votes. Every line has the same number of columns, two at least. Blanks around
// numbers do not matter, and neither do empty lines at the end. What is wrong with the
// text is a *ReadError.
func ReadVotes(r io.Reader) (*Votes, error) {
	p := voteParser{line: 1, v: &Votes{}}
	buffer := make([]byte, 1<<20)
	kept := 0 // length of the incomplete line at the start of buffer
	for {
		n, err := r.Read(buffer[kept:])
		kept += n
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, fmt.Errorf("read votes: %w", err)
		}
		end := bytes.LastIndexByte(buffer[:kept], '\n') + 1
		if last {
			end = kept
		}
		if end == 0 && kept == len(buffer) {
			return nil, &ReadError{Line: p.line, Why: "a line longer than a MiB", Hint: labelsHint}
		}
		if bad := p.parse(buffer[:end]); bad != nil {
			return nil, bad
		}
		kept = copy(buffer, buffer[end:kept])
		if last {
			break
		}
	}
	if len(p.v.Counts) == 0 {
		return nil, &ReadError{Why: "there are no votes", Hint: labelsHint}
	}
	return p.v, nil
}

// A voteParser reads lines.
type voteParser struct {
	v     *Votes
	line  int
	empty int // the first of the empty lines just seen, 0 if none
}

// parse reads whole lines; only the last may be without its end.
func (p *voteParser) parse(text []byte) error {
	if p.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	}
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if err := p.row(line); err != nil {
			return err
		}
		p.line++
	}
	return nil
}

func (p *voteParser) bad(column int, hint, format string, args ...any) error {
	return &ReadError{Line: p.line, Column: column, Why: fmt.Sprintf(format, args...), Hint: hint}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func (p *voteParser) row(line []byte) error {
	i, column := 0, 0
	for i < len(line) && blank(line[i]) {
		i++
	}
	if i == len(line) {
		if p.empty == 0 {
			p.empty = p.line
		}
		return nil
	}
	if p.empty > 0 {
		p.line = p.empty
		return p.bad(0, "a line is a query; delete it, or write its votes", "the line is empty")
	}
	for {
		column++
		for i < len(line) && blank(line[i]) {
			i++
		}
		n, digits := 0, i
		for i < len(line) && line[i]-'0' <= 9 {
			n = n*10 + int(line[i]-'0')
			if n > math.MaxInt32 {
				return p.bad(column, labelsHint, "a number of votes beyond %d", math.MaxInt32)
			}
			i++
		}
		if i == digits || i < len(line) && line[i] != ',' && !blank(line[i]) {
			return p.notVotes(column)
		}
		for i < len(line) && blank(line[i]) {
			i++
		}
		p.v.Counts = append(p.v.Counts, int32(n))
		if i == len(line) {
			break
		}
		if line[i] != ',' {
			return p.notVotes(column)
		}
		i++
	}
	switch {
	case p.v.Classes == 0 && column == 1:
		return p.bad(0, labelsHint, "one column: this looks like labels, not votes")
	case p.v.Classes == 0:
		p.v.Classes = column
	case column != p.v.Classes:
		return p.bad(0, "every line has a number for every class, also where it is 0", "%d columns after lines of %d", column, p.v.Classes)
	}
	return nil
}

func (p *voteParser) notVotes(column int) error {
	if p.line == 1 {
		return p.bad(column, "votes have no line of names; delete it if it is one. Numbers are whole, as 12, with commas between", "not a whole number of votes")
	}
	return p.bad(column, "numbers are whole and not negative, as 12, with commas between", "not a whole number of votes")
}

// Suspicious returns why a table may not be votes, or "". Every teacher votes once a
// query, so that all rows of votes have one sum.
func (v *Votes) Suspicious() string {
	n, odd := v.Teachers()
	if odd < 0 {
		return ""
	}
	largest := int32(0)
	for _, x := range v.Counts {
		largest = max(largest, x)
	}
	if int(largest) <= max(9, v.Classes) && n > 0 {
		return fmt.Sprintf("row %d has another number of votes than row 0, and no number is above %d: these look like labels, a column a query, not like votes", odd, largest)
	}
	return fmt.Sprintf("row %d has another number of votes than row 0: every teacher should vote once", odd)
}

// Write writes votes as ReadVotes reads them.
func (v *Votes) Write(w io.Writer) error {
	var text []byte
	for i := range v.Len() {
		for j, n := range v.Row(i) {
			if j > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, int64(n), 10)
		}
		text = append(text, '\n')
		if len(text) < 1<<16 && i+1 < v.Len() {
			continue
		}
		if _, err := w.Write(text); err != nil {
			return fmt.Errorf("write votes: %w", err)
		}
		text = text[:0]
	}
	return nil
}
