// Package traces sends the durations of the parts of statements to an OpenTelemetry collector: OTLP
// over HTTP, in protobuf.
//
// It guarantees that a trace holds names of parts, instants, and words of this server's own,
// such as the door and the outcome: no statement, no value, no account, no address; that
// nothing waits for the collector; and that what waits for it is bounded.
//
// Durations do reveal something about data: traces are for the operator alone.
//
// It uses OpenTelemetry's messages and not its SDK: with the SDK's exporter the command
// grew by 6.4 MB, and a server needs only a loop that posts.
package traces

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// Options of New.
type Options struct {
	Endpoint string        // the collector's, without /v1/traces
	Every    time.Duration // between two posts; a second if 0
	Most     int           // traces that wait; 2,048 if 0
	Now      func() time.Time
	Log      *slog.Logger
}

// Traces are sent to one collector. A nil *Traces records nothing.
type Traces struct {
	options Options
	client  http.Client
	bits    *entropy.Source

	mu      sync.Mutex
	waiting [][]*tracepb.Span
	lost    int // traces, since the log said so

	quit, done chan struct{}
}

// New returns traces that are sent until Close; nil where no endpoint is named.
func New(o Options) *Traces {
	if o.Endpoint == "" {
		return nil
	}
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Most == 0 {
		o.Most = 2048
	}
	t := &Traces{options: o, client: http.Client{Timeout: 5 * time.Second}, bits: entropy.New(), quit: make(chan struct{}), done: make(chan struct{})}
	go t.loop()
	return t
}

// Close sends what waits, and ends.
func (t *Traces) Close() error {
	if t == nil {
		return nil
	}
	close(t.quit)
	<-t.done
	return nil
}

// A Span is one part of what a server did. A nil *Span records nothing. The parts of one
// trace are recorded by one goroutine.
type Span struct {
	of    *Traces
	trace *[]*tracepb.Span // its root's parts
	span  *tracepb.Span
	root  bool
}

// Begin begins a trace, with its root.
func (t *Traces) Begin(name string) *Span {
	if t == nil {
		return nil
	}
	return t.span(name, t.random(16), nil, &[]*tracepb.Span{})
}

func (t *Traces) span(name string, trace, parent []byte, parts *[]*tracepb.Span) *Span {
	return &Span{of: t, trace: parts, root: parent == nil, span: &tracepb.Span{Name: name, TraceId: trace, SpanId: t.random(8), ParentSpanId: parent,
		Kind: tracepb.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: t.instant()}}
}

// random makes an id. Where there is no randomness, the zero id makes the trace invalid.
func (t *Traces) random(n int) []byte {
	id := make([]byte, n)
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.bits.Read(id); err != nil {
		return make([]byte, n)
	}
	return id
}

func (t *Traces) instant() uint64 { return uint64(t.options.Now().UnixNano()) }

// Part begins a part of s.
func (s *Span) Part(name string) *Span {
	if s == nil {
		return nil
	}
	return s.of.span(name, s.span.TraceId, s.span.SpanId, s.trace)
}

// Say adds a word of the server's own.
func (s *Span) Say(key, word string) {
	if s != nil {
		s.span.Attributes = append(s.span.Attributes, attribute(key, word))
	}
}

func attribute(key, word string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: word}}}
}

// End ends a part; with a root the whole trace is sent.
func (s *Span) End() {
	if s == nil {
		return
	}
	s.span.EndTimeUnixNano = s.of.instant()
	*s.trace = append(*s.trace, s.span)
	if !s.root {
		return
	}
	t := s.of
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) >= t.options.Most {
		t.lost++
		return
	}
	t.waiting = append(t.waiting, *s.trace)
}

func (t *Traces) loop() {
	defer close(t.done)
	tick := time.NewTicker(t.options.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.send()
		case <-t.quit:
			t.send()
			return
		}
	}
}

// send posts what waits. What the collector does not take is lost, and counted.
func (t *Traces) send() {
	t.mu.Lock()
	waiting, lost := t.waiting, t.lost
	t.waiting, t.lost = nil, 0
	t.mu.Unlock()
	if lost > 0 {
		t.options.Log.Warn("traces were left out: more were made than are sent", "traces", lost)
	}
	if len(waiting) == 0 {
		return
	}
	scope := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "github.com/discreet-dp/discreet/serve"}}
	for _, spans := range waiting {
		scope.Spans = append(scope.Spans, spans...)
	}
	// An ExportTraceServiceRequest has the same bytes.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{attribute("service.name", "discreet")}}, ScopeSpans: []*tracepb.ScopeSpans{scope}}}})
	if err == nil {
		err = t.post(body)
	}
	if err != nil {
		t.options.Log.Warn("the collector took no traces", "traces", len(waiting), "error", err)
	}
}

func (t *Traces) post(body []byte) error {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, strings.TrimSuffix(t.options.Endpoint, "/")+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := t.client.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it says %s", answer.Status)
	}
	return nil
}
