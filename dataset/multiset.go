package dataset

// These compare whole records and count how often each occurs. Union, Intersect and
// Except are those of multisets (SQL's with ALL, but Union); for sets, take Distinct
// of both sides first.

// Distinct keeps one of each record.
//
// Stability 1: whether x is kept depends on whether it occurs.
func Distinct[T comparable](d Dataset[T]) Dataset[T] { return DistinctUpTo(d, 1) }

// DistinctUpTo keeps at most k of each record.
//
// Stability 1: x occurs min(m, k) times where it occurred m times, which changes by at
// most 1 when m does.
func DistinctUpTo[T comparable](d Dataset[T], k int64) Dataset[T] {
	if k < 1 {
		return Dataset[T]{source: d.failed(refuse("Distinct up to %d records", k))}
	}
	nothing := with[T](d.source, nil)
	nothing.stakes = nil
	return merge(d, nothing, func(m, _ int64) int64 { return min(m, k) })
}

// Union has each record as often as the side that has it more often.
//
// Stability 1 for each side: max(m, n) changes by at most 1 when m or n does.
func Union[T comparable](a, b Dataset[T]) Dataset[T] {
	return merge(a, b, func(m, n int64) int64 { return max(m, n) })
}

// Intersect has each record as often as the side that has it less often.
//
// Stability 1 for each side: min(m, n) changes by at most 1 when m or n does.
func Intersect[T comparable](a, b Dataset[T]) Dataset[T] {
	return merge(a, b, func(m, n int64) int64 { return min(m, n) })
}

// Except has each record as often as it occurs in a more often than in b.
//
// Stability 1 for each side: max(m−n, 0) changes by at most 1 when m or n does.
func Except[T comparable](a, b Dataset[T]) Dataset[T] {
	return merge(a, b, func(m, n int64) int64 { return m - n })
}

// Concat has the records of both sides.
//
// Stability 1 for each side.
func Concat[T any](a, b Dataset[T]) Dataset[T] {
	s := a.and(b.source)
	if s.err != nil {
		return Dataset[T]{source: s}
	}
	return with(s, append(append(make([]T, 0, len(a.records())+len(b.records())), a.records()...), b.records()...))
}

// merge has each record as often as count says of how often it occurs in a and b.
func merge[T comparable](a, b Dataset[T], count func(m, n int64) int64) Dataset[T] {
	s := a.and(b.source).failed(checkKeys[T]())
	if s.err != nil {
		return Dataset[T]{source: s}
	}
	occurs := map[T]*[2]int64{}
	for side, records := range [][]T{a.records(), b.records()} {
		for _, x := range records {
			if occurs[x] == nil {
				occurs[x] = &[2]int64{}
			}
			occurs[x][side]++
		}
	}
	var all []T
	for x, n := range occurs {
		for range count(n[0], n[1]) {
			all = append(all, x)
		}
	}
	return with(s, all)
}
