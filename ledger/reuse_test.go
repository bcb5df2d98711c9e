package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// concentrated is a domain that adds up rho.
var concentrated = DomainBudget{ID: "patient", Measure: filter.ZCDP, Epsilon: eps("7"), Delta: del("1e-6")}

// gaussian is the noise of a part of the cost, in hundredths of rho.
func gaussian(part int64) privacy.Event {
	return privacy.DiscreteGaussian{Variance: big.NewRat(50, part), SensitivitySquared: big.NewRat(1, 1)}
}

// most limits what an account may ask at once, in hundredths of rho; 0 lifts that.
func most(account string, part int64) Rule {
	r := Rule{Subject: "account:" + account, Name: LimitRule, Object: "patient", Body: json.RawMessage("null")}
	if part > 0 {
		r.Body = must(json.Marshal(Allowance{filter.Amounts{Rho: must(privacy.NewRho(big.NewRat(part, 100)))}}))
	}
	return r
}

// asking asks a question for parts of the cost, in hundredths of rho, by an analyst who has an account.
func asking(analyst, of string, parts ...int64) Request {
	r := ask("0.1")
	r.Analyst, r.Holders, r.Catalog, r.Events = analyst, []string{"account:" + analyst}, []byte("catalog"), nil
	for _, p := range parts {
		r.Events = append(r.Events, gaussian(p))
	}
	r.Question, r.Repetition, r.Relations = []byte(of), fmt.Append(nil, of, parts), [][]byte{[]byte(of)}
	r.Serves = func(released []privacy.Event, _ []byte) bool {
		return slices.EqualFunc(released, r.Events, func(a, b privacy.Event) bool {
			return a.(privacy.DiscreteGaussian).Variance.Cmp(b.(privacy.DiscreteGaussian).Variance) <= 0
		})
	}
	return r
}

// answer is one that a model has seen committed.
type answered struct {
	analyst, question string
	parts             []int64
	version           int
	text              string
	average           bool // of an answer and what was paid for beside it
}

func (a answered) cost() int64 { return a.parts[0] + a.parts[1] }

// books are what a ledger of one domain must tell, in a few lines: who pays, and who is told what.
type books struct {
	version int // 0: none was declared
	spent   int64
	budget  int64
	limits  map[string]int64 // of an account; none: as much as there is
	answers []answered
}

// tells is the answer that a request must get; "" for none.
func (m *books) tells(analyst, question string, parts []int64) string {
	for _, a := range slices.Backward(m.answers) { // a repetition: the account's own, at just this cost
		if a.version == m.version && a.analyst == analyst && a.question == question && slices.Equal(a.parts, parts) {
			return a.text
		}
	}
	for _, a := range slices.Backward(m.answers) {
		limit, limited := m.limits[analyst]
		if m.version > 0 && a.version == m.version && a.question == question && a.parts[0] >= parts[0] && a.parts[1] >= parts[1] && !(limited && a.cost() > limit) {
			return a.text
		}
	}
	return ""
}

// owes is what a request must be charged that nothing serves: what an answer of the same question and version lacks in each part, of the answer
// that lacks least, if whoever asks may be told it and may ask so much, and it is no average itself; or all.
func (m *books) owes(analyst, question string, parts []int64) int64 {
	least := parts[0] + parts[1]
	limit, limited := m.limits[analyst]
	for _, a := range m.answers {
		if m.version == 0 || a.version != m.version || a.question != question || a.average || limited && max(a.cost(), parts[0]+parts[1]) > limit {
			continue
		}
		if a.parts[0] < parts[0] && a.parts[1] < parts[1] {
			least = min(least, parts[0]+parts[1]-a.cost())
		}
	}
	return least
}

// sharpens lets a request sharpen answers that are less precise in both parts.
func sharpens(r Request, parts []int64) Request {
	r.Sharpens = func(released []privacy.Event) (more []privacy.Event) {
		for i, e := range released {
			part := new(big.Rat).Quo(big.NewRat(50, 1), e.(privacy.DiscreteGaussian).Variance).Num().Int64()
			if part >= parts[i] {
				return nil
			}
			more = append(more, gaussian(parts[i]-part))
		}
		return more
	}
	r.Averages, r.Keeps = func([]byte) bool { return true }, "rows"
	return r
}

// Random sequences of questions, at random costs, by accounts with and without limits, of versions, fresh
// answers, reservations that are never answered, and processes that end, behave as the model does: what is
// told was paid for, on this version, at no less precision and for nobody who may not ask so much; and what is
// not told is charged or refused as if nobody had asked.
func TestReuseBehavesAsItsModel(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine at a time: nothing for the race detector to see")
	}
	t.Parallel()
	outer, dir, n := t, t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := fresh(outer)
		guarded := concentrated
		guarded.Guards = visits
		o := Options{Domains: []DomainBudget{guarded}, Anchor: filepath.Join(dir, strconv.Itoa(n)), Now: now}
		l := must(Create(ctx, path, o))
		other := must(Open(ctx, path, o))
		defer func() { l.Close(); other.Close() }()
		hundredths := new(big.Rat).Mul(must(l.Balance(ctx, "patient")).Limit.Rho.Rat(), big.NewRat(100, 1))
		m := &books{limits: map[string]int64{}, budget: new(big.Int).Quo(hundredths.Num(), hundredths.Denom()).Int64()}
		analyst := rapid.SampledFrom([]string{"ann", "bob", "eve"})
		drawn := func(t *rapid.T) (Request, string, []int64) {
			who, of := analyst.Draw(t, "analyst"), rapid.SampledFrom([]string{"how many", "how much"}).Draw(t, "question")
			parts := []int64{rapid.Int64Range(1, 3).Draw(t, "first"), rapid.Int64Range(1, 3).Draw(t, "second")}
			return sharpens(asking(who, of, parts...), parts), of, parts
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				r, of, parts := drawn(t)
				r.Fresh = rapid.IntRange(0, 4).Draw(t, "fresh") == 0
				want := ""
				if !r.Fresh {
					want = m.tells(r.Analyst, of, parts)
				}
				cost := parts[0] + parts[1]
				owes := cost
				if !r.Fresh {
					owes = m.owes(r.Analyst, of, parts)
				}
				limit, limited := m.limits[r.Analyst]
				res, err := l.Reserve(ctx, r)
				switch {
				case want != "":
					if err != nil || string(res.Answer) != want || res.Charge.Rho.Sign() != 0 {
						t.Fatalf("%s asks %s %v: %+v, %v, not the stored %q", r.Analyst, of, parts, res, err, want)
					}
					return
				case m.spent+owes > m.budget:
					expect(t, err, ErrExhausted)
					return
				case limited && cost > limit:
					expect(t, err, ErrLimit)
					return
				case err != nil || res.Answer != nil:
					t.Fatalf("%s asks %s %v: %+v, %v, not charged", r.Analyst, of, parts, res, err)
				}
				m.spent += owes
				if (res.Sharpens != nil) != (owes < cost) {
					t.Fatalf("%s asks %s %v: %+v, owes %d", r.Analyst, of, parts, res, owes)
				}
				version := m.version
				switch rapid.IntRange(0, 5).Draw(t, "then") {
				case 0: // its process is killed
					return
				case 1: // the data change meanwhile
					m.version++
					must(other.NewVersion(ctx, "", "", now))
				}
				a := answered{r.Analyst, of, parts, version, fmt.Sprint("answer of ", res.ID), owes < cost}
				err = l.Commit(ctx, res, []byte(a.text))
				if a.average && version != m.version { // which may be of both
					expect(t, err, ErrVersion)
					return
				}
				expect(t, err, nil)
				m.answers = append(m.answers, a)
			},
			"explain": func(t *rapid.T) {
				r, of, parts := drawn(t)
				found, want := must(other.Free(ctx, r)), m.tells(r.Analyst, of, parts) != ""
				if free := found != nil && found.Sharpens == nil; free != want {
					t.Fatalf("%s explains %s %v: free %v, want %v", r.Analyst, of, parts, free, want)
				}
				if owes := m.owes(r.Analyst, of, parts); !want && (found != nil) != (owes < parts[0]+parts[1]) || found != nil && !want && found.Charge.Rho.Rat().Cmp(big.NewRat(owes, 100)) != 0 {
					t.Fatalf("%s explains %s %v: %+v, owes %d", r.Analyst, of, parts, found, owes)
				}
			},
			"ask for less": func(t *rapid.T) { // than all that "how many" says
				r := asking(analyst.Draw(t, "analyst"), "less", 1, 1)
				r.Free, r.Makes = true, func(int64, []byte) bool { return true }
				all, _, version, err := other.Asked(ctx, "patient", 0, 1000)
				if err != nil || (version == 0) != (m.version == 0) {
					t.Fatalf("version %d: %v", version, err)
				}
				for _, a := range all {
					if string(a.Relations[0]) == "how many" {
						r.From = append(r.From, a.Reservation)
					}
				}
				if rapid.Bool().Draw(t, "and what is none") {
					r.From = append(r.From, rapid.Int64Range(-1, 100).Draw(t, "none"))
				}
				want := ""
				for _, a := range m.answers {
					limit, limited := m.limits[r.Analyst]
					if m.version > 0 && a.version == m.version && a.question == "how many" && !a.average && !(limited && a.cost() > limit) {
						want = a.text
					}
				}
				free := must(other.Free(ctx, r)) != nil
				res, err := l.Reserve(ctx, r)
				switch {
				case want == "" && (free || !errors.Is(err, ErrNotStored)) && !slices.ContainsFunc(m.answers, func(a answered) bool { return a.version == m.version }):
					t.Fatalf("%s is told %+v, %v for less", r.Analyst, res, err)
				case want != "" && (!free || err != nil || string(res.Answer) != want || !res.Made || res.Charge.Rho.Sign() != 0):
					t.Fatalf("%s is told %+v, %v for less, not %q", r.Analyst, res, err, want)
				}
			},
			"version": func(t *rapid.T) {
				m.version++
				must(l.NewVersion(ctx, "", "", now))
			},
			"limit": func(t *rapid.T) {
				who, part := analyst.Draw(t, "of"), rapid.Int64Range(0, 5).Draw(t, "most")
				delete(m.limits, who)
				if part > 0 {
					m.limits[who] = part
				}
				expect(t, l.SetRules(ctx, "owner", now, most(who, part)), nil)
			},
			"the other process": func(t *rapid.T) { l, other = other, l },
			"open again": func(t *rapid.T) {
				expect(t, l.Close(), nil)
				l = must(Open(ctx, path, o))
			},
			"": func(t *rapid.T) {
				if b := must(other.Balance(ctx, "patient")); b.Spent.Rho.Rat().Cmp(big.NewRat(m.spent, 100)) != 0 {
					t.Fatalf("spent %v, not %d hundredths", b.Spent.Rho, m.spent)
				}
			},
		})
		expect(t, l.Verify(ctx), nil)
	})
}

// What serves whom, case by case.
func TestReuse(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{concentrated}, Anchor: t.TempDir() + "/anchor"})
	early := asking("ann", "q", 2, 2)
	l.answered(t, early, "early")
	if res := l.answered(t, asking("bob", "q", 2, 2), "bob's"); res.Answer != nil {
		t.Errorf("before any version: %q", res.Answer)
	}
	must(l.NewVersion(ctx, "April", "", now))
	keyed := asking("ann", "q", 9, 9)
	keyed.IdempotencyKey = "k"
	l.answered(t, keyed, "keyed")
	l.answered(t, asking("ann", "q", 3, 1), "first")
	l.rule(t, most("eve", 3))
	with := func(r Request, f func(*Request)) Request { f(&r); return r }
	for _, c := range []struct {
		name    string
		request Request
		stored  string // "": charged
	}{
		{"the same, another's", asking("bob", "q", 3, 1), "first"},
		{"less", asking("bob", "q", 1, 1), "first"},
		{"less, who may not be told so much", asking("eve", "q", 2, 1), ""},
		{"less again", asking("eve", "q", 1, 1), "less, who may not be told so much"},
		{"more of one part, less of another", asking("bob", "q", 1, 2), ""},
		{"a cost that is no more, in one part", asking("bob", "q", 3, 2), ""},
		{"another question", asking("bob", "p", 1, 1), ""},
		{"another guard", with(asking("bob", "q", 1, 1), func(r *Request) { r.Guard = []byte("of other data") }), "refused"},
		{"fresh", with(asking("bob", "q", 2, 1), func(r *Request) { r.Fresh = true }), ""},
		{"under a key", with(asking("bob", "q", 1, 1), func(r *Request) { r.IdempotencyKey = "bob's" }), ""},
		{"without a question", with(asking("eve", "q", 1, 1), func(r *Request) { r.Question = nil }), ""},
	} {
		before := must(l.Balance(ctx, "patient")).Spent.Rho
		free := must(l.Free(ctx, c.request)) != nil
		res, err := l.Reserve(ctx, c.request)
		switch {
		case c.stored == "refused":
			if !errors.Is(err, ErrGuardDiffers) || free {
				t.Errorf("%s: %+v, %v", c.name, res, err)
			}
			continue
		case err != nil:
			t.Fatalf("%s: %v", c.name, err)
		}
		spent := !must(l.Balance(ctx, "patient")).Spent.Rho.Equal(before)
		if string(res.Answer) != c.stored || spent != (c.stored == "") || free != (c.stored != "") {
			t.Errorf("%s: answer %q, spent %v, free %v", c.name, res.Answer, spent, free)
		}
		if res.Answer == nil {
			if err := l.Commit(ctx, res, []byte(c.name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	must(l.NewVersion(ctx, "May", "", now))
	if must(l.Free(ctx, asking("bob", "q", 1, 1))) != nil {
		t.Error("an answer of April serves in May")
	}
	l.verifyOrFail(t)
}

// A request for less is served by an answer that has all of it, if that is of this version, of this domain, finished, and was not paid for
// under a key; and is charged nothing in any case.
func TestReuseOfLess(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{concentrated}})
	less := asking("bob", "less", 1, 1)
	less.Free, less.Makes = true, func(int64, []byte) bool { return true }
	reserved := func(r Request) int64 {
		t.Helper()
		res, err := l.Reserve(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return res.ID
	}
	serves := func(name string, from int64, want string) {
		t.Helper()
		r, before := less, must(l.Balance(ctx, "patient")).Spent.Rho
		r.From = []int64{from}
		free := must(l.Free(ctx, r)) != nil
		res, err := l.Reserve(ctx, r)
		if want == "" && (free || !errors.Is(err, ErrNotStored)) || want != "" && (!free || err != nil || !res.Made || string(res.Answer) != want) {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		if !must(l.Balance(ctx, "patient")).Spent.Rho.Equal(before) {
			t.Errorf("%s is charged", name)
		}
	}
	answered := func(r Request, text string) int64 {
		t.Helper()
		res := l.answered(t, r, text)
		return res.ID
	}
	early := answered(asking("ann", "q", 2, 2), "early")
	serves("before any version", early, "")
	must(l.NewVersion(ctx, "April", "", now))
	keyed := asking("ann", "q", 9, 9)
	keyed.IdempotencyKey = "k"
	serves("paid for under a key", answered(keyed, "keyed"), "")
	serves("without an answer", reserved(asking("ann", "q", 3, 2)), "")
	april := answered(asking("ann", "q", 3, 1), "april")
	serves("of April", april, "april")
	serves("of before any version", early, "")
	serves("nothing", 10_000, "")
	all, last, version, err := l.Asked(ctx, "patient", 0, 100)
	if err != nil || version == 0 || len(all) != 2 || all[0].Reservation != april || string(all[0].Relations[0]) != "q" {
		t.Errorf("asked: %+v, %v", all, err)
	}
	later := asking("ann", "q", 1, 1)
	later.IdempotencyKey = "later"
	if of := answered(later, "under another key"); last >= of {
		t.Errorf("record %d was not there", of)
	} else if all, again, _, err := l.Asked(ctx, "patient", last, 100); err != nil || len(all) > 0 || again != of { // is not read again
		t.Errorf("asked after %d: %+v up to %d, %v", last, all, again, err)
	}
	under := less
	under.From, under.IdempotencyKey = []int64{april}, "bob's"
	if res, err := l.Reserve(ctx, under); !errors.Is(err, ErrNotStored) || must(l.Free(ctx, under)) != nil {
		t.Errorf("under a key, of which nothing is recorded: %+v, %v", res, err)
	}
	l.rule(t, most("eve", 3))
	over := asking("eve", "less", 1, 1) // who may ask this, but not what it is made of
	over.Free, over.Makes, over.From = true, less.Makes, []int64{april}
	if res, err := l.Reserve(ctx, over); !errors.Is(err, ErrNotStored) || must(l.Free(ctx, over)) != nil {
		t.Errorf("over a limit: %+v, %v", res, err)
	}
	wrong := less
	wrong.From, wrong.Makes = []int64{april}, func(int64, []byte) bool { return false }
	if res, err := l.Reserve(ctx, wrong); !errors.Is(err, ErrNotStored) {
		t.Errorf("an answer that has less: %+v, %v", res, err)
	}
	must(l.NewVersion(ctx, "May", "", now))
	serves("of April in May", april, "")
	if all, _, _, err := l.Asked(ctx, "patient", 0, 100); err != nil || len(all) > 0 {
		t.Errorf("asked in May: %+v, %v", all, err)
	}
	l.verifyOrFail(t)
}

// An account over its limit is told nothing, by whatever has been answered: the owner's grant of just the
// statement is what lets it be told, and is not used up by that.
func TestReuseNeedsAnApproval(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{concentrated}})
	must(l.NewVersion(ctx, "April", "", now))
	l.rule(t, most("eve", 3))
	eve := asking("eve", "q", 2, 2)
	_, alone := l.Reserve(ctx, eve)
	l.answered(t, asking("ann", "q", 2, 2), "ann's")
	_, err := l.Reserve(ctx, eve)
	if !errors.Is(err, ErrLimit) || err.Error() != alone.Error() || must(l.Free(ctx, eve)) != nil {
		t.Errorf("before a grant %v, and %v when nobody had asked", err, alone)
	}
	a := must(l.Ask(ctx, eve, "q", 9))
	if err := l.Decide(ctx, a.ID, true, "owner", "", now); err != nil {
		t.Fatal(err)
	}
	if res, err := l.Reserve(ctx, eve); err != nil || string(res.Answer) != "ann's" {
		t.Errorf("granted: %+v, %v", res, err)
	}
	if a := must(l.Approval(ctx, a.ID)); a.Status != Granted {
		t.Errorf("the grant is %s", a.Status)
	}
	l.verifyOrFail(t)
}

// Whoever edits the records cannot make an answer that of another question.
func TestForgedQuestion(t *testing.T) {
	l, path := create(t, Options{Domains: []DomainBudget{concentrated}})
	must(l.NewVersion(ctx, "April", "", now))
	l.answered(t, asking("ann", "q", 2, 2), "42")
	l.Close()
	forge(t, path, func(db *sql.DB) error {
		_, err := db.Exec("UPDATE records SET key = ? WHERE kind = 'reserve'", question("patient", []byte("p")))
		return err
	})
	l, err := Open(ctx, path, Options{})
	if err == nil {
		err = l.Verify(ctx)
		l.Close()
	}
	if !errors.Is(err, ErrTampered) {
		t.Errorf("verify: %v", err)
	}
}
