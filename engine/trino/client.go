package trino

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// The protocol is Trino's own over HTTP: a statement is posted, and its pages are fetched one
// after the other, each from the address that the one before names; DELETE of that address ends
// it. It has two hundred lines here, and no dependency: the official client has eleven.

// A client speaks to one coordinator as one user.
type client struct {
	http     *http.Client
	base     *url.URL
	user     string
	password string // "" where there is none
	session  string // properties of every statement
}

// bounds of what a coordinator may send and how long it may be silent.
const (
	maxPage     = 64 << 20
	maxAnswer   = 1 << 30
	pageTimeout = 2 * time.Minute // a page is held back for a second or so
	endTimeout  = 5 * time.Second
)

func newClient(c *catalog.Catalog, o Options) (*client, error) {
	wrong := func(why string) error {
		return diagnostic.New("D101", diagnostic.Span{}, "the database of $%s cannot be used", c.Engine.Variable).Because("%s", why).
			Try(`write it as in "https://discreet:PASSWORD@trino.example:8443"`)
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http": // its text quotes the URL
		return nil, wrong("what it holds is not a URL of a Trino coordinator")
	case u.Path != "" && u.Path != "/" || u.Fragment != "":
		return nil, wrong("the URL names a path, and a coordinator has none")
	case u.User.Username() == "":
		return nil, wrong("the URL names no user")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, wrong("over plain HTTP nobody is authenticated, and whoever listens reads the answers: only this machine's own coordinator may be asked so")
	}
	password, _ := u.User.Password()
	if password != "" && u.Scheme == "http" {
		return nil, wrong("a password does not go over plain HTTP")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the environment decides nothing
	parameters := u.Query()
	root := parameters.Get("sslrootcert")
	switch _, err := url.ParseQuery(u.RawQuery); {
	case err != nil || len(parameters) > 1 || len(parameters) == 1 && (root == "" || len(parameters["sslrootcert"]) > 1):
		return nil, wrong("the URL has parameters that are not known here: sslrootcert=FILE is the one there is")
	case root != "" && u.Scheme == "http":
		return nil, wrong("a certificate means nothing over plain HTTP")
	case root != "":
		if transport.TLSClientConfig, err = trusting(root); err != nil {
			return nil, wrong("sslrootcert names no file with certificates in PEM")
		}
	}
	return &client{
		http: &http.Client{Transport: transport, Timeout: pageTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the coordinator sends elsewhere") // with the password
		}},
		base: &url.URL{Scheme: u.Scheme, Host: u.Host}, user: u.User.Username(), password: password,
		session: "query_max_run_time=" + maxRunTime + ",retry_policy=NONE",
	}, nil
}

// trusting accepts coordinators whom one of a file's certificates vouches for, and no other: as
// libpq's sslrootcert does, with the name checked.
func trusting(path string) (*tls.Config, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// maxRunTime bounds a statement that its caller does not bound. No part of one is run again: what
// fails has failed.
const maxRunTime = "1h"

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// A failed error is what the coordinator says of a statement. Its text can quote values: it is
// for the owner alone.
type failed struct {
	Name    string `json:"errorName"`
	Kind    string `json:"errorType"`
	Message string `json:"message"`
}

func (f *failed) Error() string { return fmt.Sprintf("trino: %s: %s", f.Name, f.Message) }

// A page is a part of an answer.
type page struct {
	Next    string   `json:"nextUri"`
	Columns []named  `json:"columns"`
	Data    [][]cell `json:"data"`
	Error   *failed  `json:"error"`
}

// A named column is one of an answer.
type named struct {
	Name string `json:"name"`
}

// An answer is all of its pages.
type answer struct {
	columns []named
	rows    [][]cell
}

// A cell is a value as JSON.
type cell []byte

func (c *cell) UnmarshalJSON(b []byte) error {
	*c = bytes.Clone(b)
	return nil
}

// asText is a text or a truth; nil of NULL. The queries of statements give nothing else.
func (c cell) asText() (*string, error) {
	switch text := string(c); text {
	case "null":
		return nil, nil
	case "true", "false":
		return &text, nil
	}
	text := new(string)
	if err := json.Unmarshal(c, text); err != nil {
		return nil, errors.New("trino: a value is no text")
	}
	return text, nil
}

// query runs one statement whose columns are texts or truths, and returns all rows.
func (c *client) query(ctx context.Context, sql string) ([][]*string, error) {
	a, err := c.ask(ctx, sql)
	if err != nil {
		return nil, err
	}
	rows := make([][]*string, len(a.rows))
	for i, cells := range a.rows {
		rows[i] = make([]*string, len(cells))
		for j, c := range cells {
			if rows[i][j], err = c.asText(); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// ask runs one statement, and returns all rows.
func (c *client) ask(ctx context.Context, sql string) (a answer, err error) {
	all := int64(0)
	err = c.pages(ctx, sql, func(p *page, size int64) error {
		if all += size; all > maxAnswer {
			return errors.New("trino: the answer is too large")
		}
		if a.rows = append(a.rows, p.Data...); len(p.Columns) > 0 {
			a.columns = p.Columns
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return a, nil
}

// pages runs one statement, and calls take with each page and its bytes. What the coordinator is
// doing when ctx ends or take fails is ended there.
func (c *client) pages(ctx context.Context, sql string, take func(p *page, size int64) error) error {
	p, size, err := c.fetch(ctx, http.MethodPost, c.base.JoinPath("/v1/statement").String(), sql)
	for err == nil {
		if p.Error != nil {
			return p.Error
		}
		next := p.Next
		if next != "" {
			if err := c.own(next); err != nil {
				return err
			}
		}
		err = take(p, size)
		if next == "" {
			return err
		}
		if err == nil {
			p, size, err = c.fetch(ctx, http.MethodGet, next, "")
		}
		if err != nil {
			c.end(next)
		}
	}
	return err
}

// own refuses an address of another server, to which the password would go.
func (c *client) own(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != c.base.Scheme || u.Host != c.base.Host {
		return errors.New("trino: the next page is said to be elsewhere: the coordinator's own address is needed, or http-server.process-forwarded=true behind a proxy")
	}
	return nil
}

// end ends a statement that nobody waits for any more.
func (c *client) end(address string) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if answer, err := c.send(ctx, http.MethodDelete, address, ""); err == nil {
		answer.Body.Close()
	}
}

func (c *client) send(ctx context.Context, method, address, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Trino-User", c.user)
	request.Header.Set("X-Trino-Source", "discreet")
	request.Header.Set("X-Trino-Time-Zone", "UTC")
	request.Header.Set("X-Trino-Client-Capabilities", "PARAMETRIC_DATETIME")
	if body != "" {
		request.Header.Set("X-Trino-Session", c.session)
	}
	if c.password != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	return c.http.Do(request)
}

// fetch gets a page. A coordinator that is too busy says so, and is asked again for the same
// page, which it may be: a statement that was posted is never posted again.
func (c *client) fetch(ctx context.Context, method, address, body string) (*page, int64, error) {
	for again := 0; ; again++ {
		answer, err := c.send(ctx, method, address, body)
		if err != nil {
			return nil, 0, hideURL(err)
		}
		text, err := io.ReadAll(io.LimitReader(answer.Body, maxPage+1))
		answer.Body.Close()
		switch {
		case err != nil:
			return nil, 0, hideURL(err)
		case len(text) > maxPage:
			return nil, 0, errors.New("trino: a page is too large")
		case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
			return nil, 0, errRejected
		case answer.StatusCode == http.StatusServiceUnavailable && method == http.MethodGet && again < 20:
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-ctx.Done():
				return nil, 0, ctx.Err()
			}
		case answer.StatusCode != http.StatusOK:
			return nil, 0, fmt.Errorf("trino: the coordinator answers with the status %d", answer.StatusCode)
		}
		var p page
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&p); err != nil {
			return nil, 0, errors.New("trino: a page cannot be read")
		}
		return &p, int64(len(text)), nil
	}
}

var errRejected = errors.New("trino: the coordinator refuses the user, or the password")

// hideURL leaves out the address, which names a statement.
func hideURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
