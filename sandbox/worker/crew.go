package worker

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/identity"
	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Member is a worker as its coordinator knows it.
type Member struct {
	Address string // host:port
	Key     string // the digest of its public key
}

// Options say with whom a Crew works.
type Options struct {
	Members []Member
	// Identity is the coordinator's own key, which the workers were told of.
	Identity tls.Certificate
	// Log is told which workers were lost. What is private is in none of its lines.
	Log *slog.Logger
	// Patience is how long a worker may take for one instruction of fuel that the calls of a request
	// may run, times a million, beyond half a minute; 20 ms if 0. One that takes longer is done
	// without.
	Patience time.Duration
}

// least is what a request may always take.
const least = 30 * time.Second

// mostSlots bounds what a worker says of how much it does at once.
const mostSlots = 256

// A Crew makes calls by workers. It is safe for concurrent use.
type Crew struct {
	options Options
	mapper  *sandbox.Mapper // the coordinator's own
	id      string
	text    []byte

	free chan *hand
	none chan struct{} // is closed when no worker is left

	mu    sync.Mutex
	left  int
	slots int
}

// A hand is a worker that is asked.
type hand struct {
	Member
	client *http.Client

	mu   sync.Mutex
	lost bool
}

// An Unready error says of which worker nothing could be asked, before anything was.
type Unready struct {
	Address string
	Err     error
}

func (e *Unready) Error() string { return fmt.Sprintf("worker %s: %v", e.Address, e.Err) }

// Unwrap returns the reason.
func (e *Unready) Unwrap() error { return e.Err }

// Gather sends a job to all workers, and returns an *Unready error of one that cannot take it. Mapper
// is the job's, which makes calls if all workers are lost.
func Gather(ctx context.Context, mapper *sandbox.Mapper, j Job, o Options) (*Crew, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("write job: %w", err)
	}
	c := &Crew{options: o, mapper: mapper, id: id(text), text: text, none: make(chan struct{}), left: len(o.Members)}
	var hands []*hand
	for _, m := range o.Members {
		transport := &http.Transport{TLSClientConfig: identity.Client(o.Identity, m.Key), MaxIdleConnsPerHost: mostSlots, TLSHandshakeTimeout: least, Proxy: nil}
		h := &hand{Member: m, client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
		slots, err := c.introduce(ctx, h)
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, &Unready{m.Address, err}
		}
		for range slots {
			hands = append(hands, h)
		}
	}
	c.slots, c.free = len(hands), make(chan *hand, len(hands))
	for _, h := range hands {
		c.free <- h
	}
	if c.left == 0 {
		close(c.none)
	}
	return c, nil
}

// Slots is how many calls of Map are served at once.
func (c *Crew) Slots() int { return c.slots }

// Close ends the connections.
func (c *Crew) Close() {
	for range c.slots {
		select {
		case h := <-c.free:
			h.client.CloseIdleConnections()
		default:
		}
	}
}

// introduce sends the job.
func (c *Crew) introduce(ctx context.Context, h *hand) (slots int, err error) {
	ctx, cancel := context.WithTimeout(ctx, least)
	defer cancel()
	status, data, err := h.ask(ctx, http.MethodPut, "/v1/jobs/"+c.id, c.text, 1<<16)
	if err != nil {
		return 0, err
	}
	var a accepted
	switch {
	case status != http.StatusOK:
		return 0, fmt.Errorf("it does not take the module: %s", http.StatusText(status))
	case json.Unmarshal(data, &a) != nil || a.Slots < 1:
		return 0, errors.New("it is no worker")
	}
	return min(a.Slots, mostSlots), nil
}

// ask sends a request, whose answer may have so many bytes.
func (h *hand) ask(ctx context.Context, method, path string, body []byte, most int64) (status int, data []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, "https://"+h.Address+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := h.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	data, err = io.ReadAll(io.LimitReader(response.Body, most+1))
	if err == nil && int64(len(data)) > most {
		err = errAnswer
	}
	return response.StatusCode, data, err
}

// Map returns what the job's module makes of calls, each call's records in one slice.
func (c *Crew) Map(ctx context.Context, calls [][][]sqltype.Value) ([][]sandbox.Output, error) {
	all := make([][]sandbox.Output, len(calls))
	var places []int // of the calls in the request
	var request []byte
	send := func() error {
		if len(places) == 0 {
			return nil
		}
		made, err := c.request(ctx, request, len(places))
		if err != nil {
			return err
		}
		for i, place := range places {
			all[place] = made[i]
		}
		places, request = nil, nil
		return nil
	}
	for i, records := range calls {
		w, fits, err := c.mapper.Write(records)
		if err != nil {
			return nil, err
		}
		if !fits {
			all[i] = c.mapper.Failed()
			continue
		}
		places, request = append(places, i), appendCall(request, w)
		if len(request) >= requestBytes {
			if err := send(); err != nil {
				return nil, err
			}
		}
	}
	return all, send()
}

// request has calls made by any worker. One that fails is done without from then on, whatever the
// reason, and its calls are made by another.
func (c *Crew) request(ctx context.Context, request []byte, calls int) ([][]sandbox.Output, error) {
	for {
		h, err := c.take(ctx)
		if err != nil {
			return nil, err
		}
		if h == nil {
			return c.alone(ctx, request)
		}
		made, err := c.by(ctx, h, request, calls)
		if err == nil {
			c.free <- h
			return made, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.lose(h, err)
	}
}

// take returns a worker that has a slot, or nil where none is left.
func (c *Crew) take(ctx context.Context) (*hand, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.none:
			return nil, nil
		case h := <-c.free:
			h.mu.Lock()
			lost := h.lost
			h.mu.Unlock()
			if !lost {
				return h, nil
			}
		}
	}
}

// lose does without a worker.
func (c *Crew) lose(h *hand, err error) {
	h.mu.Lock()
	before := h.lost
	h.lost = true
	h.mu.Unlock()
	if before {
		return
	}
	h.client.CloseIdleConnections()
	c.mu.Lock()
	c.left--
	left := c.left
	c.mu.Unlock()
	if c.options.Log != nil {
		c.options.Log.Warn("worker lost", "address", h.Address, "left", left, "cause", err)
	}
	if left == 0 {
		close(c.none)
	}
}

// by has one worker make calls. One that was started anew has forgotten the job.
func (c *Crew) by(ctx context.Context, h *hand, request []byte, calls int) ([][]sandbox.Output, error) {
	o := c.mapper.Options()
	patience := cmp.Or(c.options.Patience, 20*time.Millisecond)
	work := time.Duration(min(int64(calls)*(o.Fuel/1_000_000+1), int64(24*time.Hour/patience)))
	ctx, cancel := context.WithTimeout(ctx, least+work*patience)
	defer cancel()
	for again := false; ; again = true {
		status, data, err := h.ask(ctx, http.MethodPost, "/v1/jobs/"+c.id+"/calls", request, most(calls, o))
		switch {
		case err != nil:
			return nil, err
		case status == http.StatusOK:
			return readOutputs(data, calls, c.mapper)
		case status != http.StatusNotFound || again:
			return nil, errors.New(http.StatusText(status))
		}
		if _, err := c.introduce(ctx, h); err != nil {
			return nil, err
		}
	}
}

// alone makes calls here.
func (c *Crew) alone(ctx context.Context, request []byte) (all [][]sandbox.Output, err error) {
	calls, err := readCalls(request)
	if err != nil {
		return nil, err
	}
	for _, w := range calls {
		out, err := c.mapper.MapWritten(ctx, w)
		if err != nil {
			return nil, err
		}
		all = append(all, out)
	}
	return all, nil
}
