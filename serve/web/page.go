package web

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/problem"
)

// An audience is who may see a page. To others it does not exist.
type audience int

// The audiences. The zero value is the narrowest.
const (
	owners   audience = iota
	accounts          // owners and analysts
	anybody           // also who has not signed in
)

// A page is something with an address.
type page struct {
	path      string // a pattern of http.ServeMux, without a method
	word      string // in the navigation; "" if it does not stand there
	script    string // its module: script/NAME.js; "" for none
	audience  audience
	get, post func(*visit) error // nil: there is no such method
	once      bool               // a form that is sent twice does what it does once
	form      int64              // bytes of the largest form; maxForm if 0
}

// maxForm is the size of the largest form where a page does not say.
const maxForm = 16 << 10

// pages are all pages; those with a word stand in the navigation in this order.
func (s *site) pages() []page {
	return []page{
		s.overview(),
		s.asking(),
		s.explaining(),
		s.answerPage(),
		s.download("csv"),
		s.download("json"),
		s.tables(),
		s.history(),
		s.accountant(),
		s.mechanism(),
		s.approvals(),
		s.people(),
		s.person(),
		s.ledgerHealth(),
		s.audit(),
		s.signIn(),
		s.signOut(),
	}
}

// Routes are what the handler answers, as patterns of http.ServeMux, for who looks at all of it.
func Routes() []string {
	all := []string{"GET " + assetsPath}
	for _, p := range (&site{}).pages() {
		if p.get != nil {
			all = append(all, "GET "+p.path)
		}
		if p.post != nil {
			all = append(all, "POST "+p.path)
		}
	}
	slices.Sort(all)
	return all
}

// A visit is one request of a page.
type visit struct {
	*site
	page    page
	w       http.ResponseWriter
	r       *http.Request
	session *session      // nil of who has not signed in
	ended   *session      // of an account that has just ended, or has another password
	who     gateway.Asker // as it is now
	form    url.Values    // of a form that was posted
}

// serving serves a page: it finds out who asks, whether the page is there for them, and
// whether a form is theirs.
func (s *site) serving(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{site: s, page: p, w: w, r: r}
		if err := v.serve(); err != nil {
			v.fail(err)
		}
	})
}

func (v *visit) serve() error {
	if v.r.Method != http.MethodPost && foreign(v.r) {
		return errForeign
	}
	if err := v.recognise(); err != nil {
		return err
	}
	if v.ended != nil && v.page.once && v.r.Method == http.MethodPost {
		return v.again()
	}
	handler := v.page.get
	switch v.r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		handler = v.page.post
	default:
		handler = nil
	}
	switch {
	case v.page.audience != anybody && v.session == nil:
		return errStranger
	case !v.may(v.page):
		return problem.Request(http.StatusNotFound, "there is nothing at this address", "the pages that there are stand above")
	case handler == nil:
		return problem.Request(http.StatusMethodNotAllowed, "this page has no "+v.r.Method, "")
	}
	if v.r.Method == http.MethodPost {
		if err := v.receive(); err != nil {
			return err
		}
		if v.page.once {
			return v.doOnce(handler)
		}
	}
	return handler(v)
}

// errStranger: the page is for those who have signed in.
var errStranger = errors.New("nobody has signed in")

// recognise finds out who asks. A session whose account has ended is none.
func (v *visit) recognise() error {
	id := v.cookie(sessionCookie)
	v.session = v.sessions.find(id)
	if v.session == nil {
		return nil
	}
	account, err := v.session.account.Current(v.r.Context())
	if errors.Is(err, people.ErrEnded) || err == nil && v.sessions.hasLapsed(v.session) {
		v.sessions.lapse(v.session)
		v.session, v.ended = nil, v.session
		return nil
	}
	if err != nil {
		return err
	}
	v.who = gateway.Asker{Account: account, Door: "web", Address: address(v.r)}
	if o, is := v.w.(*observed); is {
		o.account = account.Name
	}
	if id, fresh := v.sessions.renew(v.session, id); fresh {
		v.give(sessionCookie, id)
	}
	return nil
}

// receive reads a form, and refuses one that was not given to this session.
func (v *visit) receive() error {
	limit := v.page.form
	if limit == 0 {
		limit = maxForm
	}
	if len(v.r.TransferEncoding) > 0 {
		// Browsers say how long a form is. Of one whose end stands in it, whoever forwards
		// requests may have another opinion.
		v.w.Header().Set("Connection", "close")
		return problem.Request(http.StatusLengthRequired, "the form does not say its length", "")
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, limit)
	err := v.r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problem.Request(http.StatusRequestEntityTooLarge, fmt.Sprintf("the form is longer than %d bytes", limit), "send less")
	case err != nil:
		return problem.Request(http.StatusBadRequest, "the form did not arrive whole", "send it again")
	}
	v.form = v.r.PostForm
	if !hmac.Equal([]byte(v.form.Get("token")), []byte(v.token())) || v.token() == "" {
		return &problem.Problem{Status: http.StatusForbidden, Code: "D215", Message: "this form is of another session",
			Why: "a form counts only for who was given it, so that no other page can send one", Hint: "load the page again, and send its form"}
	}
	return nil
}

// token is what forms of this session, or of this visitor, carry.
func (v *visit) token() string {
	if v.session != nil {
		return v.session.token
	}
	if v.ended != nil {
		return v.ended.token
	}
	return v.visitors.token(v.cookie(visitorCookie))
}

// to sends the browser to another page.
func (v *visit) to(path string) error {
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// say says something on the next page that this session is shown.
func (v *visit) say(format string, args ...any) {
	if v.session != nil {
		v.sessions.leave(v.session, fmt.Sprintf(format, args...))
	}
}

// may reports whether a page is there for the visitor.
func (v *visit) may(p page) bool {
	switch p.audience {
	case anybody:
		return true
	case accounts:
		return v.session != nil
	}
	return v.session != nil && v.who.Account.Role == people.Owner
}

// navigation are the pages that the visitor can go to.
func (v *visit) navigation() []page {
	return slices.DeleteFunc(slices.Clone(v.words), func(p page) bool { return v.session == nil || !v.may(p) })
}

// address is the client's, as the connection has it: what a header says anybody can write.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
