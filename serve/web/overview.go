package web

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/problem"
)

func (s *site) overview() page {
	return page{path: "/{$}", word: "Overview", audience: accounts, get: s.showOverview}
}

// A domainCard is what the overview has of a unit domain.
type domainCard struct {
	ID                           string
	Suspended                    bool
	Left, Spent, Budget, Promise string
	Gauge, Chart                 template.HTML
	Charges                      []chargeRow
	Cut                          bool // there may be older charges
	Quotas                       []string
}

// A chargeRow is one charge, with what was spent until then.
type chargeRow struct {
	Time          time.Time
	Analyst       string
	Cost, Sum     string
	charged, upTo float64
}

// drawn is how many charges of a domain are drawn, the newest, and domainsOfPage how many
// domains a page shows.
const (
	drawn         = 500
	domainsOfPage = 20
)

// leaf returns the domains of a page, and the numbers of those before and after it; 0 if there
// is none.
func leaf(all []ledger.Balance, number string) (some []ledger.Balance, before, after int, err error) {
	n := 1
	if number != "" {
		if n, err = strconv.Atoi(number); err != nil || n < 1 || n > 1 && n > (len(all)+domainsOfPage-1)/domainsOfPage {
			return nil, 0, 0, problem.Request(http.StatusNotFound, "there is no such page of domains", "")
		}
	}
	to := min(n*domainsOfPage, len(all))
	if to < len(all) {
		after = n + 1
	}
	return all[min((n-1)*domainsOfPage, to):to], n - 1, after, nil
}

func (s *site) showOverview(v *visit) error {
	balances, err := s.Gateway.Budget(v.r.Context(), v.who)
	if err != nil {
		return err
	}
	holdings, err := s.Gateway.Holdings(v.r.Context(), v.who)
	if err != nil {
		return err
	}
	var data struct {
		Domains       []domainCard
		Before, After int
	}
	if balances, data.Before, data.After, err = leaf(balances, v.r.URL.Query().Get("page")); err != nil {
		return err
	}
	for _, b := range balances {
		card := domainCard{ID: b.ID, Suspended: b.Suspended,
			Left: amounts(b.Remaining.In(b.Measure), numeric.FloorDigits), Spent: amounts(b.Spent.In(b.Measure), numeric.CeilDigits),
			Budget: amounts(b.Limit.In(b.Measure), numeric.FloorDigits), Promise: promise(b)}
		before := 0.0
		for _, h := range holdings {
			if h.Domain == b.ID && h.Holder == "account:"+v.who.Account.Name {
				before = own(h.Spent, b.Measure)
			}
			if h.Domain == b.ID && h.Quota != nil {
				card.Quotas = append(card.Quotas, amounts(h.Left.In(h.Measure)[:1], numeric.FloorDigits)+" of the quota of "+strings.TrimPrefix(h.Holder, "account:"))
			}
		}
		card.Gauge = gauge(b)
		history, err := s.Gateway.History(v.r.Context(), v.who, ledger.Selection{Domain: b.ID, Kinds: []string{"reserve"}, Limit: drawn})
		if err != nil {
			return err
		}
		slices.Reverse(history)
		for _, e := range history {
			before -= own(e.Charge, b.Measure)
		}
		if card.Cut = len(history) == drawn; !card.Cut {
			before = 0
		}
		card.Charges = charges(b, history, max(0, before), v.who.Account.Role == people.Owner)
		if card.Chart, err = spending(b, card.Charges, v.who.Account.Role == people.Owner); err != nil {
			return err
		}
		data.Domains = append(data.Domains, card)
	}
	return v.show(http.StatusOK, "overview", "Overview", data)
}

// promise words what a domain's whole budget amounts to.
func promise(b ledger.Balance) string {
	text := "ε " + rounded(b.Epsilon, numeric.CeilDigits)
	if b.Delta.Sign() > 0 {
		text += ", δ " + rounded(b.Delta, numeric.CeilDigits)
	}
	return text + ", " + b.Neighbours.String()
}

// gauge draws how much of its budget a domain has left.
func gauge(b ledger.Balance) template.HTML {
	limit, share := own(b.Limit, b.Measure), 0.0
	if limit > 0 {
		share = min(1, max(0, own(b.Remaining, b.Measure)/limit))
	}
	class := "left"
	if share < 0.1 {
		class = "low"
	}
	words := template.HTMLEscapeString(fmt.Sprintf("%s%% of the budget of %s is left", percent(share), b.ID))
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 1000 14" preserveAspectRatio="none" role="img"><title>%s</title><rect class="track" width="1000" height="14" rx="4"/><rect class="%s" width="%.1f" height="14" rx="4"/></svg>`, //nolint:gosec // numbers and escaped words
		words, class, 1000*share))
}

// percent is a share of 1, rounded down, so that nothing is promised.
func percent(share float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Floor(1000*share)/10), ".0")
}

// charges are those of a domain in a history: of an owner with what the domain had spent
// after each, of an analyst with what he or she had, before them too.
func charges(b ledger.Balance, history []ledger.Entry, before float64, whole bool) (rows []chargeRow) {
	sum := before
	for _, e := range history {
		cost := own(e.Charge, b.Measure)
		if sum += cost; whole {
			sum = own(e.Spent, b.Measure)
		}
		rows = append(rows, chargeRow{Time: e.Time, Analyst: e.Analyst, Cost: charged(e.Charge), Sum: strings.TrimSpace(symbol(b) + fmt.Sprintf(" %.4g", sum)), charged: cost, upTo: sum})
	}
	return rows
}

// symbol is what the amount that a domain counts in is called.
func symbol(b ledger.Balance) string {
	name := b.Limit.In(b.Measure)[0].Name
	if s := symbols[name]; s != "" {
		return s
	}
	return name
}

// spending draws what was spent over time, and the budget.
func spending(b ledger.Balance, rows []chargeRow, whole bool) (template.HTML, error) {
	if len(rows) == 0 {
		return "", nil
	}
	limit := own(b.Limit, b.Measure)
	first, last := at(rows[0].Time), at(rows[len(rows)-1].Time)
	if last-first < 3600 { // an axis of time needs some
		first -= 1800
		last += 1800
	}
	name := "spent"
	if !whole {
		name = "spent by you"
	}
	spent := plot.Line{Name: name, Points: []plot.Point{{X: first, Y: rows[0].upTo - rows[0].charged}}}
	for _, r := range rows { // a step at each charge
		x := at(r.Time)
		spent.Points = append(spent.Points, plot.Point{X: x, Y: r.upTo - r.charged}, plot.Point{X: x, Y: r.upTo})
	}
	spent.Points = append(spent.Points, plot.Point{X: last, Y: rows[len(rows)-1].upTo})
	p := plot.Plot{Title: "Spent of " + b.ID + " over time",
		X: plot.Axis{Label: "time (UTC)", Kind: plot.Moments}, Y: plot.Axis{Label: symbol(b), Zero: true},
		Lines: []plot.Line{spent, {Name: "budget", Dashed: true, Points: []plot.Point{{X: first, Y: limit}, {X: last, Y: limit}}}}}
	return figure(p)
}

func at(t time.Time) float64 { return float64(t.Unix()) }
