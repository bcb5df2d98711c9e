package enginetest

import (
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// scratch hands values of every type in and out unchanged, and knows no other table.
func scratch(t *testing.T, open Open) {
	c := visitsIn(t, []string{"1,a,1,0.5"})
	e := open(t, c, 2)
	s, err := e.Scratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)

	of := sqltype.Of
	decimal := func(text string, scale uint8) sqltype.Decimal {
		n, _ := new(big.Int).SetString(text, 10)
		return sqltype.Decimal{Unscaled: n, Scale: scale}
	}
	columns := []engine.Column{
		{Name: "b", Type: of(sqltype.Boolean)}, {Name: "s", Type: of(sqltype.Smallint)}, {Name: "i", Type: of(sqltype.Integer)},
		{Name: "l", Type: of(sqltype.Bigint)}, {Name: "r", Type: of(sqltype.Real)}, {Name: "d", Type: of(sqltype.Double)},
		{Name: "n", Type: sqltype.DecimalOf(38, 10)}, {Name: "h", Type: sqltype.DecimalOf(5, 0)}, {Name: `select "x"`, Type: of(sqltype.Text)},
		{Name: "a", Type: of(sqltype.DateKind)}, {Name: "m", Type: of(sqltype.TimeKind)}, {Name: "ts", Type: of(sqltype.TimestampKind)},
		{Name: "v", Type: of(sqltype.IntervalKind)},
	}
	rows := [][]sqltype.Value{
		{true, int64(math.MinInt16), int64(math.MinInt32), int64(math.MinInt64), float64(math.MaxFloat32), math.MaxFloat64,
			decimal("99999999999999999999999999999999999999", 10), decimal("-99999", 0), "a\x00\"'é😀", sqltype.Date(-719162), sqltype.Time(0),
			sqltype.Timestamp(-62135596800000000), sqltype.Interval{Months: -1, Days: 40, Micros: -1}},
		{false, int64(math.MaxInt16), int64(math.MaxInt32), int64(math.MaxInt64), float64(math.SmallestNonzeroFloat32), math.SmallestNonzeroFloat64,
			decimal("-1", 10), decimal("0", 0), "", sqltype.Date(2932896), sqltype.Time(86_400_000_000),
			sqltype.Timestamp(253402300799999999), sqltype.Interval{Micros: math.MaxInt64}},
		make([]sqltype.Value, len(columns)),
	}
	var types []sqltype.Type
	for _, col := range columns {
		types = append(types, col.Type)
	}
	if err := s.Load(t.Context(), "odd \"name", columns, rows); err != nil {
		t.Fatal(cause(err))
	}
	got, err := s.Query(t.Context(), `SELECT * FROM "odd ""name" ORDER BY b DESC NULLS LAST`, types)
	if err != nil {
		t.Fatal(cause(err))
	}
	for i := range rows {
		for j := range columns {
			if !reflect.DeepEqual(plain(got[i][j]), plain(rows[i][j])) {
				t.Errorf("row %d column %s: %v came back as %v", i, columns[j].Name, rows[i][j], got[i][j])
			}
		}
	}
	if err := s.Load(t.Context(), "empty", columns, nil); err != nil {
		t.Fatal(cause(err))
	}
	if got, err := s.Query(t.Context(), "SELECT count(*) FROM empty", []sqltype.Type{of(sqltype.Bigint)}); err != nil || got[0][0] != int64(0) {
		t.Errorf("an empty table counts %v, %v", got, err)
	}

	// The order of a statement's rows is part of the answer.
	ordered, err := s.Query(t.Context(), "SELECT * FROM range(1000) AS t(i) ORDER BY i DESC", []sqltype.Type{of(sqltype.Bigint)})
	if err != nil || len(ordered) != 1000 || ordered[0][0] != int64(999) || ordered[999][0] != int64(0) {
		t.Errorf("ORDER BY is lost: %v", cause(err))
	}

	for _, text := range []string{"SELECT * FROM visits", "SELECT 1; SELECT 2", "CREATE TABLE t (a INTEGER)", "DROP TABLE empty", "no"} {
		if rows, err := s.Query(t.Context(), text, []sqltype.Type{of(sqltype.Bigint)}); !errors.Is(err, engine.ErrResource) {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
	other, err := e.Scratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, other)
	if _, err := other.Query(t.Context(), "SELECT * FROM empty", types); err == nil {
		t.Error("two scratch instances share a table")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Query(ctx, "SELECT 1", []sqltype.Type{of(sqltype.Bigint)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func closed(t *testing.T, s engine.Scratch) {
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// plain makes decimals comparable.
func plain(v sqltype.Value) any {
	if d, ok := v.(sqltype.Decimal); ok {
		return d.String()
	}
	return v
}
