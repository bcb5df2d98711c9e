//go:build cgo

package discreet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What time is written as, read from and apart, is PostgreSQL's and GoogleSQL's, and NULL where they raise.
func TestTimesAreWrittenAndRead(t *testing.T) {
	db, _ := staged(t, 4)
	var exprs, want []string
	for _, of := range [][2]string{
		{"to_char(TIMESTAMP '2025-03-09 07:05:03.25', 'YYYY-MM-DD HH24:MI:SS')", "2025-03-09 07:05:03"},
		{"to_char(TIMESTAMP '2025-03-09 07:05:03.999999', 'YYYY-MM')", "2025-03"},
		{"to_char(DATE '0999-12-31', 'YYYY')", "0999"},
		{"to_char(DATE '2025-03-09', 'DD.MM.YYYY')", "09.03.2025"},
		{"to_char(DATE '2025-03-09', 'Dy, DD Mon YYYY')", "Sun, 09 Mar 2025"},
		{"to_char(DATE '2025-09-01', 'FMMonth, FMDay, YYYY-Q, ID')", "September, Monday, 2025-3, 1"},
		{"format_date('%Y-%m', DATE '2025-03-09')", "2025-03"},
		{"format_timestamp('%F %T', TIMESTAMP '2025-03-09 07:05:03')", "2025-03-09 07:05:03"},
		{"format_date('%A %d %B', DATE '2025-03-09')", "Sunday 09 March"},
		{"to_char(CAST(NULL AS date), 'YYYY-MM-DD, Dy')", "NULL"},
		{"to_timestamp(0)", "1970-01-01 00:00:00"},
		{"to_timestamp(1741503903)", "2025-03-09 07:05:03"},
		{"to_timestamp(-1)", "1969-12-31 23:59:59"},
		{"to_timestamp(9223372036854775807)", "NULL"},
		{"to_timestamp(-9223372036854775807 - 1)", "NULL"},
		{"to_timestamp(253402300799)", "9999-12-31 23:59:59"},
		{"to_timestamp(253402300800)", "NULL"},
		{"date_diff(DATE '2025-03-01', DATE '2025-02-28', DAY)", "1"},
		{"date_diff(DATE '2025-03-01', DATE '2024-02-28', MONTH)", "13"},
		{"date_diff(DATE '2025-01-01', DATE '2024-12-31', YEAR)", "1"},
		{"date_diff(DATE '2025-01-01', DATE '2024-12-31', QUARTER)", "1"},
		{"datetime_diff(TIMESTAMP '2025-03-09 08:00:00', TIMESTAMP '2025-03-09 07:59:59', HOUR)", "1"},
		{"timestamp_diff(TIMESTAMP '2025-03-09 08:00:00', TIMESTAMP '2025-03-09 07:59:59', HOUR)", "0"},
		{"timestamp_diff(TIMESTAMP '2025-03-09 07:00:00', TIMESTAMP '2025-03-09 09:30:00', HOUR)", "-2"},
		{"timestamp_diff(TIMESTAMP '2025-03-12 07:00:00', TIMESTAMP '2025-03-09 06:00:00', DAY)", "3"},
		{"date_diff('month', DATE '2024-02-28', DATE '2025-03-01')", "13"},
		{"extract(DAYOFWEEK FROM DATE '2025-03-09')", "1"},
		{"extract(DAYOFWEEK FROM TIMESTAMP '2025-03-08 23:59:59')", "7"},
		{"extract(DAYOFYEAR FROM DATE '2024-12-31')", "366"},
		{`to_char(DATE '2025-03-09', 'YYYY "x"')`, "2025 x"},
	} {
		exprs, want = append(exprs, of[0]), append(want, of[1])
	}
	a, err := db.Query(t.Context(), "SELECT "+strings.Join(exprs, ", "), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Rows[0] {
		got := fmt.Sprint(v)
		if v == nil {
			got = "NULL"
		}
		if got != want[i] {
			t.Errorf("%s is %s, want %s", exprs[i], got, want[i])
		}
	}
	for sql, code := range map[string]string{
		"SELECT to_char(5, '999')":                                           "D015",
		"SELECT to_char(DATE '2025-03-09', 'WW')":                            "D020",
		"SELECT to_char(DATE '2025-03-09', 'SSSS')":                          "D020",
		"SELECT format_date('%j', DATE '2025-03-09')":                        "D020",
		"SELECT to_timestamp(0.5)":                                           "D015",
		"SELECT date_diff(DATE '2025-03-01', DATE '2025-02-28', WEEK)":       "D017",
		"SELECT timestamp_diff(DATE '2025-03-01', DATE '2025-02-28', MONTH)": "D017",
		"SELECT date_diff(5, DATE '2025-02-28', DAY)":                        "D015",
	} {
		var r *Refusal
		if _, err := db.Explain(t.Context(), sql, nil); !errors.As(err, &r) || r.Code != code || r.Hint == "" {
			t.Errorf("%s: %v, want %s with a hint", sql, err, code)
		}
	}
}
