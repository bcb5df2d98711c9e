//go:build cgo && linux

package siege_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
)

// A storm is many clients of a server that is killed and started again.
type storm struct {
	*stand
	mu      sync.Mutex
	now     *server // nil while none runs
	heard   map[question][]string
	asked   map[question]bool
	refused map[string]int // by why
	wrong   []string
	answers int
}

// A question is a statement of an analyst's. All clients of one ask it alike.
type question struct{ analyst, sql string }

func (m *storm) server() *server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *storm) set(v *server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = v
}

// accounts of the storm: the first have a quota each, the next share one of their group, the
// last have the domain's budget alone.
func stormAccounts() (names []string) {
	for i := range 10 {
		names = append(names, fmt.Sprintf("a%d", i))
	}
	return names
}

// quotas in rho; group g has the accounts a3 to a5.
var quotas = map[string]string{"a0": "0.002", "a1": "0.006", "a2": "0.02", "group:g": "0.01"}

func (m *storm) quotas(t *testing.T) {
	t.Helper()
	m.withAccounts(t, func(a *people.Accounts) (err error) {
		for _, name := range []string{"a3", "a4", "a5"} {
			err = errors.Join(err, a.Join(t.Context(), "olga", name, "g", true))
		}
		for of, text := range quotas {
			err = errors.Join(err, a.Quota(t.Context(), "olga", of, domain, &ledger.Allowance{Amounts: filter.Amounts{Rho: rho(t, text)}}))
		}
		return err
	})
}

func rho(t testing.TB, text string) privacy.Rho {
	t.Helper()
	r, err := privacy.ParseRho(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHundredClients lets a hundred clients of ten accounts ask through all doors, who leave
// when they like, while the server is killed at random instants and started again. It lasts
// 6 seconds, or until a quota is used up, and 10 minutes with DISCREET_SOAK. Afterwards: spent is within the budget and every
// quota, and is what the history adds up to; a question was answered once, however often and
// wherever it was asked; what any client heard, or heard a part of, is in the history, with who
// asked, and is what the ledger gives to who asks again, free of charge.
func TestHundredClients(t *testing.T) {
	length, most, epsilon := 6*time.Second, 4*time.Minute, "1.6"
	if soak() {
		length, most, epsilon = 10*time.Minute, 12*time.Minute, "5"
	}
	names := stormAccounts()
	m := &storm{stand: newStand(t, epsilon, names...), heard: map[question][]string{}, asked: map[question]bool{}, refused: map[string]int{}}
	m.quotas(t)
	ctx, stop := context.WithTimeout(t.Context(), most)
	defer stop()
	var clients sync.WaitGroup
	for i := range 100 {
		clients.Go(func() { m.client(ctx, names[i%len(names)], slices.Sorted(maps.Keys(doors))[i%len(doors)], i) })
	}
	count := 0
	for began := time.Now(); ctx.Err() == nil && (time.Since(began) < length || !m.usedUp()); {
		starts := time.Now()
		v, err := m.start(time.Minute)
		if err != nil {
			t.Error(err)
			stop()
			break
		}
		m.set(v)
		// On a machine that is busy, where a server starts slowly, it also answers slowly.
		lives := max(3*time.Second, 4*time.Since(starts))
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(lives)):
		}
		m.set(nil)
		v.kill()
		count++
	}
	stop()
	clients.Wait()
	m.audit(t)
	t.Logf("%d kills, %d questions, %d answers heard, refused %v", count, len(m.asked), m.answers, m.refused)
	if !m.usedUp() {
		t.Error("nothing was used up")
	}
}

// usedUp reports whether somebody met the end of a quota and, in a long storm, of the budget.
func (m *storm) usedUp() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused["quota"] > 0 && (!soak() || m.refused["budget"] > 0)
}

// client asks until the end: new questions, and old ones of its account.
func (m *storm) client(ctx context.Context, name, door string, seed int) {
	for ctx.Err() == nil {
		v := m.server()
		if v == nil {
			pause(ctx, 20*time.Millisecond)
			continue
		}
		c, err := m.open(ctx, v, name, door)
		if err != nil {
			pause(ctx, rand.N(200*time.Millisecond))
			continue
		}
		for range rand.N(20) {
			q := question{name, small(rand.N(200))}
			if rand.N(10) == 0 {
				q.sql = large(200 + rand.N(20))
			}
			if !m.ask(ctx, c, q) {
				break
			}
			pause(ctx, rand.N(300*time.Millisecond))
		}
		c.close()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (m *storm) open(ctx context.Context, v *server, name, door string) (client, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return doors[door](ctx, v, name, m.tokens[name])
}

// ask asks one question and keeps what was heard; it reports whether the conversation goes on.
func (m *storm) ask(ctx context.Context, c client, q question) bool {
	patience := 10 * time.Second
	if rand.N(5) == 0 { // some leave early
		patience = rand.N(100 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := c.ask(ctx, q.sql, amount)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[q] = true
	heard, known := m.heard[q]
	n := min(len(heard), len(a.rows))
	if !slices.Equal(heard[:n], a.rows[:n]) || err == nil && len(a.rows) < len(heard) {
		m.wrong = append(m.wrong, fmt.Sprintf("%s heard two answers to %s: %.100s and %.100s", q.analyst, q.sql, heard, a.rows))
	}
	if len(a.rows) > n || err == nil && !known {
		m.heard[q] = a.rows
	}
	if err == nil {
		m.answers++
		return true
	}
	why := reason(err)
	m.refused[why]++
	return why != "gone"
}

// reason is why a client got no answer.
func reason(err error) string {
	var p *pgconn.PgError
	var r *refusal
	text := ""
	switch {
	case errors.As(err, &p) && p.Code == "53400":
		text = p.Message
	case errors.As(err, &r) && (r.status == http.StatusPaymentRequired || r.status == 0):
		text = r.text
	default:
		return "gone"
	}
	switch {
	case strings.Contains(text, "quota"):
		return "quota"
	case strings.Contains(text, "D076") || strings.Contains(text, "budget"):
		return "budget"
	}
	return text
}

// audit holds the books against what was heard.
func (m *storm) audit(t *testing.T) {
	t.Helper()
	for _, w := range m.wrong {
		t.Error(w)
	}
	b := m.books(t)
	type tally struct{ reserved, committed int }
	found := map[question]*tally{}
	spent := map[string]privacy.Rho{}
	for _, e := range b.entries {
		if e.Kind != "reserve" {
			continue
		}
		q := question{e.Analyst, e.Statement}
		if !m.asked[q] {
			t.Errorf("%s is charged for what nobody asked: %s", e.Analyst, e.Statement)
		}
		if found[q] == nil {
			found[q] = &tally{}
		}
		found[q].reserved++
		if e.Committed {
			found[q].committed++
		}
		for _, h := range e.Holders {
			spent[strings.TrimPrefix(h, "account:")] = spent[strings.TrimPrefix(h, "account:")].Add(e.Charge.Rho)
		}
	}
	unfinished := 0
	for q, n := range found {
		unfinished += n.reserved - n.committed
		if n.committed > 1 {
			t.Errorf("%s was answered and charged %d times: %s", q.analyst, n.committed, q.sql)
		}
	}
	for q, rows := range m.heard {
		if found[q] == nil || found[q].committed == 0 {
			t.Errorf("%s heard %d rows that are not in the history: %s", q.analyst, len(rows), q.sql)
		}
	}
	l := m.ledger(t)
	for of, quota := range quotas {
		if spent[of].Cmp(rho(t, quota)) > 0 {
			t.Errorf("%s spent %v of a quota of %s", of, spent[of], quota)
		}
		holder := of
		if !strings.Contains(of, ":") {
			holder = "account:" + of
		}
		if h, err := l.Holding(t.Context(), holder, domain); err != nil || !h.Spent.Rho.Equal(spent[of]) {
			t.Errorf("%s has spent %v by the history, and %v by its quota: %v", of, spent[of], h.Spent.Rho, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("spent is rho %v of %v, %d of %d records are reservations without an answer", b.balance.Spent.Rho, b.balance.Limit.Rho, unfinished, len(b.entries))

	v := m.serve(t)
	defer v.kill()
	again := 0
	for q, rows := range m.heard {
		if again++; again > 3000 {
			break
		}
		ctx, cancel := bounded(t)
		c, err := byHTTP(ctx, v, q.analyst, m.tokens[q.analyst])
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.ask(ctx, q.sql, amount)
		c.close()
		cancel()
		if err != nil || !a.reused || len(a.rows) < len(rows) || !slices.Equal(rows, a.rows[:len(rows)]) {
			t.Errorf("%s heard %d rows, and asked again has %d others, reused %v, %v: %s", q.analyst, len(rows), len(a.rows), a.reused, err, q.sql)
		}
	}
	v.kill()
	if after := m.books(t).balance.Spent.Rho; !after.Equal(b.balance.Spent.Rho) {
		t.Errorf("repetitions have cost: spent was rho %v and is %v", b.balance.Spent.Rho, after)
	}
}
