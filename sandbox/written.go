package sandbox

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/sqltype"
)

// A Written call is one as the module finds it in its buffer, so that it can be made elsewhere: by a
// mapper of the same module and options, on another machine. What it makes there is the same, bit
// for bit, but for the bits of NaNs (see the package's documentation).
type Written struct {
	Records int
	Data    []byte
}

// Write writes a call. It reports false of one that does not fit the module's buffer, which has
// failed: it makes what Failed returns.
func (m *Mapper) Write(records [][]sqltype.Value) (w Written, fits bool, err error) {
	if err := conform(m.options.Columns, records); err != nil {
		return Written{}, false, err
	}
	size := int64(len(records)) * int64(len(m.options.Columns)) * cellSize
	for _, r := range records {
		for _, v := range r {
			if s, ok := v.(string); ok {
				size += int64(len(s))
			}
		}
	}
	if size > m.Room() {
		return Written{}, false, nil
	}
	data := make([]byte, size)
	_, fits = encode(data, m.options.Columns, ordered(records))
	return Written{len(records), data}, fits, nil
}

// MapWritten returns what the module makes of a written call.
func (m *Mapper) MapWritten(ctx context.Context, w Written) ([]Output, error) {
	if cells := int64(len(w.Data)) / (int64(len(m.options.Columns)) * cellSize); w.Records < 0 || int64(w.Records) > cells || int64(len(w.Data)) > m.Room() {
		return nil, fmt.Errorf("%w: %d records in %d bytes", ErrOptions, w.Records, len(w.Data))
	}
	out, failure, _, err := m.enter(ctx, w.Records, func(input []byte) (int, bool) { return copy(input, w.Data), true })
	if failure != nil {
		return m.Failed(), nil
	}
	return out, err
}

// Failed is what a call makes that fails.
func (m *Mapper) Failed() []Output { return append([]Output(nil), m.options.Default...) }

// Options are those with which the mapper was loaded, completed.
func (m *Mapper) Options() Options { return m.options }

// Admits reports whether outputs can be those of one call: not too many, each in the range and under
// a declared key. Those of Map and MapUnit always are.
func (m *Mapper) Admits(outputs []Output) bool {
	if len(outputs) > m.options.MaxOutputs {
		return false
	}
	for _, o := range outputs {
		if _, ok := m.keys[o.Key]; !ok || !(o.Value >= m.options.Lower && o.Value <= m.options.Upper) {
			return false
		}
	}
	return true
}
