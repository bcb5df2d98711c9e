package multiparty

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// AskOptions say who asks whom, and for how long.
type AskOptions struct {
	Federation *Federation
	Identity   *Identity
	// Holders are the names of those that are asked; all if empty.
	Holders []string
	Now     func() time.Time
	// Patience is how long members that do not answer are asked again; every message has the
	// same bytes then. Wait waits between two tries.
	Patience time.Duration
	Wait     func(ctx context.Context, d time.Duration) error
}

// An Answer is a federation's: that of one database, and who had to be trusted with what.
type Answer struct {
	*discreet.Answer
	Federation Trust
}

// A Trust says what an answer rests on.
type Trust struct {
	Task    string          `json:"task,omitempty"`
	Holders []TrustedHolder `json:"holders"`
	Parties []TrustedParty  `json:"parties"`
	// Colluding is how many parties may collude, with the asker and other holders, and learn
	// nothing beyond the cost.
	Colluding int `json:"colluding"`
	// Unbounded and Computational say under what the cost bounds what is learnt, against any
	// adversary and as it runs.
	Unbounded     string `json:"unbounded"`
	Computational string `json:"computational"`
	// Bits is the size of the ring of shares.
	Bits int `json:"ring_bits,omitempty"`
}

// A TrustedHolder is a holder, what it charged, and what it is trusted with.
type TrustedHolder struct {
	Reply
	With string `json:"trusted_with"`
}

// A TrustedParty is a party, and what it is trusted with.
type TrustedParty struct {
	Name string `json:"name"`
	With string `json:"trusted_with"`
}

// MarshalJSON writes the answer of one database with one more member.
func (a *Answer) MarshalJSON() ([]byte, error) { return withTrust(a.Answer, a.Federation) }

// withTrust adds a member to the JSON of an object.
func withTrust(of any, trust Trust) ([]byte, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	more, err := json.Marshal(trust)
	if err != nil {
		return nil, err
	}
	return slices.Concat(bytes.TrimSuffix(text, []byte("}")), []byte(`,"federation":`), more, []byte("}")), nil
}

// An asking is one task on its way.
type asking struct {
	AskOptions
	self    Member
	holders []Member
	until   time.Time
}

// Ask asks a federation: offers first, which cost nothing; then every holder in turn, which
// charges; then the parties; then one holder for what the statement makes of the totals.
func Ask(ctx context.Context, o AskOptions, s Statement) (*Answer, error) {
	a, data, err := begin(ctx, o, s)
	if err != nil {
		return nil, err
	}
	hash := digest(data)
	// One holder after the other: where one refuses, those after it are not charged, and where
	// budgets are equal and many ask at once, all holders admit the same tasks.
	var replies []TrustedHolder
	for _, m := range a.holders {
		reply := TrustedHolder{With: "its own rows, its declarations, and its charge"}
		if err := a.ask(ctx, m, http.MethodPut, "/tasks/"+hash, data, &reply.Reply); err != nil {
			return nil, a.explained(&memberError{m.Name, err}, s)
		}
		replies = append(replies, reply)
	}
	total, bits, err := a.total(ctx, hash)
	if err != nil {
		return nil, a.explained(err, s)
	}
	message, err := json.Marshal(struct {
		Totals []byte `json:"totals"`
	}{total})
	if err != nil {
		return nil, fmt.Errorf("encode totals: %w", err)
	}
	out := &Answer{Answer: &discreet.Answer{}}
	if err := a.ask(ctx, a.holders[0], http.MethodPost, "/tasks/"+hash+"/answer", message, out.Answer); err != nil {
		return nil, a.explained(&memberError{a.holders[0].Name, err}, s)
	}
	out.Federation = a.trust(hash, bits, replies)
	return out, nil
}

// begin makes a task of the holders' offers, for nothing.
func begin(ctx context.Context, o AskOptions, s Statement) (a *asking, task []byte, err error) {
	a = &asking{AskOptions: o, until: o.Now().Add(o.Patience)}
	if a.holders, err = o.chosen(); err != nil {
		return nil, nil, err
	}
	self, role := o.Federation.who(o.Identity.Key)
	if role != "asker" {
		return nil, nil, diagnostic.New("D242", diagnostic.Span{}, "the identity is that of no asker of the federation").
			Try("write name and key (discreet multiparty key prints it) as an [[asker]] into the file of every member")
	}
	a.self = self
	t, err := a.task(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if task, err = json.Marshal(t); err != nil {
		return nil, nil, fmt.Errorf("encode task: %w", err)
	}
	return a, task, nil
}

// An Explanation is a federation's: that of one database, and what each holder would charge.
type Explanation struct {
	*discreet.Explanation
	Federation Trust
}

// MarshalJSON writes the explanation of one database with one more member.
func (e *Explanation) MarshalJSON() ([]byte, error) { return withTrust(e.Explanation, e.Federation) }

// Explain asks a federation what a statement would cost and be worth. It costs nothing, no holder
// looks at private data, and no party is asked.
func Explain(ctx context.Context, o AskOptions, s Statement) (*Explanation, error) {
	a, data, err := begin(ctx, o, s)
	if err != nil {
		return nil, err
	}
	all, err := each(a.holders, func(m Member) (e explained, err error) {
		return e, a.ask(ctx, m, http.MethodPost, "/explanations", data, &e)
	})
	if err != nil {
		return nil, a.explained(err, s)
	}
	var replies []TrustedHolder
	for i, e := range all {
		if e.Explanation == nil {
			return nil, fmt.Errorf("%s answers with something else", a.holders[i].Name)
		}
		replies = append(replies, TrustedHolder{e.Reply, "its own rows, its declarations, and its charge"})
	}
	// Costs and noise are the same at all: the joint design's.
	all[0].Explanation.Remaining = nil
	return &Explanation{all[0].Explanation, a.trust("", 0, replies)}, nil
}

// chosen are the holders that are asked, in the file's order.
func (o *AskOptions) chosen() (all []Member, err error) {
	for _, name := range o.Holders {
		if _, ok := o.Federation.holder(name); !ok {
			return nil, diagnostic.New("D242", diagnostic.Span{}, "the federation has no holder %q", name)
		}
	}
	for _, m := range o.Federation.Holders {
		if len(o.Holders) == 0 || slices.Contains(o.Holders, m.Name) {
			all = append(all, m)
		}
	}
	return all, nil
}

// task collects the offers, and binds them.
func (a *asking) task(ctx context.Context, s Statement) (*Task, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode statement: %w", err)
	}
	offers, err := each(a.holders, func(m Member) (*discreet.Offer, error) {
		var o discreet.Offer
		err := a.ask(ctx, m, http.MethodPost, "/offers", text, &o)
		return &o, err
	})
	if err != nil {
		return nil, a.explained(err, s)
	}
	id := make([]byte, 16)
	if _, err := entropy.New().Read(id); err != nil {
		return nil, err
	}
	t := &Task{Version: Version, ID: hex.EncodeToString(id), Asker: a.self.Name, AskerKey: a.self.Key, Statement: s, Colluding: a.Federation.colluding(), Shares: a.Federation.Shares, Expires: a.Now().Add(MaxLife).UTC().Truncate(time.Second)}
	var names []string
	for i, m := range a.holders {
		t.Holders = append(t.Holders, TaskHolder{m.Name, m.Key, offers[i]})
		names = append(names, m.Name)
	}
	for _, m := range a.Federation.Parties {
		t.Parties = append(t.Parties, TaskParty{m.Name, m.Key})
	}
	_, err = discreet.JoinOffers(names, offers) // what each holder will check, before one is charged
	return t, err
}

// total adds up the sums of all parties.
func (a *asking) total(ctx context.Context, hash string) (total []byte, bits int, err error) {
	sums, err := each(a.Federation.Parties, func(m Member) (sumMessage, error) {
		var s sumMessage
		err := a.ask(ctx, m, http.MethodGet, "/tasks/"+hash+"/sum", nil, &s)
		return s, err
	})
	if err != nil {
		return nil, 0, err
	}
	ring := additive.Ring{Bits: sums[0].Bits}
	for i, s := range sums {
		if s.Task != hash || s.Party != a.Federation.Parties[i].Name || s.Bits != ring.Bits || !reflect.DeepEqual(s.Noise, sums[0].Noise) {
			return nil, 0, fmt.Errorf("party %s answers another task than the others", a.Federation.Parties[i].Name)
		}
		if total == nil {
			total = s.Sum
		} else if err := ring.Add(total, s.Sum); err != nil {
			return nil, 0, fmt.Errorf("add up sums: %w", err)
		}
	}
	return total, ring.Bits, nil
}

// each asks all members at once, and returns the first error in their order.
func each[T any](all []Member, ask func(Member) (T, error)) ([]T, error) {
	out, errs := make([]T, len(all)), make([]error, len(all))
	done := make(chan int, len(all))
	for i, m := range all {
		go func() {
			out[i], errs[i] = ask(m)
			done <- i
		}()
	}
	for range all {
		<-done
	}
	for i, err := range errs {
		if err != nil {
			return nil, &memberError{all[i].Name, err}
		}
	}
	return out, nil
}

// A memberError says whose an error is.
type memberError struct {
	name string
	err  error
}

func (e *memberError) Error() string { return e.name + ": " + e.err.Error() }
func (e *memberError) Unwrap() error { return e.err }

// ask asks one member, again and again while it cannot answer and time is left.
func (a *asking) ask(ctx context.Context, m Member, method, path string, message []byte, answer any) error {
	for try := 0; ; try++ {
		data, err := call(ctx, a.Identity, m, method, path, message)
		if err == nil {
			if err := json.Unmarshal(data, answer); err != nil {
				return fmt.Errorf("%s answers with something else", m.Name)
			}
			return nil
		}
		var p *Problem
		if errors.As(err, &p) && p.Status < 500 && p.Name() != sumIncomplete {
			return p
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !a.Now().Before(a.until) {
			return err
		}
		if err := a.Wait(ctx, min(time.Second, 20*time.Millisecond<<min(try, 6))); err != nil {
			return err
		}
	}
}

// explained turns what a member said into a diagnostic with its name.
func (a *asking) explained(err error, s Statement) error {
	var of *memberError
	var p *Problem
	name := "a member"
	if errors.As(err, &of) {
		name = of.name
	}
	if !errors.As(err, &p) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return diagnostic.New("D243", diagnostic.Span{}, "%s does not answer", name).
			Because("holders that have answered were charged").Try("look whether it runs: %v", err)
	}
	switch {
	case p.Refusal != nil:
		return diagnostic.New(p.Refusal.Code, diagnostic.Span{}, "%s: %s", name, p.Refusal.Message).Because("%s", p.Refusal.Why).Try("%s", p.Refusal.Hint)
	case p.Name() == approvalPending:
		return diagnostic.New("D245", diagnostic.Span{}, "the owner of %s must approve this statement first", name).
			Because("it is over the limit of your account there; it waits as number %s", p.Approval).Try("ask again when the owner has decided")
	case p.Name() == approvalDenied:
		return diagnostic.New("D245", diagnostic.Span{}, "the owner of %s has denied this statement", name).Because("%s", p.Detail).Try("ask the owner, or ask for less")
	case p.Status >= 500:
		return diagnostic.New("D243", diagnostic.Span{}, "%s cannot go on: %s", name, p.Detail).
			Because("holders that have answered were charged").Try("ask anew when all members run, at a new charge")
	}
	return diagnostic.New("D244", diagnostic.Span{}, "%s refuses: %s", name, p.Detail).Because("%s", p.Name()).Try("see docs/collect/multiparty.md")
}

func (a *asking) trust(hash string, bits int, holders []TrustedHolder) Trust {
	t := Trust{Task: hash, Holders: holders, Colluding: a.Federation.colluding(), Bits: bits,
		Unbounded:     "the cost bounds what any adversary learns who sees all but one party, if channels are private and randomness is true",
		Computational: "as it runs, the cost bounds what an adversary learns who breaks neither TLS 1.3 nor the system's generator"}
	t.Holders[0].With += "; the last step of the statement, over the noisy totals"
	with := "one of all parties colludes with nobody, and adds its noise"
	if honest := len(a.Federation.Parties) - t.Colluding; honest > 1 {
		with = fmt.Sprintf("%d of all parties collude with nobody, and each adds its share of the noise", honest)
		if a.Federation.Shares == discreet.BySkellam {
			with += ", where it is Gaussian by Skellam draws"
		}
		t.Unbounded = strings.Replace(t.Unbounded, "all but one party", fmt.Sprintf("all but %d parties", honest), 1)
	}
	for _, p := range a.Federation.Parties {
		t.Parties = append(t.Parties, TrustedParty{p.Name, with})
	}
	return t
}
