package datanode

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// withheld makes the type that embeds it print, log and marshal as a redaction. The
// private values lie in a function beside it: fmt calls no method of an unexported field of
// another package's struct and follows its pointers, but of a function it prints the address.
type withheld struct{}

const redacted = "[private data withheld]"

var errWithheld = errors.New("private data are not marshalled")

// String returns a redaction.
func (withheld) String() string { return redacted }

// GoString returns a redaction.
func (withheld) GoString() string { return redacted }

// Format prints a redaction for every verb.
func (withheld) Format(s fmt.State, _ rune) { io.WriteString(s, redacted) }

// LogValue returns a redaction.
func (withheld) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON refuses.
func (withheld) MarshalJSON() ([]byte, error) { return nil, errWithheld }

// MarshalText refuses.
func (withheld) MarshalText() ([]byte, error) { return nil, errWithheld }

// MarshalBinary refuses.
func (withheld) MarshalBinary() ([]byte, error) { return nil, errWithheld }

// GobEncode refuses.
func (withheld) GobEncode() ([]byte, error) { return nil, errWithheld }
