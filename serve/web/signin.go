package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A door is what the sign-in page shows.
type door struct {
	Name, To, Wrong string
	Visitor         string // the token of the visitor's form
}

func (s *site) signIn() page {
	return page{path: "/sign-in", audience: anybody, get: s.showDoor, post: s.enter}
}

func (s *site) signOut() page {
	return page{path: "/sign-out", audience: accounts, post: func(v *visit) error {
		v.sessions.end(v.session)
		v.give(sessionCookie, "")
		return v.to("/sign-in")
	}}
}

func (s *site) showDoor(v *visit) error {
	if v.session != nil {
		return v.to("/")
	}
	return v.askIn(http.StatusOK, door{To: local(v.r.URL.Query().Get("to"))})
}

// askIn shows the form by which one signs in.
func (v *visit) askIn(status int, d door) error {
	cookie := v.cookie(visitorCookie)
	if cookie == "" {
		fresh, err := random()
		if err != nil {
			return err
		}
		cookie = fresh
		v.give(visitorCookie, cookie)
	}
	d.Visitor = v.visitors.token(cookie)
	return v.show(status, "signin", "Sign in", d)
}

// enter signs somebody in. A session that the browser has ends, whoever's it is.
func (s *site) enter(v *visit) error {
	name, to := v.form.Get("name"), local(v.form.Get("to"))
	account, err := s.People.SignIn(v.r.Context(), name, v.form.Get("password"), address(v.r))
	s.Gateway.SignedIn(name, "web", address(v.r), err)
	switch {
	case errors.Is(err, people.ErrSignIn):
		return v.askIn(http.StatusUnauthorized, door{Name: name, To: to, Wrong: "The name or the password is wrong."})
	case errors.Is(err, people.ErrTooMany):
		return v.askIn(http.StatusTooManyRequests, door{Name: name, To: to, Wrong: "Too many tries wait already. Try again in a minute."})
	case err != nil:
		return err
	}
	if v.session != nil {
		s.sessions.end(v.session)
	}
	id, err := s.sessions.begin(account)
	if err != nil {
		return err
	}
	v.give(sessionCookie, id)
	v.give(visitorCookie, "")
	return v.to(to)
}

// local is a path of this server, or its first page: where others say that one should go
// must not lead elsewhere.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsAny(path, "\\\r\n\t") || strings.HasPrefix(path, "/sign-") {
		return "/"
	}
	return path
}

// fail shows what went wrong, or the form by which one signs in.
func (v *visit) fail(err error) {
	v.page.script = "" // it is of the page that is not shown
	if errors.Is(err, errForeign) && v.elsewhere() == nil {
		return
	}
	if errors.Is(err, errStranger) {
		to := "/"
		if v.r.Method == http.MethodGet {
			to = local(v.r.URL.RequestURI())
		}
		err = v.to("/sign-in?" + url.Values{"to": {to}}.Encode())
		if err == nil {
			return
		}
	}
	p := problem.Of(err)
	if p.Code == "D109" {
		v.Log.ErrorContext(v.r.Context(), "page failed", "kind", fmt.Sprintf("%T", err), "path", v.page.path)
	}
	if err := v.show(p.Status, "problem", title(p), p); err != nil {
		http.Error(v.w, "the server failed", http.StatusInternalServerError)
	}
}

// title heads the page of a problem.
func title(p *problem.Problem) string {
	switch p.Status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusAccepted:
		return "An owner must approve this first"
	case http.StatusServiceUnavailable, http.StatusInternalServerError:
		return "The server could not do this"
	}
	return "Refused"
}
