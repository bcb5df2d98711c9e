package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/problem"
)

// approvals are the statements that wait for an owner. What they are decided by comes of
// declarations and of what was asked, never of data.
func (s *site) approvals() page {
	return page{path: "/approvals", word: "Approvals", audience: owners, once: true, get: s.showApprovals, post: s.decide}
}

// An approvalCard is one statement that was asked of the owners.
type approvalCard struct {
	people.Approval
	Cost, Left, Quota string
	Parameters        string
	Words             []string // of the certificate
	Waits             bool
}

func (s *site) showApprovals(v *visit) error {
	every := v.r.URL.Query().Get("show") == "all"
	all, err := s.People.Approvals(v.r.Context(), every)
	if err != nil {
		return err
	}
	data := struct {
		All   bool
		Cards []approvalCard
	}{All: every}
	for _, a := range all {
		c := approvalCard{Approval: a, Cost: charged(a.Charge), Left: amounts(a.Remaining.In(a.Measure), numeric.FloorDigits), Waits: a.Status == ledger.Pending}
		if a.Holding.Quota != nil {
			c.Quota = amounts(a.Holding.Left.In(a.Measure), numeric.FloorDigits)
		}
		if p := strings.TrimSpace(string(a.Approval.Parameters)); p != "" && p != "null" && p != "[]" {
			c.Parameters = p
		}
		var certificate discreet.Certificate
		if json.Unmarshal(a.Certificate, &certificate) == nil {
			for _, r := range certificate.Releases {
				c.Words = append(c.Words, r.Words...)
			}
		}
		data.Cards = append(data.Cards, c)
	}
	return v.show(http.StatusOK, "approvals", "Approvals", data)
}

func (s *site) decide(v *visit) error {
	id, err := strconv.ParseInt(v.form.Get("id"), 10, 64)
	if err != nil {
		return problem.Request(http.StatusBadRequest, "the form names no approval", "")
	}
	why := strings.TrimSpace(v.form.Get("why"))
	switch v.form.Get("do") {
	case "grant":
		err = s.People.Grant(v.r.Context(), v.who.Account.Name, id)
	case "deny":
		if why == "" {
			return problem.Request(http.StatusBadRequest, "a denial has a reason", "write what the asker is to be told")
		}
		err = s.People.Deny(v.r.Context(), v.who.Account.Name, id, why)
	default:
		return problem.Request(http.StatusBadRequest, "the form neither grants nor denies", "")
	}
	if errors.Is(err, ledger.ErrUnknownApproval) || errors.Is(err, ledger.ErrUsed) {
		return problem.Request(http.StatusConflict, err.Error(), "")
	}
	if err != nil {
		return err
	}
	v.say("%s approval %d.", cmp.Or(map[string]string{"grant": "Granted"}[v.form.Get("do")], "Denied"), id)
	return v.to("/approvals")
}
