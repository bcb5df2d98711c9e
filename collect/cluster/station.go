package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/internal/custody"
)

var (
	// ErrUsage is what was asked for wrongly: an unknown profile, role or setting.
	ErrUsage = errors.New("a cluster has no such thing")
	// ErrRunning says that a process of the role runs already.
	ErrRunning = errors.New("the role runs already")
	// ErrStart says that a role ended before it was ready.
	ErrStart = errors.New("the role did not start")
)

const (
	roleFile  = "role.json"
	readyFile = "ready.json"
	lockFile  = "lock"
	logFile   = "log"
)

// assignment is what roleFile holds: who a member is, and where the others are.
type assignment struct {
	Profile string            `json:"profile"`
	Name    string            `json:"name"`
	Kind    string            `json:"kind,omitempty"`
	Listen  string            `json:"listen,omitempty"`
	Peers   map[string]string `json:"peers,omitempty"`
	Config  json.RawMessage   `json:"config,omitempty"`
}

// Ready is what a role writes to its ready file when it answers.
type Ready struct {
	HTTPS string `json:"https"` // for members, with a certificate
	HTTP  string `json:"http"`  // the health page, on this machine
	PID   int    `json:"pid"`
	Role  string `json:"role"`
	Kind  string `json:"kind"`
}

// A Station is where a member stands: its folder, its keys, and whom it knows.
type Station struct {
	Dir string // its folder
	Log *slog.Logger
	Now func() time.Time

	assignment
	tls     *tls.Config
	clients map[string]*http.Client
}

// Open reads the folder of a member. It is how somebody who is no role, such as a client,
// gets its keys and the addresses of others.
func Open(folder string, now func() time.Time, log *slog.Logger) (*Station, error) {
	s := &Station{Dir: folder, Log: log, Now: now, clients: map[string]*http.Client{}}
	text, err := os.ReadFile(filepath.Join(folder, roleFile))
	if err != nil {
		return nil, fmt.Errorf("read who stands in %s: %w", folder, err)
	}
	if err := custody.Guard(filepath.Join(folder, roleFile)); err != nil {
		return nil, err
	}
	if err := decodeStrict(text, &s.assignment); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(folder, roleFile), err)
	}
	if s.tls, err = identity(folder); err != nil {
		return nil, err
	}
	for name := range s.Peers {
		own := s.tls.Clone()
		own.ServerName = name
		s.clients[name] = &http.Client{Transport: &http.Transport{TLSClientConfig: own, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return s, nil
}

// Name is the member's name.
func (s *Station) Name() string { return s.assignment.Name }

// Decode reads the member's configuration. A member that is not known is an error.
func (s *Station) Decode(to any) error { return decodeStrict(s.assignment.Config, to) }

func decodeStrict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// File is the path of a file in the member's folder.
func (s *Station) File(name string) string { return filepath.Join(s.Dir, name) }

// URL is where a peer answers a path.
func (s *Station) URL(peer, path string) string { return "https://" + s.Peers[peer] + path }

// Client speaks to one peer: with this member's certificate, and to nobody who has not the
// peer's. It panics for a name that is no peer, which is a fault of the profile.
func (s *Station) Client(peer string) *http.Client {
	c, ok := s.clients[peer]
	if !ok {
		panic("cluster: " + s.Name() + " does not know " + peer)
	}
	return c
}

// Caller is the name of the member that a request comes from, by its certificate.
func Caller(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0][0].DNSNames) != 1 {
		return ""
	}
	return r.TLS.VerifiedChains[0][0].DNSNames[0]
}

// Only passes requests of the members that are named.
func Only(h http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(names, Caller(r)) {
			Refuse(w, http.StatusForbidden, "unauthorizedCaller", "this member may not ask for this")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// A Problem is a refusal over HTTP (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%s (%d): %s", p.Type, p.Status, p.Detail) }

// Refuse answers with a problem. The detail must not depend on private data.
func Refuse(w http.ResponseWriter, status int, kind, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Problem{kind, status, detail}) //nolint:errcheck // the caller has gone
}

// maxHeader bounds what a request says of itself.
const maxHeader = 16 << 10

// grace is how long a role that ends waits for answers under way, and how long Down waits
// for a role to end.
const grace = 5 * time.Second

// Serve answers other members by h until the context ends, and says so in its ready file. The
// health page is on a port of its own: /healthz says that the role answers, nothing else.
func (s *Station) Serve(ctx context.Context, h http.Handler) (err error) {
	members, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("listen for members: %w", err)
	}
	var listening net.ListenConfig
	health, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(fmt.Errorf("listen for health checks: %w", err), members.Close())
	}
	own := s.tls.Clone()
	own.NextProtos = []string{"h2", "http/1.1"}
	quiet := slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug) // strangers who connect fill no log
	doors := []*http.Server{
		{Handler: h, TLSConfig: own, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader, ErrorLog: quiet},
		{Handler: s.health(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: maxHeader, ErrorLog: quiet},
	}
	ended := make(chan error, 2)
	go func() { ended <- doors[0].ServeTLS(members, "", "") }()
	go func() { ended <- doors[1].Serve(health) }()
	if err = s.ready(Ready{HTTPS: members.Addr().String(), HTTP: health.Addr().String(), PID: os.Getpid(), Role: s.Name(), Kind: s.Kind}); err == nil {
		s.Log.Info("ready", "https", members.Addr().String(), "http", health.Addr().String())
		select {
		case <-ctx.Done():
		case err = <-ended:
		}
	}
	// The context has ended: what is under way gets a while of its own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	for _, d := range doors {
		if d.Shutdown(last) != nil {
			d.Close() //nolint:errcheck // what did not end in time is cut off
		}
	}
	s.Log.Info("ended")
	if gone := os.Remove(s.File(readyFile)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// listen listens where the others look for the role: on what the process was given as its standard input, if
// that listens there, as in a cluster that was just made.
func (s *Station) listen(ctx context.Context) (net.Listener, error) {
	if l, err := net.FileListener(os.Stdin); err == nil { // a copy of it
		if l.Addr().String() == s.Listen {
			return l, os.Stdin.Close()
		}
		l.Close() //nolint:errcheck // it is for somebody else
	}
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", s.Listen)
	// Of a process that was killed the system frees the role's lock, and may free its port later.
	freed, stop := context.WithTimeout(ctx, grace)
	defer stop()
	for errors.Is(err, syscall.EADDRINUSE) && freed.Err() == nil {
		select {
		case <-freed.Done():
		case <-time.After(20 * time.Millisecond):
		}
		l, err = listening.Listen(ctx, "tcp", s.Listen)
	}
	return l, err
}

func (s *Station) health() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"role": s.Name(), "kind": s.Kind, "state": "ready"}) //nolint:errcheck // the caller has gone
	})
	return m
}

// ready writes the ready file, whole or not at all.
func (s *Station) ready(r Ready) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return custody.Replace(s.File(readyFile), append(text, '\n'))
}

// Run is the process of the role that stands in a folder, until the context ends.
func Run(ctx context.Context, folder string, profiles []Profile, now func() time.Time, log *slog.Logger) error {
	s, err := Open(folder, now, log)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(profiles, func(p Profile) bool { return p.Name == s.Profile })
	if i < 0 || profiles[i].Roles[s.Kind] == nil {
		return fmt.Errorf("%w: %s of profile %q is no role", ErrUsage, s.Name(), s.Profile)
	}
	lock, err := hold(s.File(lockFile))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := os.Remove(s.File(readyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.watch(ctx, lock, cancel)
	if err := profiles[i].Roles[s.Kind](ctx, s); err != nil {
		return fmt.Errorf("run %s: %w", s.Name(), err)
	}
	return nil
}

// watch ends a role whose folder was removed: nobody could find it to end it.
func (s *Station) watch(ctx context.Context, lock *os.File, end func()) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	held, err := lock.Stat()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		var now os.FileInfo
		if now, err = os.Lstat(s.File(lockFile)); err == nil && !os.SameFile(held, now) {
			err = errors.New("another file is in the place of the lock")
		}
	}
	s.Log.Error("the role's folder is gone", "error", err.Error())
	end()
}
