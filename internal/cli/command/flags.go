package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// OneOf sets a flag to one of several words.
func OneOf[S ~string](to *S, word string, words []S) error {
	if !slices.Contains(words, S(word)) {
		names := make([]string, len(words))
		for i, w := range words {
			names[i] = string(w)
		}
		if near := diagnostic.Nearest(word, names); near != "" {
			return fmt.Errorf("did you mean %s?", near)
		}
		return fmt.Errorf("want %s", strings.Join(names, ", "))
	}
	*to = S(word)
	return nil
}

// OrdersAbove reads Rényi orders: numbers, and ranges of whole numbers.
func OrdersAbove(text string, least float64) ([]float64, error) {
	var orders []float64
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "..")
		from, err := strconv.ParseFloat(lo, 64)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseFloat(hi, 64)
		}
		if err != nil || !(from > least) || !(to >= from) || to > 1e12 || to-from > 1e5 { // above 1e12, x++ is not the next number
			return nil, fmt.Errorf("want orders above %g, up to 1e12, such as 1.5,2..64", least)
		}
		for x := from; x <= to; x++ {
			orders = append(orders, x)
		}
	}
	return orders, nil
}

// Positive sets a finite number above 0.
func Positive(to *float64) func(string) error {
	return func(text string) error {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f > 0) || math.IsInf(f, 0) {
			return fmt.Errorf("want a positive number")
		}
		*to = f
		return nil
	}
}

// Whole reads a number of things.
func Whole(to *int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1_000_000 {
			return errors.New("want a whole number from 1 to 1000000")
		}
		*to = n
		return nil
	}
}

// List sets words that commas separate.
func List(to *[]string) func(string) error {
	return func(text string) error {
		*to = nil
		for word := range strings.SplitSeq(text, ",") {
			*to = append(*to, strings.TrimSpace(word))
		}
		return nil
	}
}
