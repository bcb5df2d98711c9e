package example

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCSV(t *testing.T) {
	e := clinic()
	path := write(t, "visits.csv", []byte("ill,who,ward,seen,smoker,cost,age,email\nyes,1,ER,1970-01-06,t,0,50,a@b\nno,1,?,,,,,\nyes,,ER,1970-01-01,t,0,1,\nmaybe,2,\"ER\n"))
	set, err := CSV(context.Background(), path, e, "who", Selection{PerUnit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	// The third record is of nobody; of the last one the quote is left open, and its fields from
	// there on are NULL.
	if set.Len() != 3 || set.UnitCount() != 2 || !slices.Equal(slices.Sorted(slices.Values(set.Labels)), []int32{-1, 0, 1}) {
		t.Errorf("%d examples of %d units, labels %v", set.Len(), set.UnitCount(), set.Labels)
	}
	if set, err = CSV(context.Background(), path, e, "", Selection{PerUnit: 1}); err != nil || set.Len() < 3 || set.Units != nil {
		t.Errorf("%d examples: %v", set.Len(), err)
	}
	for name, spoil := range map[string]func(*Encoding) string{
		"a column": func(e *Encoding) string { e.Columns[0].Name = "weight"; return "" },
		"a target": func(e *Encoding) string { e.Target.Name = "sick"; return "" },
		"a unit":   func(e *Encoding) string { return "name" },
	} {
		e := clinic()
		unit := spoil(e)
		if _, err := CSV(context.Background(), path, e, unit, Selection{PerUnit: 1}); !errors.Is(err, ErrColumn) {
			t.Errorf("%s that is not there: %v", name, err)
		}
		if err := CheckCSV(context.Background(), path, e, unit); !errors.Is(err, ErrColumn) {
			t.Errorf("%s that is not there, by the header: %v", name, err)
		}
	}
	if err := CheckCSV(context.Background(), path, e, "who"); err != nil {
		t.Error(err)
	}
	if _, err := CSV(context.Background(), "nowhere.csv", e, "", Selection{PerUnit: 1}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// What a file holds is in no error.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("age,cost,ward,smoker,seen,ill\n1,2,ER,t,1970-01-01,yes\n"))
	f.Add([]byte("age,cost,ward,smoker,seen,ill\n\"1,2\n\xff,,\"\"\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := write(t, "x.csv", append([]byte("age,cost,ward,smoker,seen,ill\n"), data...))
		set, err := CSV(context.Background(), path, clinic(), "", Selection{PerUnit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, x := range set.Features {
			if !(x >= -1 && x <= 1) {
				t.Fatal("a feature is out of bounds")
			}
		}
	})
}

// idx is a file of bytes.
func idx(dims []int, data []byte) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, data...)
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func TestIDX(t *testing.T) {
	images := idx([]int{2, 2, 3}, []byte{0, 51, 255, 0, 0, 0, 255, 255, 255, 255, 255, 255})
	labels := idx([]int{2}, []byte{3, 200})
	for _, form := range []func([]byte) []byte{slices.Clone[[]byte], zipped} {
		o := IDXOptions{Images: write(t, "images", form(images)), Labels: write(t, "labels", form(labels)), Unit: true}
		set, shape, err := IDX(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Validate(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shape, []int{2, 3}) || set.Width != 6 || set.Len() != 2 || set.Classes != 10 {
			t.Errorf("shape %v, width %d", shape, set.Width)
		}
		if !slices.Equal(set.Features[:4], []float32{0, 0.2, 1, 0}) || !slices.Equal(set.Labels, []int32{3, -1}) {
			t.Errorf("%v %v", set.Features, set.Labels)
		}
		o.Unit, o.Labels = false, ""
		if set, _, err = IDX(context.Background(), o); err != nil || set.Features[0] != -1 || set.Features[2] != 1 || !slices.Equal(set.Labels, []int32{-1, -1}) {
			t.Errorf("%v %v: %v", set.Features, set.Labels, err)
		}
	}
}

// A damaged file is refused in the same words whatever stands in it.
func TestIDXRefusals(t *testing.T) {
	images := idx([]int{1, 1, 2}, []byte{1, 2})
	labels := write(t, "labels", idx([]int{1}, []byte{1}))
	for name, data := range map[string][]byte{
		"nothing": {}, "no header": images[:7], "truncated": images[:len(images)-1], "a byte too many": append(slices.Clone(images), 0),
		"another type": append([]byte{0, 0, 9, 3}, images[4:]...), "two dimensions": idx([]int{1, 2}, []byte{1, 2}),
		"endless": idx([]int{1 << 31, 1 << 14, 1 << 14}, nil), "more than there is": idx([]int{1 << 20, 28, 28}, []byte{1}),
		"damaged gzip": zipped(images)[:20], "no pixels": idx([]int{1, 0, 2}, nil),
	} {
		_, _, err := IDX(context.Background(), IDXOptions{Images: write(t, "images", data), Labels: labels})
		if !errors.Is(err, ErrIDX) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := write(t, "images", images)
	for name, o := range map[string]IDXOptions{
		"other labels":  {Images: good, Labels: write(t, "labels", idx([]int{2}, []byte{1, 2}))},
		"another shape": {Images: good, Labels: labels, Shape: []int{2, 1}},
		"no classes":    {Images: good, Labels: labels, Classes: 300},
		"labels, again": {Images: labels, Labels: labels},
	} {
		if _, _, err := IDX(context.Background(), o); !errors.Is(err, ErrIDX) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := IDX(context.Background(), IDXOptions{Images: "nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzIDX(f *testing.F) {
	f.Add(idx([]int{1, 2, 2}, []byte{1, 2, 3, 4}), idx([]int{1}, []byte{1}))
	f.Add(zipped(idx([]int{1, 1, 1}, []byte{9})), idx([]int{1}, []byte{255}))
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		set, _, err := IDX(context.Background(), IDXOptions{Images: write(t, "images", images), Labels: write(t, "labels", labels)})
		if err != nil {
			if !errors.Is(err, ErrIDX) {
				t.Fatal(err)
			}
			return
		}
		if err := set.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// MNIST reads as published: 60,000 images of 28×28 and its first labels.
func TestMNIST(t *testing.T) {
	folder := os.Getenv("DISCREET_DATA")
	if folder == "" {
		t.Skip("skip: DISCREET_DATA is not set")
	}
	set, shape, err := IDX(context.Background(), IDXOptions{Images: filepath.Join(folder, "mnist", "train-images-idx3-ubyte.gz"),
		Labels: filepath.Join(folder, "mnist", "train-labels-idx1-ubyte.gz"), Unit: true})
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 60_000 || !slices.Equal(shape, []int{28, 28}) || !slices.Equal(set.Labels[:5], []int32{5, 0, 4, 1, 9}) {
		t.Errorf("%d images of %v, labels %v", set.Len(), shape, set.Labels[:5])
	}
}

const declared = `
[domains.patient]
measure = "pure"
epsilon = 1
[tables.wards]
source = "wards.csv"
public = true
columns = { name = { type = "text" } }
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "who"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.visits.columns]
who    = { type = "integer", lower = 0, upper = 9 }
note   = { type = "text" }
weight = { type = "double" }
age    = { type = "integer", lower = 0, upper = 120, step = 1 }
cost   = { type = "decimal(8,2)", lower = -5, upper = 5000 }
seen   = { type = "date", lower = "1970-01-02", upper = "1970-02-01" }
grade  = { type = "integer", domain = [3, 1] }
smoker = { type = "boolean" }
ward   = { type = "text", domain = { from = "wards.name" } }
`

func TestDeclared(t *testing.T) {
	c, err := catalog.Parse("discreet.toml", declared)
	if err != nil {
		t.Fatal(err)
	}
	table, _ := c.Table("visits")
	public := func(*catalog.PublicDomain) ([]sqltype.Value, error) { return []sqltype.Value{"ER", "ICU", nil}, nil }
	e, left, err := Declared{Table: table, Target: "smoker", Bins: 4, Public: public}.Encoding()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left, []string{"note", "weight"}) || !slices.Equal(e.Needs(), []string{"age", "cost", "seen", "grade", "ward", "smoker"}) {
		t.Errorf("left out %v, needs %v", left, e.Needs())
	}
	for i, want := range []Column{
		{Name: "age", Type: "integer", Upper: 120, Bins: 4}, {Name: "cost", Type: "decimal(8,2)", Lower: -5, Upper: 5000, Bins: 4},
		{Name: "seen", Type: "date", Lower: 1, Upper: 31, Bins: 4}, {Name: "grade", Type: "integer", Values: []string{"1", "3"}},
		{Name: "ward", Type: "text", Values: []string{"ER", "ICU"}},
	} {
		if c := e.Columns[i]; c.Name != want.Name || c.Type != want.Type || c.Lower != want.Lower || c.Upper != want.Upper || c.Bins != want.Bins || !slices.Equal(c.Values, want.Values) {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
	if got := e.ClassNames(); !slices.Equal(got, []string{"false", "true"}) {
		t.Errorf("classes %v", got)
	}
	for _, refused := range []struct {
		declared     Declared
		column, want string
	}{
		{Declared{Columns: []string{"email"}, Target: "smoker"}, "email", "none of that name"},
		{Declared{Columns: []string{"note"}, Target: "smoker"}, "note", "domain = ["},
		{Declared{Columns: []string{"weight"}, Target: "smoker"}, "weight", `type = "double", lower = ..., upper = ...`},
		{Declared{Target: "note"}, "note", "domain = ["},
		{Declared{Columns: []string{"age"}, Target: "age"}, "age", "it is the target"},
	} {
		refused.declared.Table, refused.declared.Public = table, public
		_, _, err := refused.declared.Encoding()
		var c *ColumnError
		if !errors.As(err, &c) || c.Column != refused.column || !strings.Contains(c.Why+c.Declare, refused.want) {
			t.Errorf("%s: %v", refused.column, err)
		}
	}
	// A number to be predicted is scaled by its bounds.
	if e, _, err = (Declared{Table: table, Columns: []string{"age"}, Target: "cost"}).Encoding(); err != nil || e.Target.Upper != 5000 || e.ClassNames() != nil {
		t.Errorf("%+v: %v", e, err)
	}
	if got := e.TargetOf(0); math.Abs(got-2497.5) > 1e-9 {
		t.Error(got)
	}
}
