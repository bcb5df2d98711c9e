package datanode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/notation"
)

// A FileColumn declares a column of a file.
type FileColumn struct {
	Name string
	Text bool // texts, not numbers
}

// File reads the declared columns of a CSV file, whose first record names its columns.
// Each record is a row of another unit. No record is an error, whatever its bytes are
// (package records has the rule): a number that is missing or cannot be read is NaN, a
// text empty.
//
// The owner reads it now; neighbours differ in one of the rows that were read.
func File(ctx context.Context, path string, columns ...FileColumn) (d Data, err error) {
	r, err := records.OpenCSV(ctx, path, notation.Form{})
	if err != nil {
		return Data{}, fmt.Errorf("read private file: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	own, at := make([]column, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		own[i] = column{name: c.Name}
		if c.Text {
			own[i].texts = []string{}
		} else {
			own[i].numbers = []float64{}
		}
		if at[i] = slices.Index(r.Header(), c.Name); at[i] < 0 {
			return Data{}, fmt.Errorf("read private file: it has no column %q", c.Name)
		}
	}
	for {
		record, err := r.Next()
		if err == io.EOF {
			return newFrame(own)
		}
		if err != nil {
			return Data{}, fmt.Errorf("read private file: %w", err)
		}
		for i := range own {
			field := string(record.Fields[at[i]])
			if own[i].text() {
				own[i].texts = append(own[i].texts, field)
				continue
			}
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				x = math.NaN()
			}
			own[i].numbers = append(own[i].numbers, x)
		}
	}
}
