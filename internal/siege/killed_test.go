//go:build cgo && linux

package siege_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// amount is what each statement may cost.
const amount = "0.001"

// small is a statement of one row, and large one whose answer takes several writes. Each
// number makes another.
func small(i int) string {
	return fmt.Sprintf("SELECT count(*) AS n FROM visits WHERE age < %d", 1000+i)
}

func large(i int) string {
	return fmt.Sprintf("SELECT l.name, l.text, k.name AS other, r.n FROM (%s) AS r CROSS JOIN labels AS l CROSS JOIN labels AS k ORDER BY 1, 3", small(i))
}

// An instant is one at which the server is killed: before the n-th call of a kind.
type instant struct {
	call
	n int
}

// A kill is one of a server that is asked a statement at a door.
type kill struct {
	door, name, sql string
	at              instant
}

// instants are those of a statement whose calls were seen, each with the number of calls
// before it.
func instants(seen []call) (all []instant) {
	count := map[call]int{}
	for _, c := range seen {
		count[c]++
		all = append(all, instant{c, count[c]})
	}
	return all
}

// TestKilledInEveryPhase kills the server before the system calls that it makes for one
// statement: while it reads what is asked, before, in and after the reservation, while the
// engine reads, before, in and after the commit and the anchor, before and while the answer is
// sent. A statement that was answered is charged and stored; one that was not is charged or
// not, and what was reserved stays spent. Asked again of the next server, what was stored comes
// free, and what was not is charged. CI takes a share of the instants of each door at which the
// kind of call changes; DISCREET_SOAK takes all instants, by chance in what order, and ends in time
// for -timeout.
func TestKilledInEveryPhase(t *testing.T) {
	s := newStand(t, "3000", "anna")
	number := 0
	var kills []kill
	for d, door := range slices.Sorted(maps.Keys(doors)) {
		for name, statement := range map[string]func(int) string{"small": small, "large": large} {
			number++
			v := s.serve(t)
			seen, first := s.killed(t, v, door, statement(number), instant{})
			v.kill()
			if first != "answered" {
				t.Fatalf("%s: without a kill: %s", door, first)
			}
			all := instants(seen)
			writes := 0
			for _, c := range seen {
				if c == "write client" {
					writes++
				}
			}
			for i, at := range all {
				sends := at.call == "write client"
				edge := i == 0 || seen[i-1] != at.call
				switch {
				case soak() && (name == "small" || sends):
				case name == "large" && sends && at.n == writes/2+1:
				case name == "small" && edge && (i%6 == 2*d || sends && i > len(all)/2):
				default:
					continue
				}
				number++
				kills = append(kills, kill{door, name, statement(number), at})
			}
		}
	}
	if soak() { // a run that ends early has seen some of each door
		rand.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
	}
	phases, count := map[string]int{}, 0
	for _, k := range kills {
		if end, ok := t.Deadline(); ok && time.Until(end) < 2*time.Minute && soak() {
			t.Logf("%d of %d instants were left out for want of time", len(kills)-count, len(kills))
			break
		}
		count++
		_, phase := s.killed(t, s.serve(t), k.door, k.sql, k.at)
		phases[phase]++
		t.Logf("%s, %s, before %s %d: %s", k.door, k.name, k.at.call, k.at.n, phase)
	}
	for _, phase := range []string{"not reserved", "reserved", "committed"} {
		if phases[phase] == 0 {
			t.Errorf("no kill left a statement %s", phase)
		}
	}
	t.Logf("%d kills: %v", count, phases)
	s.books(t)
}

// killed asks a statement of a server that is killed at an instant, holds the books against
// what the client saw, and asks again of another server. It says what the kill left of the
// statement. The zero instant kills nothing.
func (s *stand) killed(t *testing.T, v *server, door, sql string, at instant) (seen []call, phase string) {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	token := s.tokens["anna"]
	c, err := doors[door](ctx, v, "anna", token)
	if err != nil {
		t.Fatal(err)
	}
	w := watchCalls(t, v, kills, at.call, at.n)
	got, gotErr := c.ask(ctx, sql, amount)
	if at.n == 0 {
		v.kill()
	}
	c.close()
	select {
	case <-v.ended:
	case <-time.After(5 * time.Second): // this time the call was not made so often
		v.kill()
	}
	seen = w.seen(t)

	b := s.books(t)
	asked := b.of("anna", sql)
	committed := len(asked) == 1 && asked[0].Committed
	switch {
	case len(asked) > 1:
		t.Fatalf("%s, %v: one statement is charged %d times", door, at, len(asked))
	case gotErr == nil && !committed:
		t.Fatalf("%s, %v: answered, and not stored: %d reservations", door, at, len(asked))
	case gotErr == nil:
		phase = "answered"
	case len(got.rows) > 0 && !committed:
		t.Fatalf("%s, %v: %d rows were sent, and are not stored", door, at, len(got.rows))
	case len(got.rows) > 0:
		phase = "partly sent"
	case committed:
		phase = "committed"
	case len(asked) == 1:
		phase = "reserved"
	default:
		phase = "not reserved"
	}

	v = s.serve(t)
	defer v.kill()
	want := len(asked)
	if !committed {
		want++
	}
	for _, again := range []string{door, "http"} {
		c, err := doors[again](ctx, v, "anna", token)
		if err != nil {
			t.Fatal(err)
		}
		repeated, err := c.ask(ctx, sql, amount)
		c.close()
		if err != nil {
			t.Fatalf("%s, %v: asked again: %v", door, at, err)
		}
		if again == "http" && door != "http" && !repeated.reused {
			t.Errorf("%s, %v: by HTTP the answer is another", door, at)
		}
		if len(got.rows) > len(repeated.rows) || !slices.Equal(got.rows, repeated.rows[:len(got.rows)]) {
			t.Errorf("%s, %v: the answer was\n%.200s\nand asked again it is\n%.200s", door, at, got.rows, repeated.rows)
		}
		if gotErr != nil {
			got.rows = repeated.rows
		}
	}
	v.kill()
	if n := len(s.books(t).of("anna", sql)); n != want {
		t.Errorf("%s, %v: after %s, asked again, it is charged %d times, not %d", door, at, phase, n, want)
	}
	return seen, phase
}
