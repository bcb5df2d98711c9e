package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/declaration"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/problem"
	"github.com/discreet-dp/discreet/serve/request"
)

// statement reads a statement and its options.
func statement(w http.ResponseWriter, r *http.Request) (sql string, o gateway.Options, err error) {
	text, err := body(w, r)
	if err != nil {
		return "", o, err
	}
	s, err := request.ParseStatement(text)
	if err != nil {
		return "", o, err
	}
	return s.SQL, s.Options(), nil
}

func (h *handler) query(w http.ResponseWriter, r *http.Request) error {
	form, err := accepted(r)
	if err != nil {
		return err
	}
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) > 1 {
		return problem.Request(http.StatusBadRequest, "there are several idempotency keys", "send one")
	}
	sql, o, err := statement(w, r)
	if err != nil {
		return err
	}
	if len(keys) == 1 {
		if o.IdempotencyKey, err = request.ParseKey(keys[0]); err != nil {
			return err
		}
	}
	// A statement that is charged is finished though its asker has gone: the answer is paid
	// for, and who asks again finds it stored. Another ends with its request.
	o.Finish = true
	a, err := h.Gateway.Query(r.Context(), Who(r.Context()), sql, o)
	if err != nil {
		return err
	}
	of, end := h.sendingOf(r.Context())
	defer end()
	if err := of.hold(a); err != nil {
		return err
	}
	return form(w, a)
}

func (h *handler) explain(w http.ResponseWriter, r *http.Request) error {
	sql, o, err := statement(w, r)
	if err != nil {
		return err
	}
	e, err := h.Gateway.Explain(r.Context(), Who(r.Context()), sql, o)
	if err != nil {
		return err
	}
	return send(w, e)
}

// tables answers what is declared of one table, or of all.
func (h *handler) tables(w http.ResponseWriter, r *http.Request) error {
	all, err := declaration.Tables(h.Gateway.Catalog(Who(r.Context())), r.PathValue("name"), math.MaxInt)
	if err != nil {
		p := *problem.Of(err)
		p.Status = http.StatusNotFound
		return &p
	}
	text, err := json.Marshal(map[string]any{"tables": all})
	if err != nil {
		return fmt.Errorf("encode tables: %w", err)
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	document(w, r, append(text, '\n'))
	return nil
}

// document answers a text that stays the same until it changes.
func document(w http.ResponseWriter, r *http.Request, text []byte) {
	digest := sha256.Sum256(text)
	w.Header().Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(digest[:16])+`"`)
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

//go:embed openapi.json
var openAPIText []byte

func openAPI(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-cache")
	document(w, r, openAPIText)
	return nil
}

func (h *handler) budget(w http.ResponseWriter, r *http.Request) error {
	balances, err := h.Gateway.Budget(r.Context(), Who(r.Context()))
	if err != nil {
		return err
	}
	domains := []books.Domain{}
	for _, b := range balances {
		d, err := books.NewDomain(b)
		if err != nil {
			return err
		}
		domains = append(domains, d)
	}
	return send(w, map[string]any{"domains": domains})
}

// A page of the history has so many entries, unless the request says otherwise.
const (
	defaultPage = 50
	largestPage = 500
)

// history answers what was asked, the newest first, in pages.
func (h *handler) history(w http.ResponseWriter, r *http.Request) error {
	limit, err := whole(r, "limit", defaultPage, largestPage)
	if err != nil {
		return err
	}
	before, err := whole(r, "before", math.MaxInt64, math.MaxInt64)
	if err != nil {
		return err
	}
	for name := range r.URL.Query() {
		if name != "limit" && name != "before" {
			return problem.Request(http.StatusBadRequest, fmt.Sprintf("there is no parameter %q here", name), "there are limit and before")
		}
	}
	who := Who(r.Context())
	balances, err := h.Gateway.Budget(r.Context(), who)
	if err != nil {
		return err
	}
	measures := map[string]filter.Measure{}
	for _, b := range balances {
		measures[b.ID] = b.Measure
	}
	history, err := h.Gateway.History(r.Context(), who, ledger.Selection{Before: before, Limit: int(limit) + 1}) // one more tells that there are more
	if err != nil {
		return err
	}
	entries := books.NewEntries(history, measures)
	page := struct {
		History []books.Entry `json:"history"`
		Before  *int64        `json:"before"` // of the next page; null on the last
	}{History: entries}
	if int64(len(entries)) > limit {
		page.History = entries[:limit]
		page.Before = &entries[limit-1].Record
	}
	for i := range page.History {
		if who.Account.Role != people.Owner {
			page.History[i].User = nil // the server's, which is the owner's to know
		}
	}
	return send(w, page)
}

// whole is a parameter of the query that is a whole number from 1.
func whole(r *http.Request, name string, otherwise, most int64) (int64, error) {
	given := r.URL.Query()[name]
	if len(given) == 0 {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(given[0], 10, 64)
	if err != nil || len(given) > 1 || n < 1 || n > most {
		return 0, problem.Request(http.StatusBadRequest, fmt.Sprintf("%s is not one whole number from 1 to %d", name, most), "")
	}
	return n, nil
}

// account answers what the accountants say of a plan.
func (h *handler) account(w http.ResponseWriter, r *http.Request) error {
	text, err := body(w, r)
	if err != nil {
		return err
	}
	p, err := request.ParsePlan(text)
	if err != nil {
		return err
	}
	var report *accountant.Report
	err = h.Gateway.Reckon(r.Context(), Who(r.Context()), func(ctx context.Context) error {
		var o accountant.Options
		read, err := bounds.ReadPlan(p.Text, nil)
		if err != nil {
			return err
		}
		event, err := bounds.Event(read, p.Text, o.Neighbours)
		if err != nil {
			return err
		}
		if p.Delta != nil {
			report, err = accountant.Epsilon(ctx, event, bounds.Below(p.Delta), o)
		} else {
			report, err = accountant.Delta(ctx, event, bounds.Below(p.Epsilon), o)
		}
		if err != nil {
			return bounds.Refused(err)
		}
		return nil
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return problem.Request(http.StatusServiceUnavailable, "the accountants did not finish in time", "send a shorter plan, or one of fewer kinds of events")
	case err != nil:
		return err
	}
	return send(w, bounds.NewReport(report, p.Epsilon, p.Delta))
}
