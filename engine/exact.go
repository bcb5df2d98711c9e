package engine

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/discreet-dp/discreet/sqltype"
)

// Exact holds exact aggregates of private data. It prints, logs and marshals
// as a redaction; RevealExact is the one way in, and only internal/release
// calls it (internal/house checks that).
//
// They lie in a function: of another struct's unexported field fmt asks no method,
// and %s would follow pointers to the rows, but of a function it prints the address.
type Exact struct{ rows func() [][]sqltype.Value }

// NewExact wraps rows: the key's values, then integers as decimals of scale 0.
func NewExact(rows [][]sqltype.Value) *Exact {
	return &Exact{func() [][]sqltype.Value { return rows }}
}

// RevealExact returns the exact rows.
func (e *Exact) RevealExact() [][]sqltype.Value { return e.rows() }

const redacted = "[exact values withheld]"

// String returns a redaction.
func (e *Exact) String() string { return redacted }

// GoString returns a redaction.
func (e *Exact) GoString() string { return redacted }

// Format prints a redaction for every verb.
func (e *Exact) Format(s fmt.State, _ rune) { io.WriteString(s, redacted) }

// LogValue returns a redaction.
func (e *Exact) LogValue() slog.Value { return slog.StringValue(redacted) }

var errRedacted = errors.New("exact values are not marshalled")

// MarshalJSON refuses.
func (e *Exact) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText refuses.
func (e *Exact) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary refuses; encoding/gob honours it.
func (e *Exact) MarshalBinary() ([]byte, error) { return nil, errRedacted }
