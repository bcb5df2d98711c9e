package web

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/serve/problem"
)

// A deed is what a form did that counts once. Who sends it again, by a second click while the
// first is under way, sees what came of the first: a password, above all, that is shown once.
type deed struct {
	form   digest
	at     time.Time
	done   chan struct{} // closed when the rest is written
	status int
	header http.Header
	body   []byte // nil when it may not be shown any more
}

const (
	repeats = time.Minute // for which what came of a form is shown to who sends it again
	deeds   = 256         // of a session that are remembered
)

// deed returns what a form did, or is doing; first says that it has done nothing yet, and is
// to do it now.
func (s *sessions) deed(one *session, form digest) (d *deed, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fade(one)
	for _, d := range one.deeds {
		if d.form == form {
			return d, false
		}
	}
	d = &deed{form: form, at: s.now(), done: make(chan struct{})}
	if one.deeds = append(one.deeds, d); len(one.deeds) > deeds {
		one.deeds = one.deeds[1:]
	}
	return d, true
}

// fade forgets what came of forms, and not that they were sent. The lock is held.
func (s *sessions) fade(one *session) {
	for _, d := range one.deeds {
		select {
		case <-d.done:
			if s.now().Sub(d.at) >= repeats {
				d.header, d.body = nil, nil
			}
		default:
		}
	}
}

// doOnce lets a form do what it does, or shows what it did.
func (v *visit) doOnce(handler func(*visit) error) error {
	form, err := v.single()
	if err != nil {
		return err
	}
	d, first := v.sessions.deed(v.session, form)
	if !first {
		return v.shownAgain(v.session, d)
	}
	defer close(d.done)
	w := &noted{ResponseWriter: v.w}
	within := *v
	within.w = w
	if err := handler(&within); err != nil {
		within.fail(err)
	}
	v.sessions.mu.Lock()
	defer v.sessions.mu.Unlock()
	d.status, d.header, d.body = w.status, w.header, w.body.Bytes()
	return nil
}

// again shows what a form did to who sends it again and is not signed in any more: it gave him
// or her another password.
func (v *visit) again() error {
	if v.receive() != nil {
		return errStranger
	}
	form, err := v.single()
	if err != nil {
		return errStranger
	}
	v.sessions.mu.Lock()
	var found *deed
	for _, d := range v.ended.deeds {
		if d.form == form {
			found = d
		}
	}
	v.sessions.mu.Unlock()
	if found == nil {
		return errStranger
	}
	return v.shownAgain(v.ended, found)
}

// single names a form: its own number with all that it says.
func (v *visit) single() (digest, error) {
	if v.form.Get("once") == "" {
		return digest{}, problem.Request(http.StatusBadRequest, "the form has no number", "load the page again, and send its form")
	}
	return sha256.Sum256([]byte(v.r.URL.Path + "\x00" + v.form.Encode())), nil
}

// shownAgain shows what a form did, when it has.
func (v *visit) shownAgain(of *session, d *deed) error {
	select {
	case <-d.done:
	case <-v.r.Context().Done():
		return v.r.Context().Err()
	}
	v.sessions.mu.Lock()
	v.sessions.fade(of)
	status, header, body := d.status, d.header, d.body
	v.sessions.mu.Unlock()
	if header == nil {
		return problem.Request(http.StatusConflict, "this form was sent before", "what it did stands on its page: load that again, and send its form")
	}
	for name, values := range header {
		if name != "Set-Cookie" {
			v.w.Header()[name] = values
		}
	}
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // who has gone is told nothing
	return nil
}

// A noted response is sent, and kept.
type noted struct {
	http.ResponseWriter
	status int
	header http.Header
	body   bytes.Buffer
}

func (n *noted) WriteHeader(status int) {
	if n.status == 0 {
		n.status, n.header = status, n.Header().Clone()
	}
	n.ResponseWriter.WriteHeader(status)
}

func (n *noted) Write(p []byte) (int, error) {
	if n.status == 0 {
		n.status, n.header = http.StatusOK, n.Header().Clone()
	}
	n.body.Write(p)
	return n.ResponseWriter.Write(p)
}
