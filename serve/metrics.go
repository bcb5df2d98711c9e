package serve

import (
	"io"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"github.com/discreet-dp/discreet/serve/gateway"
)

// Metrics count what the server does, for its operator: in Prometheus' form. They hold no
// statement, no name and no value, and are not for analysts: durations reveal something about data.
type Metrics struct{ set *metrics.Set }

// NewMetrics returns metrics that are all zero.
func NewMetrics(g func() gateway.Load) *Metrics {
	m := &Metrics{metrics.NewSet()}
	m.set.NewGauge("discreet_statements_running", func() float64 { return float64(g().Running) })
	m.set.NewGauge("discreet_statements_waiting", func() float64 { return float64(g().Waiting) })
	return m
}

// Observe counts one statement that was answered, or failed.
func (m *Metrics) Observe(o gateway.Observation) {
	outcome := o.Outcome()
	m.set.GetOrCreateCounter(`discreet_statements_total{door="` + o.Door + `",outcome="` + outcome + `"}`).Inc()
	m.set.GetOrCreateHistogram(`discreet_statement_seconds{door="` + o.Door + `"}`).Update(o.Took.Seconds())
}

// Write writes all metrics.
func (m *Metrics) Write(w io.Writer) { m.set.WritePrometheus(w) }

// handler serves the metrics to whoever may see them.
func (m *Metrics) handler(may func(*http.Request) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !may(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "metrics are the owner's: send an owner's token", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		m.Write(w)
	}
}
