package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

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
	waitFor(t, func() bool { return b.server.room.Held() == 0 })
	second.say(query("FETCH c"))
	if got := second.until('Z'); got != "T D(row 0) C(FETCH 1) Z(I)" {
		t.Errorf("after one has ended: %s", got)
	}
}
