package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Selection is which records are wanted: those that all its fields let through. The zero
// value wants all but commits, of which a reservation says itself whether it has one.
type Selection struct {
	Before     int64 // records before this one; 0: from the last
	Limit      int   // so many at most; 0: any number
	Domain     string
	Analyst    string
	Kinds      []string
	Unanswered bool // reservations without an answer
}

// Page returns the newest records of a selection, the newest first. It decodes those that it
// returns, and no others: what chooses them are columns, and an index of analysts in memory.
func (l *Ledger) Page(ctx context.Context, s Selection) (out []Entry, err error) {
	defer wrap(&err, "read history")
	if s.Analyst == "" {
		for limit := s.Limit; ; {
			if s.Limit = together; limit > 0 {
				s.Limit = min(together, limit-len(out))
			}
			some, err := l.page(ctx, s, nil)
			if out = append(out, some...); err != nil || len(some) < together || len(out) == limit {
				return out, err
			}
			s.Before = some[len(some)-1].Seq
		}
	}
	all, err := l.analysts.of(ctx, l, s.Analyst)
	if err != nil {
		return nil, err
	}
	if s.Before > 0 {
		n, _ := slices.BinarySearch(all, s.Before)
		all = all[:n]
	}
	limit := s.Limit
	for len(all) > 0 && (limit == 0 || len(out) < limit) {
		s.Limit = max(0, limit-len(out))
		n := max(0, len(all)-together)
		some, err := l.page(ctx, s, all[n:])
		if err != nil {
			return nil, err
		}
		out, all = append(out, some...), all[:n]
	}
	return out, nil
}

// page returns the newest records of a selection, among some if they are not nil.
func (l *Ledger) page(ctx context.Context, s Selection, among []int64) (out []Entry, err error) {
	const commit = "EXISTS (SELECT 1 FROM records c WHERE c.kind = 'commit' AND c.ref = r.seq)"
	where, args := []string{"r.kind <> 'commit'"}, []any{}
	add := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	if s.Before > 0 {
		add("r.seq < ?", s.Before)
	}
	if s.Domain != "" {
		add("r.domain = ?", s.Domain)
	}
	if s.Kinds != nil {
		where = append(where, "r.kind IN (NULL"+strings.Repeat(", ?", len(s.Kinds))+")")
		for _, k := range s.Kinds {
			args = append(args, k)
		}
	}
	if among != nil {
		numbers := make([]string, len(among))
		for i, seq := range among {
			numbers[i] = strconv.FormatInt(seq, 10)
		}
		where = append(where, "r.seq IN (NULL, "+strings.Join(numbers, ", ")+")")
	}
	if s.Unanswered {
		where = append(where, "r.kind = 'reserve' AND NOT "+commit)
	}
	text := "SELECT " + columns + ", " + commit + " FROM records r WHERE " + strings.Join(where, " AND ") + " ORDER BY r.seq DESC"
	if s.Limit > 0 {
		text += " LIMIT " + strconv.Itoa(s.Limit)
	}
	rows, err := l.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		var committed bool
		r, err := l.chain.scan(rows, &committed)
		if err != nil {
			return nil, err
		}
		l.decoded.Add(1)
		e, err := r.entry()
		if err != nil {
			return nil, err
		}
		h, err := l.told(ctx, r, e)
		if err != nil {
			return nil, err
		}
		if s.Analyst != "" && h.Analyst != s.Analyst {
			return nil, fmt.Errorf("%w: record %d is of another analyst than it was", ErrTampered, r.seq)
		}
		h.Committed = committed
		out = append(out, h)
	}
	return out, storage(rows.Err())
}

// analysts knows the records of each analyst, by their numbers. Records are never changed, so
// that it looks at each once; it holds a number for each.
type analysts struct {
	mu   sync.Mutex
	upTo int64
	by   map[string][]int64
}

// of returns an analyst's records, the oldest first. They must not be changed.
func (a *analysts) of(ctx context.Context, l *Ledger, name string) ([]int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		n, err := a.more(ctx, l)
		if err != nil {
			return nil, err
		}
		if n < together {
			return slices.Clip(a.by[name]), nil
		}
	}
}

// more looks at the next records, and returns how many they were.
func (a *analysts) more(ctx context.Context, l *Ledger) (n int, err error) {
	// What is read of a body here only finds records: those that are told are decoded with
	// their hash checked.
	expression, decode := l.store.analyst()
	rows, err := l.db.QueryContext(ctx, "SELECT seq, "+expression+" FROM records WHERE seq > ? AND kind <> 'commit' ORDER BY seq LIMIT ?", a.upTo, together)
	if err != nil {
		return 0, storage(err)
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		var seq int64
		var text sql.RawBytes
		if err := rows.Scan(&seq, &text); err != nil {
			return n, storage(err)
		}
		of, err := decode(text)
		if err != nil {
			return n, fmt.Errorf("%w: record %d: %v", ErrTampered, seq, err)
		}
		if a.by == nil {
			a.by = map[string][]int64{}
		}
		if of != "" {
			a.by[of] = append(a.by[of], seq)
		}
		a.upTo = seq
	}
	return n, storage(rows.Err())
}

// A Head is where the chain ends.
type Head struct {
	Records, Charges int64
	Hash             []byte
}

// Head returns where the chain ends. It decodes no record.
func (l *Ledger) Head(ctx context.Context) (h Head, err error) {
	defer wrap(&err, "read head")
	r, err := l.chain.scan(l.db.QueryRowContext(ctx, "SELECT "+columns+" FROM records r ORDER BY r.seq DESC LIMIT 1"))
	if err != nil {
		return h, err
	}
	h.Records, h.Hash = r.seq, r.hash[:]
	return h, storage(l.db.QueryRowContext(ctx, "SELECT count(*) FROM records WHERE kind = 'reserve' AND seq <= ?", r.seq).Scan(&h.Charges))
}
