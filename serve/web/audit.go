package web

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/people/journal"
)

// audit is the journal: who signed in, what was explained and what was refused. What was
// charged is in the history.
func (s *site) audit() page {
	return page{path: "/audit", word: "Audit", audience: owners, get: s.showAudit}
}

// eventsOfPage is how many events the page shows; all are in the export.
const eventsOfPage = 200

func (s *site) showAudit(v *visit) error {
	q := v.r.URL.Query()
	data := struct {
		Kind, Account  string
		None, Tampered bool
		Events         []journal.Record
		More           bool
	}{Kind: q.Get("kind"), Account: strings.TrimSpace(q.Get("account"))}
	var found []journal.Record
	err := fs.ErrNotExist
	if s.Journal != "" {
		err = journal.Read(v.r.Context(), s.Journal, func(r journal.Record) error {
			if data.Kind != "" && r.Kind != data.Kind || data.Account != "" && r.Account != data.Account {
				return nil
			}
			// Both chains come from their oldest: the newest of each are wanted.
			if found = append(found, r); len(found) > 4*eventsOfPage {
				slices.SortStableFunc(found, newestFirst)
				found, data.More = slices.Clip(found[:eventsOfPage]), true
			}
			return nil
		})
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data.None = true
	case errors.Is(err, journal.ErrTampered):
		data.Tampered = true
	case err != nil:
		return err
	}
	slices.SortStableFunc(found, newestFirst)
	if len(found) > eventsOfPage {
		found, data.More = found[:eventsOfPage], true
	}
	data.Events = found
	return v.show(http.StatusOK, "audit", "Audit", data)
}

func newestFirst(a, b journal.Record) int {
	return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Record, a.Record))
}
