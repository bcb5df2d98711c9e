// Package web is the server's pages: what people see who ask, and who own, in a browser.
//
// It guarantees that a page is shown to who has signed in by the accounts of package
// people, and an owner's page to an owner, as the accounts are at that moment; that what a
// form does is done for a form that this server gave to that session; that names, values
// and statements are shown as text, whatever is in them; and that what an account may not
// see does not exist on any page. What is asked on a page goes through package gateway, as
// through every other door.
//
// It does not guarantee anything against who controls the browser, or reads what it keeps.
// Sessions and the answers that a page lets somebody download are in this process's memory:
// its end signs everybody out.
//
// # Adding a page
//
// A page is one file of Go and one template, templates/NAME.html. The file has a method of
// *site that returns the page:
//
//	func (s *site) weather() page {
//		return page{path: "/weather", word: "Weather", audience: owners, get: s.showWeather}
//	}
//
//	func (s *site) showWeather(v *visit) error {
//		return v.show(http.StatusOK, "weather", "Weather", tomorrow)
//	}
//
// and pages in page.go names it. A page with a word stands in the navigation. The template
// defines "main", which is shown inside of layout.html; in it .Data is what show was given,
// and .Token what every form that posts sends as the field token:
//
//	{{define "main"}}<h1>{{.Title}}</h1>
//	<form method="post"><input type="hidden" name="token" value="{{.Token}}">...</form>{{end}}
//
// A form is there before its handler runs, in v.form; who sent it has been checked. A
// handler that has done something ends with v.to(path), and v.say says what was done on the
// page after. Errors are returned: v.show is for what is right, problem.Of words the rest.
// Drawings are made by package plot and put on a page by figure. A page with a script says
// so in page.script: script/NAME.js, bundled to assets/NAME.js.gz by script/bundle.
// No page has styles or scripts inline: the policy of policy.go forbids them.
package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/hosts"
	"github.com/discreet-dp/discreet/serve/internal/sparing"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/problem"
)

// Options are what the pages are made of.
type Options struct {
	Gateway *gateway.Gateway
	People  *people.Accounts
	// Hosts are the names of the server, beside its addresses and localhost.
	Hosts []string
	// Journal is the path of the server's journal, for the page of audits; "" for none.
	Journal string
	// Now is the clock.
	Now func() time.Time
	// Idle is how long a session lasts in which nothing is done, an hour if 0, and Life how
	// long any lasts, twelve hours if 0.
	Idle, Life time.Duration
	// Log receives a line for each request. Discarded if nil.
	Log *slog.Logger
	// Room is what answers may take together at all doors, those that pages keep among them;
	// nil: of pages alone, as much as they ever keep.
	Room *places.Room
}

// A site is the pages of one server.
type site struct {
	Options
	mux       *http.ServeMux
	crossing  *http.CrossOriginProtection
	sessions  *sessions
	visitors  visitors
	templates map[string]*template.Template
	assets    assets
	words     []page // of the navigation, in its order
	verified  verified
	strangers *sparing.Lines
}

// New returns the handler of all pages.
func New(o Options) (http.Handler, error) {
	if o.Gateway == nil || o.People == nil || o.Now == nil {
		return nil, errors.New("make pages: they need a gateway, accounts and a clock")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Idle, o.Life = cmp.Or(o.Idle, time.Hour), cmp.Or(o.Life, 12*time.Hour)
	s := &site{Options: o, mux: http.NewServeMux(), crossing: http.NewCrossOriginProtection(), sessions: newSessions(o.Now, o.Idle, o.Life, o.Room),
		strangers: &sparing.Lines{Now: o.Now, Minute: 60}}
	var err error
	if s.visitors, err = newVisitors(); err != nil {
		return nil, err
	}
	if s.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if s.templates, err = s.readTemplates(); err != nil {
		return nil, err
	}
	for _, p := range s.pages() {
		s.mux.Handle(p.path, s.serving(p))
		if p.word != "" {
			s.words = append(s.words, p)
		}
	}
	s.mux.Handle(assetsPath, s.assets)
	s.mux.Handle("/", s.serving(page{audience: anybody, get: func(*visit) error {
		return problem.Request(http.StatusNotFound, "there is nothing at this address", "the pages that there are stand above")
	}}))
	return s, nil
}

// ServeHTTP serves one request.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &observed{ResponseWriter: w}
	defer func() {
		if p := recover(); p != nil {
			if err, is := p.(error); is && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			// What the panic says is nobody's to know: it can have come from anywhere.
			s.Log.ErrorContext(r.Context(), "page failed", "panic", fmt.Sprintf("%T", p))
			if seen.status == 0 {
				http.Error(seen, "the server failed", http.StatusInternalServerError)
			}
		}
		log := s.Log
		if seen.account == "" { // strangers fill no disk
			may, left := s.strangers.Write()
			if !may {
				return
			}
			if left > 0 {
				log = log.With("not_logged", left)
			}
		}
		log.InfoContext(r.Context(), "page", "method", r.Method, "path", cmp.Or(r.Pattern, "none"), "status", seen.status, "account", seen.account, "address", address(r))
	}()
	restrict(w.Header(), r.TLS != nil)
	err := hosts.Check(r, s.Hosts)
	if err == nil && s.crossing.Check(r) != nil {
		err = &problem.Problem{Status: http.StatusForbidden, Code: "D215", Message: "another site sent this form"}
	}
	if err != nil { // whose page it would be is not known: plain words
		p := problem.Of(err)
		http.Error(seen, p.Message, p.Status)
		return
	}
	s.mux.ServeHTTP(seen, r)
}

// An observed writer knows what its request came to.
type observed struct {
	http.ResponseWriter
	status  int
	account string
}

func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(p []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	return o.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }
