// Package serve is the server as a process: its configuration, the ports that it opens, and its
// end. Requests come in through its doors (postgres, rest, mcp, web), and its gateway answers them.
//
// It guarantees that nothing but this machine reaches a port without TLS; that the ready
// file appears when all doors answer; and that an interrupt lets what runs end, within a
// bound.
//
// It does not guarantee anything against those who control the machine.
package serve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/serve/internal/hosts"
	"github.com/discreet-dp/discreet/serve/internal/sparing"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A Door serves a protocol on a listener until the context ends, and then lets what runs
// end. It closes the listener.
type Door interface {
	Serve(context.Context, net.Listener) error
}

// Options are what a server is made of.
type Options struct {
	Config   Config
	Ports    Ports
	Postgres func(*tls.Config) (Door, error)
	HTTP     http.Handler
	// Metrics are served to those whom MaySeeMetrics lets.
	Metrics       *Metrics
	MaySeeMetrics func(*http.Request) bool
	// Ready reports what keeps the server from answering; nil if nothing does.
	Ready func(context.Context) error
	// ReadyFile is written when both doors answer; empty: none.
	ReadyFile string
	// Started is called then, too.
	Started func(Addresses)
	Now     func() time.Time // the machine's clock
	Reload  <-chan os.Signal // reads the certificate again, and calls Again
	// Again reads again what else can change while statements are answered; nil: nothing can.
	// It reports its failures itself, and leaves what is served as it was.
	Again func(context.Context)
	Log   *slog.Logger

	leaving *atomic.Bool // /readyz says that the server ends
}

// Addresses are where the doors are. They are the ready file's JSON.
type Addresses struct {
	Postgres string `json:"postgres"`
	HTTP     string `json:"http"`
	PID      int    `json:"pid"`
}

// Ports are the listeners of the doors.
type Ports struct{ Postgres, HTTP net.Listener }

// Listen opens the ports, before anything else is opened.
func Listen(ctx context.Context, c Config) (p Ports, err error) {
	if p.Postgres, err = listen(ctx, "postgres", c.Postgres); err != nil {
		return p, err
	}
	if p.HTTP, err = listen(ctx, "http", c.HTTP); err != nil {
		return p, errors.Join(err, p.Postgres.Close())
	}
	return p, nil
}

// Close closes the ports of a server that never ran.
func (p Ports) Close() error { return errors.Join(p.Postgres.Close(), p.HTTP.Close()) }

// Run serves until the context ends.
func Run(ctx context.Context, o Options) error {
	certificate, err := newCertificate(o.Config.TLS)
	if err != nil {
		return errors.Join(err, o.Ports.Close())
	}
	door, err := o.Postgres(certificate.config())
	if err != nil {
		return errors.Join(err, o.Ports.Close())
	}
	o.leaving = new(atomic.Bool)
	ends := ctx
	ctx, stop := context.WithCancel(context.WithoutCancel(ends)) // the doors are open while it leaves
	defer stop()
	s := &http.Server{
		Handler: o.handler(), TLSConfig: certificate.config(),
		// Strangers hold connections, too: none is kept long that sends nothing.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: min(time.Minute, time.Duration(o.Config.Limits.Idle)), MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(lines{o.Log, &sparing.Lines{Now: o.Now, Minute: 60}}, "", 0),
	}
	watch(s)
	failed := make(chan error, 2)
	var doors sync.WaitGroup
	doors.Go(func() {
		if err := door.Serve(ctx, o.Ports.Postgres); err != nil {
			failed <- fmt.Errorf("serve postgres: %w", err)
		}
	})
	doors.Go(func() {
		serve := s.Serve
		if certificate != nil {
			serve = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
		}
		if err := serve(share(o.Ports.HTTP, o.Config.Limits.Connections)); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve http: %w", err)
		}
	})
	at := Addresses{o.Ports.Postgres.Addr().String(), o.Ports.HTTP.Addr().String(), os.Getpid()}
	if err = announce(o.ReadyFile, at); err == nil {
		o.Log.Info("listening", "postgres", at.Postgres, "http", at.HTTP, "tls", certificate != nil)
		if o.Started != nil {
			o.Started(at)
		}
		err = wait(ends, o, certificate, failed)
	}
	if err == nil {
		o.leave()
	}
	stop()
	o.Log.Info("stopping")
	draining, done := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(o.Config.Drain))
	defer done()
	if e := s.Shutdown(draining); e != nil {
		err = errors.Join(err, s.Close())
	}
	doors.Wait()
	if o.ReadyFile != "" {
		err = errors.Join(err, os.Remove(o.ReadyFile))
	}
	return err
}

// leave lets load balancers see that the server ends, while it still answers.
func (o *Options) leave() {
	o.leaving.Store(true)
	if wait := time.Duration(o.Config.Leave); wait > 0 {
		o.Log.Info("leaving", "for", wait.String())
		<-time.After(wait)
	}
}

// wait returns when the server is to end, or a door has failed.
func wait(ctx context.Context, o Options, c *certificate, failed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-o.Reload:
			if err := c.read(); err != nil {
				o.Log.Error("the certificate was not read again; the one before serves on", "error", err)
			} else if c != nil {
				o.Log.Info("read the certificate again")
			}
			if o.Again != nil {
				o.Again(ctx)
			}
		}
	}
}

func listen(ctx context.Context, door, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, diagnostic.New("D217", diagnostic.Span{}, "%s cannot listen on %s: %v", door, address, err).
			Try("another server may use the port: choose one with --%s, 127.0.0.1:0 takes a free one", door)
	}
	return l, nil
}

// announce writes the ready file in one step: who finds it finds it whole.
func announce(path string, at Addresses) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := custody.Write(path+".new", append(text, '\n')); err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	return nil
}

// handler adds to what HTTP asks what operators ask: whether the process lives, whether it
// can answer, and what it does.
func (o Options) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", o.HTTP)
	for path, h := range o.routes() {
		mux.HandleFunc(path, o.named(h))
	}
	return mux
}

// Routes are what the server answers beside its doors, as patterns of http.ServeMux, for who
// looks at all of it.
func Routes() []string {
	return slices.Sorted(maps.Keys(Options{Metrics: &Metrics{}}.routes()))
}

// named answers under the server's names alone.
func (o Options) named(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// Probes by address, and old ones that send no name, are answered: a page of another
		// site always sends the name that it is under.
		if err := hosts.Check(r, o.Config.Hosts); err != nil && r.Host != "" {
			p := problem.Of(err)
			http.Error(w, p.Message, p.Status)
			return
		}
		h(w, r)
	}
}

func (o Options) routes() map[string]http.HandlerFunc {
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		fmt.Fprintln(w, text)
	}
	all := map[string]http.HandlerFunc{
		"GET /healthz": func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") },
		"GET /readyz": func(w http.ResponseWriter, r *http.Request) {
			if o.leaving != nil && o.leaving.Load() || o.Ready != nil && o.Ready(r.Context()) != nil { // why is the owner's to know
				say(w, http.StatusServiceUnavailable, "not ready")
				return
			}
			say(w, http.StatusOK, "ready")
		},
	}
	if o.Metrics != nil {
		all["GET /metrics"] = o.Metrics.handler(o.MaySeeMetrics)
	}
	return all
}

// lines writes what net/http complains of to a structured log.
type lines struct {
	log *slog.Logger
	few *sparing.Lines // strangers cause them
}

func (l lines) Write(p []byte) (int, error) {
	if may, left := l.few.Write(); may {
		l.log.Warn("http", "problem", string(p), "not_logged", left)
	}
	return len(p), nil
}
