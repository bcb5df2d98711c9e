package postgres

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"pgregory.net/rapid"
)

// An account holds no more than is left, and whoever holds nothing finds room.
func TestRoomIsShared(t *testing.T) {
	r := newRoom(1000)
	sessions := map[string]*session{}
	for _, step := range []struct {
		session, account string
		bytes            int64
		want             bool
	}{
		{"a1", "anna", 400, true},
		{"a2", "anna", 101, false}, // 501 of hers, 499 left
		{"a2", "anna", 100, true},
		{"a1", "anna", 401, false},
		{"b1", "ben", 501, false},
		{"b1", "ben", 450, true}, // a first one
		{"b1", "ben", 451, false},
		{"c1", "cleo", 50, true},
		{"d1", "dora", 1, false},
		{"a1", "anna", 300, true},
		{"d1", "dora", 100, true},
	} {
		if sessions[step.session] == nil {
			sessions[step.session] = &session{}
		}
		if got := r.take(sessions[step.session], step.account, step.bytes); got != step.want {
			t.Errorf("%+v: %v, of all %d", step, got, r.total)
		}
	}
}

// The bytes of all sessions never exceed the bound, and none are left when all have ended.
func TestRoomAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRoom(1000)
		var sessions [6]session
		name := func(i int) string { return fmt.Sprint("account", i/2) }
		held := map[int]int64{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			i, bytes := rapid.IntRange(0, 5).Draw(t, "session"), rapid.Int64Range(0, 1200).Draw(t, "bytes")
			if rapid.Bool().Draw(t, "keeps") {
				r.keep(&sessions[i], name(i), bytes)
				held[i] = min(held[i], bytes)
			} else if r.take(&sessions[i], name(i), bytes) {
				held[i] = bytes
			}
			sum := int64(0)
			for _, n := range held {
				sum += n
			}
			if sum != r.total || sum > 1000 {
				t.Fatalf("%d bytes are held, and %d counted", sum, r.total)
			}
		}
		for i := range sessions {
			r.keep(&sessions[i], name(i), 0)
		}
		if r.total != 0 || len(r.accounts)+len(r.sessions) != 0 {
			t.Fatalf("%d bytes are left, of %v and %v", r.total, r.accounts, r.sessions)
		}
	})
}

// TestHeldResultsOfAllAreBounded: sessions hold a bounded number of bytes together. A session
// that ends makes room; an answer that was sent and is not kept holds none.
func TestHeldResultsOfAllAreBounded(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.ResultsOfAll = 500_000 })
	cursor := "DECLARE c CURSOR WITH HOLD FOR SELECT 'rows 3000'; FETCH c"
	first, second := b.signIn(t), b.signIn(t)
	for range 5 { // they are sent whole
		first.say(query("SELECT 'rows 3000'"))
		if got := first.until('Z'); got[len(got)-4:] != "Z(I)" || got[0] == 'E' {
			t.Fatalf("an answer: %s", got)
		}
	}
	for i, l := range []*line{first, second} {
		l.say(query(cursor))
		want := []string{"C(DECLARE CURSOR) T D(row 0) C(FETCH 1) Z(I)", "C(DECLARE CURSOR) E(54000) Z(I)"}[i]
		if got := l.until('Z'); got != want {
			t.Errorf("session %d: %s", i, got)
		}
	}
	first.say(&pgproto3.Terminate{})
	waitFor(t, func() bool { b.server.room.mu.Lock(); defer b.server.room.mu.Unlock(); return b.server.room.total == 0 })
	second.say(query("FETCH c"))
	if got := second.until('Z'); got != "T D(row 0) C(FETCH 1) Z(I)" {
		t.Errorf("after one has ended: %s", got)
	}
}
