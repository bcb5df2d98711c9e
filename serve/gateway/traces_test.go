//go:build cgo

package gateway_test

import (
	"bytes"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/traces"
)

// TestTraces: a collector is told the parts of a statement, by OTLP, and neither the
// statement nor its asker, its values or its answer.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var got []byte
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, body...) // messages that follow each other are one
	}))
	defer collector.Close()
	sent := traces.New(traces.Options{Endpoint: collector.URL, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	w := gatewaytest.Open(t, t.TempDir(), func(c *gateway.Config) { c.Traces = sent })
	who := asker(t, w, "anna")
	const canary = "Canary4711"
	for _, sql := range []string{"SELECT department, count(*) AS " + canary + " FROM visits WHERE department <> '" + canary + "' GROUP BY department", "SELECT " + canary + " FROM"} {
		_, _ = w.Query(t.Context(), who, sql, rho(t, "0.001"))
	}
	if err := sent.Close(); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{canary, "anna", "visits", "department", "Cardiology", "0.001"} {
		if bytes.Contains(bytes.ToLower(got), bytes.ToLower([]byte(private))) {
			t.Errorf("the collector was told %q", private)
		}
	}
	var all tracepb.TracesData
	if err := proto.Unmarshal(got, &all); err != nil {
		t.Fatal(err)
	}
	parts := map[string][]string{} // names, by trace
	outcomes := []string{}
	for _, r := range all.ResourceSpans {
		for _, s := range r.ScopeSpans[0].Spans {
			parts[string(s.TraceId)] = append(parts[string(s.TraceId)], s.Name)
			if s.EndTimeUnixNano < s.StartTimeUnixNano || len(s.TraceId) != 16 || len(s.SpanId) != 8 {
				t.Errorf("a part is %v", s)
			}
			if s.Name == "statement" {
				for _, a := range s.Attributes {
					outcomes = append(outcomes, a.Value.GetStringValue())
				}
			}
		}
	}
	if len(parts) != 2 || !slices.Contains(outcomes, "answered") || !slices.Contains(outcomes, "syntax") {
		t.Errorf("%d traces of %v", len(parts), outcomes)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(parts)), func(names []string) bool {
		slices.Sort(names)
		return slices.Equal(names, []string{"commit", "leave", "measure", "plan", "queue", "reserve", "statement"})
	}) {
		t.Errorf("the parts are %v", parts)
	}
}
