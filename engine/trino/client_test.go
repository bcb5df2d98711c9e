package trino

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
)

// speak opens a client of a coordinator that answers by f.
func speak(t *testing.T, f http.HandlerFunc) (*client, string) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c, err := newClient(&catalog.Catalog{}, Options{URL: strings.Replace(s.URL, "http://", "http://reader@", 1)})
	if err != nil {
		t.Fatal(err)
	}
	return c, s.URL
}

// An answer is all of its pages in their order, with NULL and truths; a coordinator that is busy
// is asked again for a page, and never given a statement twice.
func TestPages(t *testing.T) {
	posted, busy := 0, 0
	c, _ := speak(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Trino-User") != "reader" {
			t.Errorf("the user is %q", r.Header.Get("X-Trino-User"))
		}
		switch r.URL.Path {
		case "/v1/statement":
			posted++
			if s := r.Header.Get("X-Trino-Session"); r.Method != http.MethodPost || !strings.Contains(s, "retry_policy=NONE") {
				t.Errorf("%s with %q", r.Method, s)
			}
			fmt.Fprintf(w, `{"nextUri": "http://%s/one"}`, r.Host)
		case "/one":
			if busy++; busy < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fmt.Fprintf(w, `{"nextUri": "http://%s/two", "data": [["a\u0000é", null], ["", true]]}`, r.Host)
		case "/two":
			fmt.Fprint(w, `{"data": [["z", false]]}`)
		}
	})
	rows, err := c.query(t.Context(), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, row := range rows {
		for _, text := range row {
			if text == nil {
				said = append(said, "~")
			} else {
				said = append(said, *text)
			}
		}
	}
	if got := strings.Join(said, "|"); got != "a\x00é|~||true|z|false" || posted != 1 {
		t.Errorf("%q, posted %d times", got, posted)
	}
}

// What is no answer gives no rows, however much came before it: another server, another address,
// a broken page, an error in the middle.
func TestNoAnswer(t *testing.T) {
	_, other := speak(t, func(w http.ResponseWriter, _ *http.Request) { // whom nobody may ask
		t.Error("another server was asked")
		fmt.Fprint(w, `{"data": [["b"]]}`)
	})
	for name, next := range map[string]string{
		"another server": `{"nextUri": "` + other + `/one", "data": [["a"]]}`, "a broken page": `{"data": [[`, "a number": `{"data": [[1]]}`,
		"an error": `{"data": [["a"]], "error": {"errorName": "REMOTE_TASK_ERROR", "errorType": "INTERNAL_ERROR", "message": "canary"}}`,
		"redirect": "", "no page": `{"nextUri": "http://%s/missing", "data": [["a"]]}`,
	} {
		c, _ := speak(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/missing":
				w.WriteHeader(http.StatusGone)
			case name == "redirect":
				http.Redirect(w, r, other, http.StatusFound)
			case strings.Contains(next, "%s"):
				fmt.Fprintf(w, next, r.Host)
			default:
				fmt.Fprint(w, next)
			}
		})
		if rows, err := c.query(t.Context(), "SELECT 1"); err == nil || rows != nil {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	c, _ := speak(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	if _, err := c.query(t.Context(), "SELECT 1"); !errors.Is(err, errRejected) {
		t.Errorf("not authenticated: %v", err)
	}
}

// A statement that nobody waits for is ended.
func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var ended atomic.Bool
	c, _ := speak(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			fmt.Fprintf(w, `{"nextUri": "http://%s/wait"}`, r.Host)
		case http.MethodGet:
			cancel()
			<-r.Context().Done()
		case http.MethodDelete:
			ended.Store(r.URL.Path == "/wait")
		}
	})
	if _, err := c.query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) || !ended.Load() {
		t.Errorf("%v, ended: %v", err, ended.Load())
	}
}

// The salt stands where its mark does, and nowhere in a text or a name.
func TestSalted(t *testing.T) {
	got := salted(`SELECT $salt, '$salt', 'a''$salt', "$salt", "b""$salt" + $salt`, -7)
	if want := `SELECT BIGINT '-7', '$salt', 'a''$salt', "$salt", "b""$salt" + BIGINT '-7'`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
