package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// allow is a quota or a limit in epsilon; "" lifts it.
func allow(name, holder, epsilon string) Rule {
	r := Rule{Subject: holder, Name: name, Object: "patient", Body: json.RawMessage("null")}
	if epsilon != "" {
		r.Body = must(json.Marshal(Allowance{filter.Amounts{Epsilon: eps(epsilon)}}))
	}
	return r
}

func (l *Ledger) rule(t testing.TB, rules ...Rule) {
	t.Helper()
	if err := l.SetRules(ctx, "owner", now, rules...); err != nil {
		t.Fatal(err)
	}
}

func holding(epsilon string, holders ...string) Request {
	r := ask(epsilon)
	r.Holders, r.Repetition, r.Catalog = holders, []byte("plan"), []byte("catalog")
	return r
}

// A charge must fit the domain's budget and the quotas of all of its holders, whatever was
// spent before the quota was given; a refusal names the holder and charges nothing.
func TestQuotas(t *testing.T) {
	l, path := create(t, Options{})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	const anna, bob, nurses = "account:anna", "account:bob", "group:nurses"
	step := func(name string, on *Ledger, r Request, holder, left string) {
		t.Helper()
		before := must(l.Balance(ctx, "patient")).Spent.Epsilon
		_, err := on.Reserve(ctx, r)
		var refused *QuotaError
		switch {
		case holder == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case holder != "" && (!errors.Is(err, ErrQuota) || !errors.As(err, &refused) || refused.Holder != holder || refused.Left.Epsilon.String() != left):
			t.Errorf("%s: %v, %+v", name, err, refused)
		case holder != "" && !must(l.Balance(ctx, "patient")).Spent.Epsilon.Equal(before):
			t.Errorf("%s: the refusal was charged", name)
		}
	}
	step("without a quota", l, holding("0.2", anna, nurses), "", "")
	l.rule(t, allow(QuotaRule, anna, "0.3"), allow(QuotaRule, nurses, "0.5"))
	step("what was spent before counts", other, holding("0.2", anna, nurses), anna, "0.1")
	step("what fits", other, holding("0.1", anna, nurses), "", "")
	step("nothing left", l, holding("0.01", anna, nurses), anna, "0")
	step("not in the name of anna", l, holding("0.01"), "", "")
	step("of the group", other, holding("0.3", bob, nurses), nurses, "0.2")
	step("another of the group", other, holding("0.2", bob, nurses), "", "")
	step("the group is spent", l, holding("0.01", bob, nurses), nurses, "0")
	l.rule(t, allow(QuotaRule, nurses, "0.6"))
	step("a larger quota", other, holding("0.05", bob, nurses), "", "")
	l.rule(t, allow(QuotaRule, nurses, ""), allow(QuotaRule, anna, ""))
	step("lifted", other, holding("0.05", anna, nurses), "", "")
	l.rule(t, allow(QuotaRule, anna, "0.1"))
	step("a quota below what was spent", other, holding("0.01", anna), anna, "0")
	if h := must(other.Holding(ctx, anna, "patient")); h.Spent.Epsilon.String() != "0.35" || h.Quota.Epsilon.String() != "0.1" || h.Left.Epsilon.Sign() != 0 {
		t.Errorf("anna's: %+v", h)
	}
	l.verifyOrFail(t)
	other.verifyOrFail(t)
}

// A rule that does not fit its domain's measure is refused, when it is set.
func TestRulesOutOfMeasure(t *testing.T) {
	l, _ := create(t, Options{})
	for body, domain := range map[string]string{
		`{"rho": 1}`:                           "patient",
		`{"epsilon": 1, "delta": 1e-9}`:        "patient",
		`{"epsilon": 1, "rho": 1}`:             "patient",
		`{}`:                                   "patient",
		`{"epsilon": -1}`:                      "patient",
		`{"epsilon": "NaN"}`:                   "patient",
		`{"epsilon": 0}`:                       "patient",
		`{"delta": 1e-9}`:                      "visitor",
		`{"epsilon": 1}`:                       "visitor",
		`{"rho": 1, "epsilon": 1}`:             "visitor",
		`{"rho": 1, "epsilon": 1, "delta": 1}`: "visitor",
		`{"epsilon": 1} `:                      "nobody",
		`[`:                                    "patient",
	} {
		for _, name := range []string{QuotaRule, LimitRule} {
			if err := l.SetRules(ctx, "owner", now, Rule{Subject: "account:anna", Name: name, Object: domain, Body: json.RawMessage(body)}); err == nil {
				t.Errorf("%s %s of %s was recorded", name, body, domain)
			}
		}
	}
	for _, r := range []Rule{{}, {Subject: "x"}, {Name: "x"}, {Subject: "\xff", Name: "x", Body: json.RawMessage("1")}} {
		if err := l.SetRules(ctx, "owner", now, r); err == nil {
			t.Errorf("%+v was recorded", r)
		}
	}
	if n := len(must(l.History(ctx))); n != 3 {
		t.Errorf("%d records", n)
	}
	// A delta that is not named is the domain's.
	l.rule(t, Rule{Subject: "account:anna", Name: QuotaRule, Object: "visitor", Body: json.RawMessage(`{"rho": "0.1"}`)})
	if h := must(l.Holding(ctx, "account:anna", "visitor")); h.Quota.Rho.String() != "0.1" || h.Quota.Delta.String() != "5e-8" {
		t.Errorf("%+v", h.Quota)
	}
}

// Of two that are new at once one is, and rules are recorded all or none.
func TestNewRules(t *testing.T) {
	l, _ := create(t, Options{})
	first := Rule{Subject: "account:anna", Name: "role", Body: json.RawMessage(`"analyst"`), New: true}
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := l.SetRules(ctx, "owner", now, Rule{Subject: "x", Name: "y", Body: json.RawMessage("1")}, first); err == nil {
				made.Add(1)
			} else if !errors.Is(err, ErrExists) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	rules, last := must3(l.Rules(ctx, 0))
	if made.Load() != 1 || len(rules) != 2 || last != rules[1].Record || rules[1].By != "owner" || !rules[1].Time.Equal(now) {
		t.Errorf("%d made, %+v, %d", made.Load(), rules, last)
	}
	if rules, same := must3(l.Rules(ctx, last)); len(rules) != 0 || same != last {
		t.Errorf("after the last: %v, %d", rules, same)
	}
}

func must3[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

// A rule that was recorded since the caller looked refuses the request.
func TestRulesChanged(t *testing.T) {
	l, path := create(t, Options{})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	l.rule(t, allow(QuotaRule, "account:anna", "0.5"))
	_, last := must3(other.Rules(ctx, 0))
	r := holding("0.1", "account:anna")
	r.Rules = last
	if _, err := l.Reserve(ctx, r); err != nil {
		t.Errorf("with all rules: %v", err)
	}
	r.Repetition = nil
	other.rule(t, Rule{Subject: "account:anna", Name: "disabled", Body: json.RawMessage("true")})
	if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrRulesChanged) {
		t.Errorf("after another rule: %v", err)
	}
	if b := must(l.Balance(ctx, "patient")); b.Spent.Epsilon.String() != "0.1" {
		t.Errorf("spent %v", b.Spent)
	}
}

// A statement over the limit of a holder is charged once after an owner granted it: the
// same analyst, plan, catalog and cost, and nothing else.
func TestApprovals(t *testing.T) {
	l, path := create(t, Options{})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	const anna = "account:anna"
	l.rule(t, allow(LimitRule, anna, "0.1"))
	r := holding("0.2", anna)
	r.Fresh = true // or the answer would be returned, in the end
	reserve := func(name string, r Request, want error) {
		t.Helper()
		if _, err := other.Reserve(ctx, r); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	reserve("within the limit", holding("0.1", anna), nil)
	reserve("nobody was asked", r, ErrLimit)
	a := must(l.Ask(ctx, r, "SELECT canonical", 1))
	if a.Status != Pending || a.Canonical != "SELECT canonical" || a.Charge.Epsilon.String() != "0.2" || a.Analyst != "ann" || len(a.Events) != 1 {
		t.Errorf("asked: %+v", a)
	}
	if again := must(other.Ask(ctx, r, "", 1)); again.ID != a.ID {
		t.Errorf("asked twice: %d and %d", a.ID, again.ID)
	}
	reserve("pending", r, ErrLimit)
	change := func(f func(*Request)) Request { c := r; f(&c); return c }
	if _, err := l.Ask(ctx, change(func(r *Request) { r.Repetition = []byte("other") }), "", 1); !errors.Is(err, ErrTooMany) {
		t.Errorf("a second one pending: %v", err)
	}
	if err := l.Decide(ctx, a.ID, false, "boss", "too dear", now); err != nil {
		t.Fatal(err)
	}
	if d := must(other.Ask(ctx, r, "", 1)); d.Status != Denied || d.Why != "too dear" || d.By != "boss" || d.ID != a.ID {
		t.Errorf("denied: %+v", d)
	}
	reserve("denied", r, ErrLimit)
	if err := l.Decide(ctx, a.ID, true, "boss", "", now); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]Request{
		"another analyst": change(func(r *Request) { r.Analyst = "bob" }),
		"another plan":    change(func(r *Request) { r.Repetition = []byte("other") }),
		"another catalog": change(func(r *Request) { r.Catalog = []byte("other") }),
		"no catalog":      change(func(r *Request) { r.Catalog = nil }),
		"no plan":         change(func(r *Request) { r.Repetition = nil }),
		"a higher cost":   change(func(r *Request) { r.Events = pureEvent("0.3") }),
		"a lower cost":    change(func(r *Request) { r.Events = pureEvent("0.15") }),
	} {
		reserve(name, r, ErrLimit)
	}
	l.rule(t, allow(QuotaRule, anna, "0.25"))
	reserve("a quota counts all the same", r, ErrQuota)
	l.rule(t, allow(QuotaRule, anna, ""))
	reserve("granted", r, nil)
	reserve("used", r, ErrLimit)
	if err := l.Decide(ctx, a.ID, true, "boss", "", now); !errors.Is(err, ErrUsed) {
		t.Errorf("granted after it was used: %v", err)
	}
	if err := l.Decide(ctx, 2, true, "boss", "", now); !errors.Is(err, ErrUnknownApproval) {
		t.Errorf("no approval: %v", err)
	}
	if used := must(l.Approval(ctx, a.ID)); used.Status != Used {
		t.Errorf("used: %+v", used)
	}
	if b := must(other.Ask(ctx, r, "", 1)); b.ID == a.ID || b.Status != Pending {
		t.Errorf("asked anew: %+v", b)
	}
	if all := must(l.Approvals(ctx)); len(all) != 2 || all[0].Status != Used || all[1].Status != Pending {
		t.Errorf("all: %+v", all)
	}
	l.verifyOrFail(t)
	for _, e := range must(l.History(ctx)) {
		if e.Kind == "reserve" && e.Charge.Epsilon.String() == "0.2" && e.Approval != a.ID {
			t.Errorf("the reservation names approval %d", e.Approval)
		}
	}
}

// Of many at once, in two processes' handles, one uses a grant.
func TestApprovalIsUsedOnce(t *testing.T) {
	l, path := create(t, Options{})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	l.rule(t, allow(LimitRule, "account:anna", "0.01"))
	r := holding("0.02", "account:anna")
	a := must(l.Ask(ctx, r, "", 1))
	if err := other.Decide(ctx, a.ID, true, "boss", "", now); err != nil {
		t.Fatal(err)
	}
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := []*Ledger{l, other}[i%2].Reserve(ctx, r)
			if err == nil {
				admitted.Add(1)
			} else if !errors.Is(err, ErrLimit) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 1 {
		t.Errorf("%d reservations of one grant", admitted.Load())
	}
	l.verifyOrFail(t)
}

// Random rules, decisions and requests through two handles behave as a few lines of
// arithmetic do, and Verify agrees.
func TestHoldersBehaveAsTheirModel(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine at a time: nothing for the race detector to see")
	}
	t.Parallel()
	outer := t
	holders := []string{"account:a", "account:b", "group:g"}
	rapid.Check(t, func(t *rapid.T) {
		path := fresh(outer)
		o := Options{Domains: []DomainBudget{patient}, Now: now}
		l := must(Create(ctx, path, o))
		handles := []*Ledger{l, must(Open(ctx, path, o))}
		defer func() { handles[0].Close(); handles[1].Close() }()
		handle := func() *Ledger { return rapid.SampledFrom(handles).Draw(t, "handle") }
		total, spent := new(big.Rat), map[string]*big.Rat{}
		quota, limit := map[string]*big.Rat{}, map[string]*big.Rat{}
		status, ids := map[string]Status{}, map[string]int64{} // by plan and cost
		for _, h := range holders {
			spent[h] = new(big.Rat)
		}
		draw := func() (Request, *big.Rat, string) {
			cost := big.NewRat(rapid.Int64Range(1, 30).Draw(t, "cost"), 100)
			r := holding("1", rapid.SampledFrom([][]string{{"account:a", "group:g"}, {"account:b", "group:g"}, {"account:b"}, nil}).Draw(t, "holders")...)
			r.Events = []privacy.Event{privacy.Pure{Epsilon: must(privacy.NewEpsilon(cost))}}
			r.Repetition = []byte(rapid.SampledFrom([]string{"p", "q"}).Draw(t, "plan"))
			return r, cost, fmt.Sprintf("%s %v", r.Repetition, cost)
		}
		t.Repeat(map[string]func(*rapid.T){
			"rule": func(t *rapid.T) {
				h := rapid.SampledFrom(holders).Draw(t, "holder")
				name := rapid.SampledFrom([]string{QuotaRule, LimitRule}).Draw(t, "rule")
				percent := rapid.Int64Range(0, 60).Draw(t, "percent")
				of := map[string]map[string]*big.Rat{QuotaRule: quota, LimitRule: limit}[name]
				text := ""
				delete(of, h)
				if percent > 0 {
					of[h] = big.NewRat(percent, 100)
					text = of[h].FloatString(2)
				}
				expect(t, handle().SetRules(ctx, "owner", now, allow(name, h, text)), nil)
			},
			"reserve": func(t *rapid.T) {
				r, cost, key := draw()
				_, err := handle().Reserve(ctx, r)
				next := new(big.Rat).Add(total, cost)
				over := false
				var want error
				for _, h := range r.Holders {
					if q := quota[h]; q != nil && new(big.Rat).Add(spent[h], cost).Cmp(q) > 0 {
						want = ErrQuota
					}
					over = over || limit[h] != nil && cost.Cmp(limit[h]) > 0
				}
				if want == nil && over && status[key] != Granted {
					want = ErrLimit
				}
				if next.Cmp(big.NewRat(1, 1)) > 0 {
					want = ErrExhausted
				}
				expect(t, err, want)
				if err != nil {
					return
				}
				if over {
					status[key] = Used
				}
				total = next
				for _, h := range r.Holders {
					spent[h] = new(big.Rat).Add(spent[h], cost)
				}
			},
			"ask": func(t *rapid.T) {
				r, _, key := draw()
				a, err := handle().Ask(ctx, r, "", 3)
				pending := 0
				for _, s := range status {
					if s == Pending {
						pending++
					}
				}
				if s := status[key]; s == "" || s == Used {
					if pending == 3 {
						expect(t, err, ErrTooMany)
						return
					}
					status[key] = Pending
					ids[key] = a.ID
				}
				if err != nil || a.ID != ids[key] || a.Status != status[key] {
					t.Fatalf("%s: %+v, %v", status[key], a, err)
				}
			},
			"decide": func(t *rapid.T) {
				_, _, key := draw()
				grant := rapid.Bool().Draw(t, "grant")
				err := handle().Decide(ctx, ids[key], grant, "boss", "", now)
				switch status[key] {
				case "":
					expect(t, err, ErrUnknownApproval)
				case Used:
					expect(t, err, ErrUsed)
				default:
					expect(t, err, nil)
					status[key] = Denied
					if grant {
						status[key] = Granted
					}
				}
			},
			"": func(t *rapid.T) {
				for _, h := range holders {
					got, err := handles[1].Holding(ctx, h, "patient")
					if err != nil || got.Spent.Epsilon.Rat().Cmp(spent[h]) != 0 || (got.Quota == nil) != (quota[h] == nil) || got.Quota != nil && got.Quota.Epsilon.Rat().Cmp(quota[h]) != 0 {
						t.Fatalf("%s: %+v of %v, %v", h, got, spent[h], err)
					}
				}
			},
		})
		expect(t, handles[0].Verify(ctx), nil)
	})
}

// Whoever forges records with right hashes cannot exceed a quota, use an approval that was
// not given, or decide on what was used, without that Verify sees it.
func TestEditedRules(t *testing.T) {
	charge := func(of string) *filter.Total {
		return &filter.Total{Loss: filter.Amounts{Epsilon: eps(of)}.Total(filter.Pure).Loss}
	}
	const anna = "account:anna"
	setUp := func(l *Ledger) (pending, granted, used int64, s *state) {
		l.rule(t, allow(QuotaRule, anna, "0.5"), allow(LimitRule, anna, "0.1"))
		var ids []int64
		for _, plan := range []string{"pending", "granted", "used"} {
			r := holding("0.2", anna)
			r.Repetition = []byte(plan)
			ids = append(ids, must(l.Ask(ctx, r, "", 9)).ID)
			if plan == "pending" {
				continue
			}
			if err := l.Decide(ctx, ids[len(ids)-1], true, "boss", "", now); err != nil {
				t.Fatal(err)
			}
			if plan == "used" {
				must(l.Reserve(ctx, r))
			}
		}
		return ids[0], ids[1], ids[2], must(l.chain.lastState(ctx, l.db, "patient"))
	}
	reserve := func(epsilon, plan string, ref int64, s *state) func(*sql.DB) error {
		next := &state{Spent: s.Spent.Add(*charge(epsilon)), Uncommitted: s.Uncommitted + 1}
		return forgeChain(record{kind: kindReserve, domain: "patient", ref: ref}, entry{Time: now, Analyst: "ann", Holders: []string{anna}, Repetition: []byte(plan), Catalog: []byte("catalog"),
			Events: []json.RawMessage{json.RawMessage(`{"pure":{"eps":` + epsilon + `}}`)}, Charge: charge(epsilon), State: next})
	}
	for name, tc := range map[string]struct {
		edit func(pending, granted, used int64, s *state) func(*sql.DB) error
		fine bool
	}{
		"a charge within all rules":      {func(_, _, _ int64, s *state) func(*sql.DB) error { return reserve("0.1", "x", 0, s) }, true},
		"a grant used":                   {func(_, granted, _ int64, s *state) func(*sql.DB) error { return reserve("0.2", "granted", granted, s) }, true},
		"a charge over the quota":        {func(_, granted, _ int64, s *state) func(*sql.DB) error { return reserve("0.4", "x", 0, s) }, false},
		"a charge over the limit":        {func(_, _, _ int64, s *state) func(*sql.DB) error { return reserve("0.2", "granted", 0, s) }, false},
		"a pending approval used":        {func(pending, _, _ int64, s *state) func(*sql.DB) error { return reserve("0.2", "pending", pending, s) }, false},
		"an approval used again":         {func(_, _, used int64, s *state) func(*sql.DB) error { return reserve("0.2", "used", used, s) }, false},
		"another plan's approval":        {func(_, granted, _ int64, s *state) func(*sql.DB) error { return reserve("0.2", "x", granted, s) }, false},
		"an approval that is not needed": {func(_, granted, _ int64, s *state) func(*sql.DB) error { return reserve("0.1", "granted", granted, s) }, false},
		"a decision on what was used": {func(_, _, used int64, _ *state) func(*sql.DB) error {
			return forgeChain(record{kind: kindGrant, ref: used}, entry{Time: now, Analyst: "boss"})
		}, false},
		"a decision on nothing": {func(_, _, _ int64, _ *state) func(*sql.DB) error {
			return forgeChain(record{kind: kindGrant, ref: 1}, entry{Time: now, Analyst: "boss"})
		}, false},
		"a rule under another's key": {func(_, _, _ int64, _ *state) func(*sql.DB) error {
			r := allow(QuotaRule, anna, "9")
			return forgeChain(record{kind: kindRule, key: allow(QuotaRule, "account:bob", "9").key()}, entry{Time: now, Analyst: "boss", Rule: &r})
		}, false},
		"a rule by nobody": {func(_, _, _ int64, _ *state) func(*sql.DB) error {
			r := allow(QuotaRule, anna, "9")
			return forgeChain(record{kind: kindRule, key: r.key()}, entry{Time: now, Rule: &r})
		}, false},
		"an ask that costs less than its events": {func(_, _, _ int64, _ *state) func(*sql.DB) error {
			r := holding("0.01", anna)
			return forgeChain(record{kind: kindAsk, key: must(bound(r, *charge("0.01")))}, entry{Time: now, Analyst: "ann", Domain: "patient", Repetition: r.Repetition, Catalog: r.Catalog,
				Events: []json.RawMessage{[]byte(`{"pure":{"eps":0.2}}`)}, Charge: charge("0.01")})
		}, false},
		"an ask under another's key": {func(_, _, _ int64, _ *state) func(*sql.DB) error {
			r := holding("0.2", anna)
			return forgeChain(record{kind: kindAsk, key: must(bound(r, *charge("0.2")))}, entry{Time: now, Analyst: "bob", Domain: "patient", Repetition: r.Repetition, Catalog: r.Catalog,
				Events: []json.RawMessage{[]byte(`{"pure":{"eps":0.2}}`)}, Charge: charge("0.2")})
		}, false},
	} {
		if !tc.fine && !chosen(name, 3) {
			continue
		}
		l, path := create(t, Options{})
		edit := tc.edit(setUp(l))
		l.Close()
		forge(t, path, edit)
		l = must(Open(ctx, path, Options{}))
		if err := l.Verify(ctx); tc.fine && err != nil || !tc.fine && !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v", name, err)
		}
		l.Close()
	}
}

// A batch that fails leaves nothing in what the writer knows of holders.
func TestFailedBatchIsForgotten(t *testing.T) {
	l, _ := create(t, Options{})
	l.rule(t, allow(QuotaRule, "account:anna", "0.5"))
	must(l.Reserve(ctx, holding("0.1", "account:anna")))
	broken := errors.New("broken")
	err := l.do(ctx, false, func(ctx context.Context, b *batch) error {
		r := holding("0.3", "account:anna")
		if _, err := b.reserve(ctx, r, must(r.prepare(l.domains["patient"].filter, false))); err != nil {
			return err
		}
		b.failed = broken
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if h := must(l.Holding(ctx, "account:anna", "patient")); h.Spent.Epsilon.String() != "0.1" {
		t.Errorf("after a batch that failed, anna has spent %v", h.Spent.Epsilon)
	}
	r := holding("0.4", "account:anna")
	r.Fresh = true
	if _, err := l.Reserve(ctx, r); err != nil {
		t.Errorf("what is left: %v", err)
	}
}

func BenchmarkReserveWithHolders(b *testing.B) {
	l, _ := create(b, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("1e6")}}})
	l.rule(b, allow(QuotaRule, "account:anna", "1e5"), allow(QuotaRule, "group:nurses", "1e5"), allow(LimitRule, "account:anna", "1"))
	b.SetParallelism(32)
	start := time.Now()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			r := holding("0.001", "account:anna", "group:nurses")
			r.Fresh = true
			if _, err := l.Reserve(ctx, r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "reservations/s")
}
