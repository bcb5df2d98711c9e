package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// A copyForm is how COPY writes values.
type copyForm struct {
	csv, binary    bool
	delimiter      byte
	null           string
	header         bool
	quote, escape  byte
	force          []string // columns that are always quoted
	forceAll       bool
	delimiterGiven bool
	nullGiven      bool
}

// copy is COPY (query) TO STDOUT.
func (s *session) copy(ctx context.Context, st *prepared, c sqlparse.Copy, parameters []parameterValue) (*result, error) {
	form, f := readCopy(c.Options)
	if f != nil {
		return nil, f
	}
	r, err := s.ask(ctx, st.inner(c.Query), st.oids, parameters, func(l layout) (layout, error) {
		for _, name := range form.force {
			if !slices.ContainsFunc(l.columns, func(c column) bool { return c.name == name }) {
				return l, fail("42703", fmt.Sprintf("column %s does not exist", quote(clip(name))))
			}
		}
		return s.agrees(&portal{statement: &prepared{}})(l)
	})
	if err != nil {
		return nil, err
	}
	r.copy = form
	return r, nil
}

func readCopy(options []sqlparse.Option) (*copyForm, *failure) {
	form := &copyForm{delimiter: '\t', null: `\N`, quote: '"', escape: '"'}
	for _, o := range options {
		if f := form.take(o); f != nil {
			return nil, f
		}
	}
	if form.csv {
		if !form.delimiterGiven {
			form.delimiter = ','
		}
		if !form.nullGiven {
			form.null = ""
		}
	}
	if strings.ContainsAny(form.null, "\r\n") || strings.IndexByte(form.null, form.delimiter) >= 0 {
		return nil, fail("22023", "COPY null representation cannot use newline, carriage return or the delimiter")
	}
	if form.csv && form.delimiter == form.quote {
		return nil, fail("22023", "COPY delimiter and quote must be different")
	}
	return form, nil
}

func (f *copyForm) take(o sqlparse.Option) *failure {
	value := strings.Join(o.Values, ",")
	char := func(to *byte) *failure {
		if len(value) != 1 || value[0] >= 0x80 || strings.ContainsAny(value, "\r\n") ||
			to == &f.delimiter && strings.ContainsAny(value, "\\abcdefghijklmnopqrstuvwxyz0123456789.") {
			return fail("22023", fmt.Sprintf("COPY %s must be a single one-byte character", o.Name))
		}
		*to = value[0]
		return nil
	}
	flag := func(to *bool) *failure {
		if len(o.Values) == 0 {
			*to = true
			return nil
		}
		v, failed := boolean(o.Name)(value)
		*to = v == "on"
		return failed
	}
	switch o.Name {
	case "format":
		switch value {
		case "text", "csv", "binary":
			f.csv, f.binary = value == "csv", value == "binary"
		default:
			return fail("22023", fmt.Sprintf("COPY format %q not recognized", clip(value)))
		}
	case "delimiter":
		f.delimiterGiven = true
		return char(&f.delimiter)
	case "null":
		f.null, f.nullGiven = value, true
	case "header":
		return flag(&f.header)
	case "quote":
		return char(&f.quote)
	case "escape":
		return char(&f.escape)
	case "force_quote":
		f.forceAll = len(o.Values) == 1 && o.Values[0] == "*"
		f.force = o.Values
		if f.forceAll {
			f.force = nil
		}
	case "encoding":
		_, failed := encoding(value)
		return failed
	default:
		return unknownOption("COPY", o)
	}
	return nil
}

// copyOut sends a result as COPY does, and returns the number of rows.
func (s *session) copyOut(ctx context.Context, r *result) (int, error) {
	format := int16(pgtype.TextFormatCode)
	if r.copy.binary {
		format = pgtype.BinaryFormatCode
	}
	codes := make([]uint16, len(r.columns))
	for i := range codes {
		codes[i] = uint16(format)
	}
	s.send(&pgproto3.CopyOutResponse{OverallFormat: byte(format), ColumnFormatCodes: codes})
	var line bytes.Buffer
	values := make([][]byte, len(r.columns))
	switch {
	case r.copy.binary:
		line.WriteString(binaryHead) // in one message with the first row, as clients expect
	case r.copy.header:
		for j, c := range r.columns {
			values[j] = []byte(c.name)
		}
		r.copy.write(&line, r.columns, values, true)
		s.send(&pgproto3.CopyData{Data: line.Bytes()})
		line.Reset()
	}
	for i := range r.rows.count() {
		for j := range values {
			var err error
			if values[j], err = r.rows.cell(s.types, i, j, format); err != nil {
				return 0, fmt.Errorf("encode row: %w", err)
			}
		}
		if r.copy.binary {
			writeBinary(&line, values)
		} else {
			r.copy.write(&line, r.columns, values, false)
		}
		s.send(&pgproto3.CopyData{Data: line.Bytes()})
		line.Reset()
		if s.lost != nil {
			return 0, s.lost
		}
		if i%1000 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	if r.copy.binary {
		line.WriteString(binaryTail)
		s.send(&pgproto3.CopyData{Data: line.Bytes()})
	}
	s.send(&pgproto3.CopyDone{})
	return r.rows.count(), nil
}

// The binary format begins with a signature, flags and the length of an extension, and ends
// with a number of columns that no row has.
const (
	binaryHead = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	binaryTail = "\xff\xff"
)

// writeBinary adds a row: the number of its values, and each with its length, -1 for NULL.
func writeBinary(to *bytes.Buffer, values [][]byte) {
	to.Write(binary.BigEndian.AppendUint16(nil, uint16(len(values))))
	for _, v := range values {
		n := int32(-1)
		if v != nil {
			n = int32(len(v))
		}
		to.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
		to.Write(v)
	}
}

// write adds a line. Names of a header are quoted where they must be.
func (f *copyForm) write(to *bytes.Buffer, columns []column, values [][]byte, header bool) {
	for j, v := range values {
		if j > 0 {
			to.WriteByte(f.delimiter)
		}
		switch {
		case v == nil:
			to.WriteString(f.null)
		case f.csv:
			f.writeCSV(to, v, !header && (f.forceAll || slices.Contains(f.force, columns[j].name)), len(values) == 1)
		default:
			f.writeText(to, v)
		}
	}
	to.WriteByte('\n')
}

func (f *copyForm) writeText(to *bytes.Buffer, v []byte) {
	for _, b := range v {
		if i := strings.IndexByte("\b\f\n\r\t\v\\", b); i >= 0 {
			to.WriteByte('\\')
			to.WriteByte(`bfnrtv\`[i])
			continue
		}
		if b == f.delimiter {
			to.WriteByte('\\')
		}
		to.WriteByte(b)
	}
}

func (f *copyForm) writeCSV(to *bytes.Buffer, v []byte, force, alone bool) {
	if !force && string(v) != f.null && !(alone && string(v) == `\.`) && !bytes.ContainsAny(v, "\r\n"+string([]byte{f.delimiter, f.quote})) {
		to.Write(v)
		return
	}
	to.WriteByte(f.quote)
	for _, b := range v {
		if b == f.quote || b == f.escape {
			to.WriteByte(f.escape)
		}
		to.WriteByte(b)
	}
	to.WriteByte(f.quote)
}
