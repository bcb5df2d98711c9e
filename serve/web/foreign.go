package web

import (
	"errors"
	"net/http"
)

// errForeign: a page of another origin made the browser ask.
var errForeign = errors.New("another page led here")

// foreign reports whether a page of another origin made the browser send a request, as
// browsers say in a header that no page can write. What people type, or open from a program,
// is their own. A page of the same host at another port has this server's cookies sent with
// what it asks for, so that it is no less foreign than any other. Browsers without the header
// are old: they say nothing of the kind, and answers are closed to other origins all the same.
func foreign(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return true
		}
	}
	return false
}

// elsewhere says that nothing was done, and leads on. It is the same to everybody: who has
// signed in is not looked for, so that the other page learns nothing of it either.
func (v *visit) elsewhere() error {
	to := local(v.r.URL.RequestURI())
	shown := []rune(to)
	if len(shown) > 200 {
		shown = append(shown[:200], '…')
	}
	return v.show(http.StatusForbidden, "foreign", "Another page led here", struct{ To, Shown string }{to, string(shown)})
}
