package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
)

// ledgerHealth is how the books are: whether they hold, and how they are kept.
func (s *site) ledgerHealth() page {
	return page{path: "/ledger", word: "Ledger", audience: owners, get: s.showLedger, post: s.verifyLedger}
}

// verified is what came of the last look at the whole chain.
type verified struct {
	mu      sync.Mutex
	At      time.Time
	Records int64
	Failure string
}

// shownVersions is how many versions of the data are listed.
const shownVersions = 50

// small is the size of a ledger that is verified when somebody looks at it for the first time.
const small = 8 << 20

func (s *site) verify(v *visit, records int64) error {
	err := s.Gateway.Verify(v.r.Context(), v.who)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.verified.mu.Lock()
	defer s.verified.mu.Unlock()
	s.verified.At, s.verified.Records, s.verified.Failure = s.Now(), records, ""
	if err != nil {
		s.verified.Failure = err.Error()
	}
	return nil
}

func (s *site) verifyLedger(v *visit) error {
	head, err := s.Gateway.Head(v.r.Context(), v.who)
	if err != nil {
		return err
	}
	if err := s.verify(v, head.Records); err != nil {
		return err
	}
	return v.to("/ledger")
}

// A ledgerDomain is a domain as the books have it.
type ledgerDomain struct {
	ID, Left  string
	Open      int64 // reservations without an answer
	Suspended bool
	Why       string // it was suspended
}

func (s *site) showLedger(v *visit) error {
	ctx := v.r.Context()
	condition, err := s.Gateway.Condition(ctx, v.who)
	if err != nil {
		return err
	}
	balances, err := s.Gateway.Budget(ctx, v.who)
	if err != nil {
		return err
	}
	head, err := s.Gateway.Head(ctx, v.who)
	if err != nil {
		return err
	}
	s.verified.mu.Lock()
	never := s.verified.At.IsZero()
	s.verified.mu.Unlock()
	if never && condition.Bytes <= small {
		if err := s.verify(v, head.Records); err != nil {
			return err
		}
	}
	data := struct {
		ledger.Condition
		Size, Failure    string
		Verified         time.Time
		VerifiedRecords  int64
		Records, Charges int64
		Last             ledger.Entry
		LastCost         string
		Head             string
		Open             int64
		Domains          []ledgerDomain
		Versions         []ledger.Entry
	}{Condition: condition, Size: bytesText(condition.Bytes), Records: head.Records, Charges: head.Charges, Head: fmt.Sprintf("%x", head.Hash)}
	s.verified.mu.Lock()
	data.Verified, data.VerifiedRecords, data.Failure = s.verified.At, s.verified.Records, s.verified.Failure
	s.verified.mu.Unlock()
	newest := func(of ledger.Selection) (list []ledger.Entry) {
		if err == nil {
			list, err = s.Gateway.History(ctx, v.who, of)
		}
		return list
	}
	for _, e := range newest(ledger.Selection{Kinds: []string{"reserve"}, Limit: 1}) {
		data.Last, data.LastCost = e, charged(e.Charge)
	}
	data.Versions = newest(ledger.Selection{Kinds: []string{"version"}, Limit: shownVersions})
	slices.Reverse(data.Versions)
	for _, b := range balances {
		d := ledgerDomain{ID: b.ID, Left: amounts(b.Remaining.In(b.Measure), numeric.FloorDigits), Open: b.Uncommitted, Suspended: b.Suspended}
		if d.Suspended {
			for _, e := range newest(ledger.Selection{Domain: b.ID, Kinds: []string{"suspend"}, Limit: 1}) {
				d.Why = e.Note
			}
		}
		data.Open += d.Open
		data.Domains = append(data.Domains, d)
	}
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "ledger", "Ledger", data)
}

// bytesText is a size for people.
func bytesText(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
