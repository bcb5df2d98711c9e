package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestNamesOfOperators: what operators ask for is answered under the server's names alone, as is
// everything else: another name that leads here is somebody else's. Probes by address are answered,
// with a port or without, and those that send no name.
func TestNamesOfOperators(t *testing.T) {
	o := Options{HTTP: http.NotFoundHandler(), Metrics: &Metrics{}, MaySeeMetrics: func(*http.Request) bool { return false }, Config: Config{Hosts: []string{"private.example.org"}}}
	h := o.handler()
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401} {
		for host, known := range map[string]bool{"127.0.0.1:8080": true, "10.1.2.3": true, "[2001:db8::1]:8080": true, "localhost": true, "private.example.org": true, "": true,
			"evil.example": false, "private.example.org.evil.example": false, "evil.example:8080": false} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Code; known && got != want || !known && got != http.StatusMisdirectedRequest {
				t.Errorf("%s as %q: %d", path, host, got)
			}
			if !known && strings.Contains(w.Body.String(), "ready") {
				t.Errorf("%s as %q says %q", path, host, w.Body)
			}
		}
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "127.0.0.1:8080"
		r.Header.Set("Origin", "http://127.0.0.1:9090")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s to a page of another origin: %d", path, w.Code)
		}
	}
}
