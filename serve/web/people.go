package web

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/problem"
)

// people is the accounts and groups, for owners. What stands here can be done by
// discreet user, too, which knows more rules.
func (s *site) people() page {
	return page{path: "/people", word: "People", audience: owners, once: true, get: s.showPeople, post: s.addPerson}
}

func (s *site) person() page {
	return page{path: "/people/{name}", audience: owners, once: true, get: s.showPerson, post: s.changePerson}
}

// A personRow is an account or a group.
type personRow struct {
	people.Listed
	State string
	Good  bool
	Rules []string
	Self  bool
}

func (s *site) showPeople(v *visit) error {
	all, err := s.People.List(v.r.Context())
	if err != nil {
		return err
	}
	var data struct{ People []personRow }
	for _, l := range all {
		data.People = append(data.People, s.personRow(v, l))
	}
	return v.show(http.StatusOK, "people", "People", data)
}

func (s *site) personRow(v *visit, l people.Listed) personRow {
	row := personRow{Listed: l, Self: l.Name == v.who.Account.Name}
	now := s.Now()
	valid := 0
	for _, t := range l.Tokens {
		if now.Before(t.Expires) {
			valid++
		}
	}
	switch {
	case l.Role == "":
		row.State, row.Good = "group", true
	case l.Disabled:
		row.State = "disabled"
	case !l.Expires.IsZero() && !now.Before(l.Expires):
		row.State = "expired"
	case !l.Password && valid == 0:
		row.State = "cannot sign in"
	default:
		row.State, row.Good = "open", true
	}
	for _, domain := range slices.Sorted(maps.Keys(l.Quotas)) {
		row.Rules = append(row.Rules, "quota of "+domain+": "+amounts(l.Quotas[domain].Positive(), numeric.FloorDigits))
	}
	for _, domain := range slices.Sorted(maps.Keys(l.Limits)) {
		row.Rules = append(row.Rules, "a statement about "+domain+" waits for an owner above "+amounts(l.Limits[domain].Positive(), numeric.FloorDigits))
	}
	if l.Default != nil {
		row.Rules = append(row.Rules, "spends "+amounts(l.Default.Positive(), numeric.FloorDigits)+" where nothing is named")
	}
	if l.Tables != nil {
		row.Rules = append(row.Rules, "tables: "+cmp.Or(strings.Join(l.Tables, ", "), "none"))
	}
	if l.Hours != nil {
		row.Rules = append(row.Rules, "hours: "+l.Hours.String())
	}
	if !l.Expires.IsZero() {
		row.Rules = append(row.Rules, "ends on "+l.Expires.UTC().Format(time.DateOnly))
	}
	return row
}

// refusedOf words what is refused about accounts.
func refusedOf(err error) error {
	for _, known := range []error{people.ErrName, people.ErrUnknown, people.ErrExists, ledger.ErrMeasure, ledger.ErrUnknownDomain} {
		if errors.Is(err, known) {
			return problem.Request(http.StatusConflict, err.Error(), "")
		}
	}
	return err
}

// A secret is shown once.
type secret struct{ Name, Password, Did string }

func (s *site) addPerson(v *visit) error {
	name := strings.TrimSpace(v.form.Get("name"))
	role := people.Role(v.form.Get("role"))
	if role != people.Owner && role != people.Analyst {
		return problem.Request(http.StatusBadRequest, "a role is owner or analyst", "")
	}
	password, err := people.NewPassword()
	if err != nil {
		return err
	}
	if err := s.People.Add(v.r.Context(), v.who.Account.Name, name, role, password); err != nil {
		return refusedOf(err)
	}
	return v.show(http.StatusOK, "secret", "Added "+name, secret{name, password, "is an account now"})
}

// listed returns the account or the group that the address names.
func (s *site) listed(v *visit) (people.Listed, error) {
	all, err := s.People.List(v.r.Context())
	if err != nil {
		return people.Listed{}, err
	}
	for _, l := range all {
		if l.Name == v.r.PathValue("name") {
			return l, nil
		}
	}
	return people.Listed{}, problem.Request(http.StatusNotFound, "there is no such account", "")
}

// A holdingRow is what somebody may spend of a domain.
type holdingRow struct {
	Domain, Unit                     string
	Quota, QuotaText, Limit, LimText string
}

func (s *site) showPerson(v *visit) error {
	l, err := s.listed(v)
	if err != nil {
		return err
	}
	balances, err := s.Gateway.Budget(v.r.Context(), v.who)
	if err != nil {
		return err
	}
	data := struct {
		personRow
		Domains []holdingRow
	}{personRow: s.personRow(v, l)}
	for _, b := range balances {
		row := holdingRow{Domain: b.ID, Unit: symbol(b)}
		if q, is := l.Quotas[b.ID]; is {
			row.Quota, row.QuotaText = q.In(b.Measure)[0].Amount.String(), amounts(q.Positive(), numeric.FloorDigits)
		}
		if q, is := l.Limits[b.ID]; is {
			row.Limit, row.LimText = q.In(b.Measure)[0].Amount.String(), amounts(q.Positive(), numeric.FloorDigits)
		}
		data.Domains = append(data.Domains, row)
	}
	return v.show(http.StatusOK, "person", l.Name, data)
}

func (s *site) changePerson(v *visit) error {
	l, err := s.listed(v)
	if err != nil {
		return err
	}
	ctx, by, did := v.r.Context(), v.who.Account.Name, ""
	switch do := v.form.Get("do"); {
	case do == "disable" && l.Name == by:
		return problem.Request(http.StatusConflict, "nobody disables the account that he or she is signed in with", "another owner can")
	case do == "disable":
		err, did = s.People.Disable(ctx, by, l.Name), "is disabled; its sessions have ended"
	case do == "enable":
		err, did = s.People.Enable(ctx, by, l.Name), "can sign in again"
	case do == "rotate":
		password, err := people.NewPassword()
		if err != nil {
			return err
		}
		if err := s.People.Rotate(ctx, by, l.Name, password); err != nil {
			return refusedOf(err)
		}
		return v.show(http.StatusOK, "secret", "Another password", secret{l.Name, password, "has another password; its sessions have ended"})
	case do == "revoke":
		err, did = s.People.RevokeToken(ctx, by, l.Name, v.form.Get("token-id")), "has a token less"
	case do == "quota", do == "limit":
		did, err = s.bound(v, l.Name, do)
	default:
		return problem.Request(http.StatusBadRequest, "the form does nothing that is known", "")
	}
	if err != nil {
		return refusedOf(err)
	}
	v.say("%s %s.", l.Name, did)
	return v.to("/people/" + url.PathEscape(l.Name))
}

// bound gives a quota or a limit, or lifts it where no amount is written.
func (s *site) bound(v *visit, name, what string) (did string, err error) {
	domain, text := v.form.Get("domain"), strings.TrimSpace(v.form.Get("amount"))
	set := s.People.Quota
	if what == "limit" {
		set = s.People.Limit
	}
	if text == "" {
		return "has no " + what + " of " + domain, set(v.r.Context(), v.who.Account.Name, name, domain, nil)
	}
	balances, err := s.Gateway.Budget(v.r.Context(), v.who)
	if err != nil {
		return "", err
	}
	var a ledger.Allowance
	for _, b := range balances {
		if b.ID != domain {
			continue
		}
		if b.Measure == filter.ZCDP {
			a.Rho, err = privacy.ParseRho(text)
		} else {
			a.Epsilon, err = privacy.ParseEpsilon(text)
		}
	}
	if err != nil {
		return "", problem.Request(http.StatusBadRequest, fmt.Sprintf("the amount: %v", err), "write it as 0.05")
	}
	return "has a " + what + " of " + domain, set(v.r.Context(), v.who.Account.Name, name, domain, &a)
}
