package dataset

import "github.com/discreet-dp/discreet/noise"

// Where keeps the records for which keep is true; one on which it panics is left out.
//
// Stability 1: each record is kept or not, by itself.
func Where[T any](d Dataset[T], keep func(T) bool) Dataset[T] {
	if d.err != nil {
		return d
	}
	var kept []T
	records := d.records()
	each(len(records), func(i int) {
		if keep(records[i]) {
			kept = append(kept, records[i])
		}
	}, nil)
	return with(d.source, kept)
}

// Select replaces each record by f of it, or by fallback where f panics.
//
// Stability 1: each record becomes one, by itself.
func Select[T, U any](d Dataset[T], fallback U, f func(T) U) Dataset[U] {
	if d.err != nil {
		return Dataset[U]{source: d.source}
	}
	records := d.records()
	made := make([]U, len(records))
	each(len(made), func(i int) { made[i] = f(records[i]) }, func(i int) { made[i] = fallback })
	return with(d.source, made)
}

// SelectMany replaces each record by the first k of what f makes of it, by none where
// f panics.
//
// Stability k: each record becomes at most k, by itself.
func SelectMany[T, U any](d Dataset[T], k int64, f func(T) []U) Dataset[U] {
	if k < 1 {
		return Dataset[U]{source: d.failed(refuse("SelectMany keeps %d records", k))}
	}
	if d.err != nil {
		return Dataset[U]{source: d.source}
	}
	var made []U
	records := d.records()
	each(len(records), func(i int) {
		all := f(records[i])
		made = append(made, all[:min(k, int64(len(all)))]...)
	}, nil)
	return with(d.times(k), made)
}

// Take keeps n records, chosen at random.
//
// Stability 2. Proof. Let one of two neighbours have the record r more, N+1 in all. For
// N+1 <= n both keep everything, at distance 1. Else choose uniformly n of the
// smaller's N. With probability n/(N+1) the larger keeps r, in place of a uniformly
// chosen one of these, and otherwise the same: that is a uniform choice of n of its
// N+1. The distance is at most 2, one out and one in (1 if n is 0). ∎
func Take[T any](d Dataset[T], n int64) Dataset[T] {
	s := d.usable()
	if n < 0 {
		s = s.failed(refuse("Take of %d records", n))
	}
	if s.err != nil {
		return Dataset[T]{source: s}
	}
	kept, err := choose(d.bits, d.records(), n)
	return with(d.times(2).failed(err), kept)
}

// choose returns min(n, len(records)) of the records.
func choose[T any](bits noise.Bits, records []T, n int64) ([]T, error) {
	if int64(len(records)) <= n {
		return records, nil
	}
	all := append([]T(nil), records...)
	if err := draw(bits, all, int(n)); err != nil {
		return nil, err
	}
	return all[:n:n], nil
}
