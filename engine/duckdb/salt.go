//go:build cgo

package duckdb

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// saltFunction is the table function from which kept plans read the salt: DuckDB plans a
// statement with parameters anew each time it runs. No statement can name it but ours.
const saltFunction = "discreet_salt"

// salts are those of the plans that are kept, by number. The zero value is ready.
type salts struct {
	mu   sync.Mutex
	next int64
	of   map[int64]*atomic.Int64
}

// add makes the place of one plan's salt.
func (s *salts) add() (number int64, salt *atomic.Int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[int64]*atomic.Int64{}
	}
	s.next++
	salt = new(atomic.Int64)
	s.of[s.next] = salt
	return s.next, salt
}

func (s *salts) remove(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, number)
}

// register makes the function known to an instance.
func (s *salts) register(conn *sql.Conn) error {
	bigint, err := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	if err != nil {
		return err
	}
	return duckdb.RegisterTableUDF(conn, saltFunction, duckdb.RowTableFunction{
		Config: duckdb.TableFunctionConfig{Arguments: []duckdb.TypeInfo{bigint}},
		BindArguments: func(_ map[string]any, args ...any) (duckdb.RowTableSource, error) {
			number, _ := args[0].(int64)
			s.mu.Lock()
			defer s.mu.Unlock()
			salt := s.of[number]
			if salt == nil {
				return nil, errors.New("no such plan")
			}
			return &saltSource{salt: salt, column: duckdb.ColumnInfo{Name: "salt", T: bigint}}, nil
		},
	})
}

// A saltSource is a table of one row: a plan's salt, as it is when the plan is run.
type saltSource struct {
	salt   *atomic.Int64
	column duckdb.ColumnInfo
	done   bool
}

func (s *saltSource) ColumnInfos() []duckdb.ColumnInfo { return []duckdb.ColumnInfo{s.column} }

func (s *saltSource) Cardinality() *duckdb.CardinalityInfo {
	return &duckdb.CardinalityInfo{Cardinality: 1, Exact: true}
}

// Init begins a run.
func (s *saltSource) Init() { s.done = false }

func (s *saltSource) FillRow(row duckdb.Row) (bool, error) {
	if s.done {
		return false, nil
	}
	s.done = true
	return true, duckdb.SetRowValue(row, 0, s.salt.Load())
}

// substitute puts a text in place of each parameter of a query that is named, beyond
// constants and quoted names. A parameter that it does not know remains.
func substitute(text string, values map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"': // a doubled quote ends one and begins the next
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				b.WriteString(text[i:])
				return b.String()
			}
			b.WriteString(text[i : i+1+end+1])
			i += 1 + end + 1
		case c == '$':
			end := i + 1
			for end < len(text) && 'a' <= text[end] && text[end] <= 'z' {
				end++
			}
			value, ok := values[text[i+1:end]]
			if !ok {
				value = text[i:end]
			}
			b.WriteString(value)
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// fixed is a query of one slice in which nothing varies but the salt, of a number.
func fixed(text string, number int64) string {
	return substitute(text, map[string]string{"slices": "1", "slice": "0", "salt": fmt.Sprintf("(SELECT salt FROM %s(%d))", saltFunction, number)})
}
