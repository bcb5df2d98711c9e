package worker

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/identity"
	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sandbox/internal/wasmtest"
	"github.com/discreet-dp/discreet/sqltype"
)

// hostile is a module that remembers what it can, and fails at some records: it traps at 1, never
// ends at 2, answers too much at 3, NaN at 4, and a key that is none at 5. Of others it makes the
// number, and more if it remembers anything.
func hostile() []byte {
	at := func(n int, code string) string {
		return fmt.Sprintf(" i32.const 64 i64.load i64.const %d i64.sub i64.eqz if %s end ", n, code)
	}
	code := at(1, "unreachable") + at(2, "loop br 0 end") + at(3, "i32.const 2056 i32.const 1 i32.store i32.const 2048 f64.const 1e9 f64.store") +
		at(4, "i32.const 0 i64.extend_i32_u drop") +
		" i32.const 2048 i32.const 64 i64.load global.get 0 i64.add f64.convert_i64_s f64.store" +
		at(4, "i32.const 2048 f64.const NaN f64.store") + at(5, "i32.const 2056 i32.const 99 i32.store") +
		" i64.const 1000 global.set 0 i32.const 1 "
	m := wasmtest.Module{
		Pages: 1, Max: 1,
		Funcs: []wasmtest.Func{
			{Export: "discreet_buffers", Results: "i32", Code: "i32.const 0"},
			{Export: "discreet_map", Params: "i32", Results: "i32", Locals: "i32 i64 f64", Code: code},
		},
		Globals: []int64{0},
		Data:    []wasmtest.Data{{At: 0, Bytes: []byte("\x40\x00\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x04\x00\x00\x00")}},
	}
	return m.Bytes()
}

func job() Job {
	return Job{hostile(), sandbox.Options{
		Columns: []sandbox.Column{{Name: "number", Type: sqltype.Of(sqltype.Bigint)}, {Name: "text", Type: sqltype.Of(sqltype.Text)}},
		Keys:    []string{"a", "b"}, Lower: 0, Upper: 1000, Default: []sandbox.Output{{Key: "b", Value: 500}}, Fuel: 10_000,
	}}
}

func load(t testing.TB, j Job) *sandbox.Mapper {
	t.Helper()
	m, err := sandbox.Load(t.Context(), j.Module, j.Options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(context.Background()) })
	return m
}

// calls are some of all kinds, one of which does not fit the module's buffer.
func calls(n int) (all [][][]sqltype.Value) {
	for i := range n {
		records := [][]sqltype.Value{{int64(i % 50), strings.Repeat("ä", i%7)}}
		for range i % 3 {
			records = append(records, []sqltype.Value{int64(i % 11), nil})
		}
		if i%97 == 13 {
			records[0][1] = strings.Repeat("x", 2000)
		}
		all = append(all, records)
	}
	return all
}

// here is what the mapper makes of calls.
func here(t testing.TB, m *sandbox.Mapper, all [][][]sqltype.Value) (out [][]sandbox.Output) {
	t.Helper()
	for _, c := range all {
		o, err := m.MapUnit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

// bits shows outputs to the last bit; none and an empty list are the same.
func bits(all [][]sandbox.Output) (out []string) {
	for _, outputs := range all {
		text := ""
		for _, o := range outputs {
			text += fmt.Sprintf("%s=%x ", o.Key, math.Float64bits(o.Value))
		}
		out = append(out, text)
	}
	return out
}

// A keyring makes keys.
type keyring struct{ dir string }

func (k keyring) pair(t testing.TB, name string) (tls.Certificate, string) {
	t.Helper()
	path := filepath.Join(k.dir, name+".pem")
	if _, err := os.Stat(path); err != nil {
		text, err := identity.New(name, time.Now())
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pair, digest, err := identity.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return pair, digest
}

// A machine is a worker that can be killed.
type machine struct {
	Member
	server *http.Server
	seen   atomic.Int64 // requests for calls
}

// start starts a machine whose handler a test may wrap. It knows the caller "olga" alone.
func (k keyring) start(t testing.TB, name string, wrap func(m *machine, h http.Handler) http.Handler) *machine {
	t.Helper()
	pair, digest := k.pair(t, name)
	_, olga := k.pair(t, "olga")
	w := New(slog.New(slog.DiscardHandler))
	m := &machine{}
	h := w.Handler()
	if wrap != nil {
		h = wrap(m, h)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Member = Member{l.Addr().String(), digest}
	m.server = &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	ended := make(chan struct{})
	go func() {
		m.server.Serve(tls.NewListener(l, identity.Server(pair, func(d string) bool { return d == olga })))
		close(ended)
	}()
	t.Cleanup(func() {
		m.server.Close()
		<-ended
		w.Close(context.Background())
	})
	return m
}

func (k keyring) gather(t testing.TB, m *sandbox.Mapper, j Job, members ...*machine) *Crew {
	t.Helper()
	pair, _ := k.pair(t, "olga")
	o := Options{Identity: pair}
	for _, m := range members {
		o.Members = append(o.Members, m.Member)
	}
	c, err := Gather(t.Context(), m, j, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// by has a crew make calls, several portions at once.
func by(t testing.TB, c *Crew, all [][][]sqltype.Value, portion int) [][]sandbox.Output {
	t.Helper()
	out := make([][]sandbox.Output, len(all))
	var turns sync.WaitGroup
	for from := 0; from < len(all); from += portion {
		turns.Go(func() {
			to := min(from+portion, len(all))
			made, err := c.Map(t.Context(), all[from:to])
			if err != nil {
				t.Error(err)
				return
			}
			copy(out[from:to], made)
		})
	}
	turns.Wait()
	return out
}

// Theorem (package worker): whatever workers do to be lost, and whenever, calls make the same to the
// last bit. Each of three workers dies at a random request, before it makes the calls or after it
// made them, in the middle of its answer; sometimes all do.
func TestWorkersAreKilled(t *testing.T) {
	k := keyring{t.TempDir()}
	j := job()
	m := load(t, j)
	all := calls(600)
	want := bits(here(t, m, all))
	random := rand.New(rand.NewPCG(1, 2))
	died := 0
	for range 12 {
		var members []*machine
		for i := range 3 {
			at, how := int64(1+random.IntN(20)), random.IntN(3)
			members = append(members, k.start(t, fmt.Sprint("w", i), func(m *machine, h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost || m.seen.Add(1) < at {
						h.ServeHTTP(w, r)
						return
					}
					switch how {
					case 1: // its calls are made, and nobody learns of it
						h.ServeHTTP(nowhere{http.Header{}}, r)
					case 2:
						w.Header().Set("Content-Length", "100000")
						w.Write([]byte{1, 0, 0, 0})
						w.(http.Flusher).Flush()
					}
					m.server.Close()
				})
			}))
		}
		c := k.gather(t, m, j, members...)
		if got := bits(by(t, c, all, 1+random.IntN(60))); !reflect.DeepEqual(got, want) {
			t.Fatalf("the calls made other outputs")
		}
		died += len(members) - c.left
	}
	if died < 6 {
		t.Errorf("%d workers died", died)
	}
}

type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// What no honest worker answers is taken from nobody, and who answers it is done without.
func TestWorkersLie(t *testing.T) {
	k := keyring{t.TempDir()}
	j := job()
	m := load(t, j)
	all := calls(100)
	want := bits(here(t, m, all))
	answer := func(n int, f func(i int) []sandbox.Output) (data []byte) {
		for i := range n {
			data = appendOutputs(data, j.Options.Keys, f(i))
		}
		return data
	}
	one := func(v float64) func(int) []sandbox.Output {
		return func(int) []sandbox.Output { return []sandbox.Output{{Key: "a", Value: v}} }
	}
	honest := answer(10, one(1))
	strange := append([]byte{}, honest...)
	binary.LittleEndian.PutUint32(strange[12:], 7)
	for name, lie := range map[string][]byte{
		"nothing": {}, "garbage": []byte("garbage, and more of it"), "too few": answer(9, one(1)), "too many": answer(11, one(1)), "all twice": append(append([]byte{}, honest...), honest...),
		"above the range": answer(10, one(1001)), "below it": answer(10, one(-1)), "NaN": answer(10, one(math.NaN())), "infinite": answer(10, one(math.Inf(1))),
		"a key that is none": strange, "more outputs than a call has": answer(10, func(int) []sandbox.Output { return []sandbox.Output{{Key: "a"}, {Key: "a"}} }),
		"a number without outputs": binary.LittleEndian.AppendUint32(nil, math.MaxUint32), "endless": make([]byte, 10<<20),
	} {
		liar := k.start(t, "liar", func(m *machine, h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					w.Write(lie)
					return
				}
				h.ServeHTTP(w, r)
			})
		})
		c := k.gather(t, m, j, liar)
		if got := bits(by(t, c, all, 10)); !reflect.DeepEqual(got, want) || c.left != 0 {
			t.Errorf("%s: left %d, taken %v", name, c.left, !reflect.DeepEqual(got, want))
		}
	}
	if _, err := readOutputs(honest, 10, m); err != nil {
		t.Errorf("an honest answer: %v", err)
	}
}

// A worker that was started anew is told of the job again; one that hangs is done without; a caller
// who gives up waits for nobody.
func TestWorkersComeBackAndHang(t *testing.T) {
	k := keyring{t.TempDir()}
	j := job()
	m := load(t, j)
	all := calls(100)
	want := bits(here(t, m, all))
	forgetful := k.start(t, "forgetful", func(m *machine, h http.Handler) http.Handler {
		first := h
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && m.seen.Add(1) == 1 {
				first = New(slog.New(slog.DiscardHandler)).Handler()
			}
			first.ServeHTTP(w, r)
		})
	})
	c := k.gather(t, m, j, forgetful)
	if got := bits(by(t, c, all, 100)); !reflect.DeepEqual(got, want) || c.left != 1 {
		t.Errorf("one that forgot: left %d", c.left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hanging := k.start(t, "hanging", func(m *machine, h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				cancel()
				<-r.Context().Done()
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	if _, err := k.gather(t, m, j, hanging).Map(ctx, all); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// Before anything is asked, a worker that is not there, is another, is told of another caller, or cannot
// load the module is named.
func TestUnready(t *testing.T) {
	k := keyring{t.TempDir()}
	j := job()
	m := load(t, j)
	w := k.start(t, "w", nil)
	pair, _ := k.pair(t, "olga")
	eve, other := k.pair(t, "eve")
	for name, x := range map[string]struct {
		Member
		as  tls.Certificate
		job Job
	}{
		"not there":      {Member{"127.0.0.1:1", w.Key}, pair, j},
		"another key":    {Member{w.Address, other}, pair, j},
		"another caller": {w.Member, eve, j},
		"no module":      {w.Member, pair, Job{[]byte("no"), j.Options}},
	} {
		_, err := Gather(t.Context(), m, x.job, Options{Members: []Member{x.Member}, Identity: x.as})
		var u *Unready
		if !errors.As(err, &u) || u.Address != x.Address {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is sent to a worker by hand: a job under another's name, fields of a later version, calls that
// are none, jobs beyond those that are kept.
func TestHandler(t *testing.T) {
	w := New(slog.New(slog.DiscardHandler))
	defer w.Close(context.Background())
	h := w.Handler()
	ask := func(method, path string, body []byte) int {
		r, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		seen := &status{nowhere: nowhere{http.Header{}}, code: http.StatusOK}
		h.ServeHTTP(seen, r)
		return seen.code
	}
	text := func(j Job) []byte {
		b, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := text(job())
	path := "/v1/jobs/" + id(first)
	later := append([]byte(`{"Later":1,`), first[1:]...)
	good := appendCall(nil, sandbox.Written{Records: 1, Data: make([]byte, 32)})
	for _, x := range []struct {
		name, method, path string
		body               []byte
		want               int
	}{
		{"calls of a job that is not known", "POST", path + "/calls", good, 404},
		{"a job under another name", "PUT", "/v1/jobs/" + id([]byte("x")), first, 400},
		{"a later version", "PUT", "/v1/jobs/" + id(later), later, 422},
		{"the job", "PUT", path, first, 200},
		{"the job again", "PUT", path, first, 200},
		{"calls", "POST", path + "/calls", good, 200},
		{"half a call", "POST", path + "/calls", good[:20], 400},
		{"more records than bytes", "POST", path + "/calls", appendCall(nil, sandbox.Written{Records: 9, Data: make([]byte, 32)}), 503},
		{"more bytes than there is room", "POST", path + "/calls", appendCall(nil, sandbox.Written{Records: 1, Data: make([]byte, 4096)}), 503},
		{"more than a request has", "POST", path + "/calls", make([]byte, 2<<20), 400},
	} {
		if got := ask(x.method, x.path, x.body); got != x.want {
			t.Errorf("%s: %d, want %d", x.name, got, x.want)
		}
	}
	for n := range mostJobs {
		j := job()
		j.Options.Upper = float64(2000 + n)
		if got := ask("PUT", "/v1/jobs/"+id(text(j)), text(j)); got != 200 {
			t.Errorf("job %d: %d", n, got)
		}
	}
	if got := ask("POST", path+"/calls", good); got != 404 {
		t.Errorf("the oldest job is still known: %d", got)
	}
}

type status struct {
	nowhere
	code int
}

func (s *status) WriteHeader(code int) { s.code = code }
