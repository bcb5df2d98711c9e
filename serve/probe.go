package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Probe asks a server whether it can answer. It is for health checks of containers that have no
// HTTP client. A URL without a path is asked for /readyz. It sends no secret. On this machine a
// certificate is taken as it is, because it names the server and not the machine; elsewhere it is
// verified.
func Probe(ctx context.Context, address string) error {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil {
		return diagnostic.New("D113", diagnostic.Span{}, "%q is no server that can be asked", address).Try("write it as in http://127.0.0.1:8080")
	}
	if at.Path == "" || at.Path == "/" {
		at.Path = "/readyz"
	}
	ctx, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return diagnostic.New("D113", diagnostic.Span{}, "%q is no server that can be asked", address)
	}
	client := http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: loopback(at.Hostname())}},
		// Where a server sends who probes it elsewhere, another one would answer for it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return unready(at, "it cannot be reached: "+err.Error())
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 4096)); err != nil || answer.StatusCode != http.StatusOK {
		return unready(at, fmt.Sprintf("it says %s", answer.Status))
	}
	return nil
}

func unready(at *url.URL, why string) error {
	return diagnostic.New("D220", diagnostic.Span{}, "the server at %s does not answer", at.Redacted()).Because("%s", why).
		Try("its log says why: a ledger that cannot be read, a disk that is full")
}
