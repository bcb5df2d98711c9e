// Package hosts decides under which names the server's HTTP doors answer, and to whose
// pages.
package hosts

import (
	"net"
	"net/http"
	"strings"

	"github.com/discreet-dp/discreet/serve/problem"
)

// Check refuses a request under a name that is not the server's, and one that a page of
// another origin made a browser send: the name that an attacker's page is under may lead to
// this server's address (DNS rebinding), but it stays a name of the attacker's. own are the
// server's names, beside its addresses and localhost. The error is a *problem.Problem.
func Check(r *http.Request, own []string) error {
	if !known(r.Host, own) {
		return &problem.Problem{Status: http.StatusMisdirectedRequest, Code: "D215", Message: "the server is not asked under this name",
			Why: "a name that leads here could belong to somebody else", Hint: "use the server's address, localhost, or a name that its operator has configured"}
	}
	for _, origin := range r.Header.Values("Origin") {
		_, host, is := strings.Cut(origin, "://")
		if !is || !strings.EqualFold(host, r.Host) {
			return &problem.Problem{Status: http.StatusForbidden, Code: "D215", Message: "pages of other origins may not ask here",
				Why: "a browser would ask on behalf of its user", Hint: "ask from a program, or from a page of this server"}
		}
	}
	return nil
}

func known(hostport string, own []string) bool {
	host := hostport
	if bare, _, err := net.SplitHostPort(hostport); err == nil {
		host = bare
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") {
		return true
	}
	for _, name := range own {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}
