//go:build cgo

package clinic

import (
	"database/sql"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

// The file is Parquet because a reader of Parquet says so: DuckDB gives back
// every value that was written, with its type, and NULL where it is missing.
func TestDuckDBReadsWhatWriteWrote(t *testing.T) {
	catalog, err := Write(filepath.Join(t.TempDir(), "clinic"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	file := filepath.Join(filepath.Dir(catalog), "visits.parquet")

	types := map[string]string{}
	rows, err := db.Query("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet('" + file + "'))")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			t.Fatal(err)
		}
		types[name] = kind
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"patient_id": "BIGINT", "department": "VARCHAR", "age": "INTEGER", "sex": "VARCHAR", "seen_at": "TIMESTAMP", "cost": "DOUBLE"} {
		if types[name] != want {
			t.Errorf("%s is %s, want %s", name, types[name], want)
		}
	}

	rows, err = db.Query("SELECT patient_id, department, age, sex, seen_at, cost FROM read_parquet('" + file + "', file_row_number = true) ORDER BY file_row_number")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for _, want := range Visits() {
		if !rows.Next() {
			break
		}
		var (
			got  Visit
			age  sql.NullInt32
			sex  sql.NullString
			cost sql.NullFloat64
		)
		if err := rows.Scan(&got.Patient, &got.Department, &age, &sex, &got.SeenAt, &cost); err != nil {
			t.Fatal(err)
		}
		got.Age, got.Sex, got.Cost = Missing, sex.String, Missing
		if age.Valid {
			got.Age = age.Int32
		}
		if cost.Valid {
			got.Cost = cost.Float64
		}
		if sex.Valid == (want.Sex == "") || got != want {
			t.Fatalf("row %d is %v, want %v", n, got, want)
		}
		n++
	}
	if more := rows.Next(); more || rows.Err() != nil || n != Count {
		t.Errorf("read %d rows, want %d; more: %v; error: %v", n, Count, more, rows.Err())
	}

	var departments, known int
	if err := db.QueryRow("SELECT count(*), count(*) FILTER (WHERE name IN (SELECT department FROM read_parquet('"+file+"'))) FROM read_csv('"+filepath.Join(filepath.Dir(catalog), "departments.csv")+"')").Scan(&departments, &known); err != nil {
		t.Fatal(err)
	}
	if departments != 8 || known != 8 {
		t.Errorf("departments.csv has %d departments, %d of them visited; want 8", departments, known)
	}
}

// Sizes at the edges of bytes and row groups, and every type with its extremes.
func TestWriteParquetEdges(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, rows := range []int{0, 1, 7, 8, 9, groupLen - 1, groupLen, groupLen + 1} {
		path := filepath.Join(t.TempDir(), "edge.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		odd := func(i int) bool { return i%2 == 1 } // every other value is NULL
		err = writeParquet(f, rows, []column{
			int64Column("a", func(i int) (int64, bool) { return math.MinInt64, odd(i) }),
			int32Column("b", func(i int) (int32, bool) { return math.MaxInt32, odd(i) }),
			textColumn("c", func(i int) (string, bool) { return "", odd(i) }),
			textColumn("d", func(i int) (string, bool) { return "größe", i == rows-1 }),
			doubleColumn("e", func(i int) (float64, bool) { return math.SmallestNonzeroFloat64, odd(i) }),
			timestampColumn("f", func(i int) (time.Time, bool) {
				return time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC), odd(i)
			}),
			int32Column("g", func(int) (int32, bool) { return 0, false }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var got [8]int
		if err := db.QueryRow(`SELECT count(*), count(*) FILTER (WHERE a = -9223372036854775808), count(*) FILTER (WHERE b = 2147483647),
			count(*) FILTER (WHERE c = ''), count(*) FILTER (WHERE d = 'größe'), count(*) FILTER (WHERE e = 5e-324),
			count(*) FILTER (WHERE f = TIMESTAMP '1969-12-31 23:59:59.999999'), count(g)
			FROM read_parquet('`+path+`')`).Scan(&got[0], &got[1], &got[2], &got[3], &got[4], &got[5], &got[6], &got[7]); err != nil {
			t.Fatalf("%d rows: %v", rows, err)
		}
		half := rows / 2
		if want := [8]int{rows, half, half, half, min(1, rows), half, half, 0}; got != want {
			t.Errorf("%d rows: counts %v, want %v", rows, got, want)
		}
	}
}
