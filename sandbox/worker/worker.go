// Package worker runs a mapper's calls on other machines: a coordinator hands out written calls
// (sandbox.Written), workers make them, and the coordinator takes what they make.
//
// It guarantees that what a Crew makes of calls is, bit for bit, what the coordinator's own mapper
// would make of them, however the calls were divided and whichever workers were lost on the way, as
// long as the workers are honest: each call is a function of module, options and records alone, so
// that one which is made again is made the same, and of each call exactly one answer is taken. With
// no worker left the coordinator makes them itself.
//
// Both ends of a connection hold keys that the other was told (package identity). A worker sees
// records, and what one of its answers is cannot be known without making the call again. So workers
// are in the owner's camp. What is checked of one is the form of its answers (one for each call,
// not too many outputs, in the range, under declared keys), so that one which is broken is noticed,
// and is done without.
//
// It does not guarantee that a worker is honest, nor how long an answer takes, which depends on the
// records as it does on one machine.
package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/sandbox"
)

// A Job is what all calls of one mapping have in common.
type Job struct {
	Module  []byte
	Options sandbox.Options
}

// id names a job by its text.
func id(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxJob bounds the text of a job: the module in base64, and its options.
const maxJob = sandbox.MaxModule/3*4 + 8<<20

// mostJobs are kept loaded. Of another one the oldest is forgotten; who goes on with it sends it again.
const mostJobs = 4

// A Worker makes calls for coordinators.
type Worker struct {
	log *slog.Logger

	mu   sync.Mutex
	jobs []*loaded // the oldest first
}

type loaded struct {
	id     string
	mapper *sandbox.Mapper
}

// New returns a worker, which tells its owner's log of failures.
func New(log *slog.Logger) *Worker { return &Worker{log: log} }

// Close frees what is loaded, once the calls that run have ended.
func (w *Worker) Close(ctx context.Context) (err error) {
	w.mu.Lock()
	jobs := w.jobs
	w.jobs = nil
	w.mu.Unlock()
	for _, j := range jobs {
		err = errors.Join(err, j.mapper.Close(ctx))
	}
	return err
}

// An accepted job says how many requests a worker serves at once.
type accepted struct {
	Slots int `json:"slots"`
}

// Handler answers coordinators. Who they are was settled when the connection was made.
//
//	PUT  /v1/jobs/ID        the job's text, whose digest ID is; answers with what was accepted
//	POST /v1/jobs/ID/calls  written calls; answers with their outputs, or 404 where the job is unknown
func (w *Worker) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /v1/jobs/{id}", w.accept)
	mux.HandleFunc("POST /v1/jobs/{id}/calls", w.calls)
	return mux
}

func (w *Worker) accept(rw http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxJob))
	name := r.PathValue("id")
	if err != nil || id(text) != name {
		http.Error(rw, "the job is not that of its name", http.StatusBadRequest)
		return
	}
	if w.find(name) == nil {
		if err := w.load(r.Context(), name, text); err != nil {
			w.log.Error("job not loaded", "cause", err)
			http.Error(rw, "the job cannot be loaded", http.StatusUnprocessableEntity)
			return
		}
	}
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(accepted{runtime.GOMAXPROCS(0)}) //nolint:errcheck // the other side asks again
}

func (w *Worker) find(name string) *sandbox.Mapper {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.IndexFunc(w.jobs, func(j *loaded) bool { return j.id == name }); i >= 0 {
		return w.jobs[i].mapper
	}
	return nil
}

// load loads a job, and forgets the oldest if there are many.
func (w *Worker) load(ctx context.Context, name string, text []byte) error {
	var j Job
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // of a later version, which may mean another thing
	if err := d.Decode(&j); err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	m, err := sandbox.Load(context.WithoutCancel(ctx), j.Module, j.Options)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.jobs = append(w.jobs, &loaded{name, m})
	var old *loaded
	if len(w.jobs) > mostJobs {
		old, w.jobs = w.jobs[0], slices.Clone(w.jobs[1:])
	}
	w.mu.Unlock()
	if old != nil {
		return old.mapper.Close(context.WithoutCancel(ctx))
	}
	return nil
}

func (w *Worker) calls(rw http.ResponseWriter, r *http.Request) {
	m := w.find(r.PathValue("id"))
	if m == nil {
		http.Error(rw, "the job is not known", http.StatusNotFound)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, requestBytes+callHead+m.Room()))
	if err != nil {
		http.Error(rw, "the calls cannot be read", http.StatusBadRequest)
		return
	}
	calls, err := readCalls(data)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	var answer []byte
	for _, c := range calls {
		out, err := m.MapWritten(r.Context(), c)
		switch {
		case errors.Is(err, sandbox.ErrClosed):
			http.Error(rw, "the job is not known", http.StatusNotFound)
			return
		case err != nil:
			if r.Context().Err() == nil {
				w.log.Error("calls not made", "cause", err)
			}
			http.Error(rw, "the calls were not made", http.StatusServiceUnavailable)
			return
		}
		answer = appendOutputs(answer, m.Options().Keys, out)
	}
	rw.Header().Set("Content-Type", "application/octet-stream")
	rw.Write(answer) //nolint:errcheck // the other side asks again, or another worker
}
