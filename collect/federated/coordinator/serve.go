package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
)

// Config is what a coordinator's owner declares.
type Config struct {
	Askers []string `json:"askers"` // who may propose runs
	// Aggregators are those of its peers that are no nodes.
	Aggregators []string `json:"aggregators,omitempty"`
	// Test is a CSV file of public examples, read by Encoding.
	Test     string            `json:"test,omitempty"`
	Encoding *example.Encoding `json:"encoding,omitempty"`
}

// Role is the process of a coordinator in a cluster. Its peers are the nodes.
func Role(ctx context.Context, s *cluster.Station) error {
	var config Config
	if err := s.Decode(&config); err != nil {
		return err
	}
	o := Options{Dir: s.Dir, Peers: map[string]Peer{}, Bits: noise.Shared(noise.System()), Now: s.Now, Log: s.Log}
	for name := range s.Peers {
		if !slices.Contains(config.Aggregators, name) {
			o.Peers[name] = remote{s, name}
		}
	}
	if len(config.Aggregators) > 0 {
		o.Aggregators = stationed{s, config.Aggregators}
	}
	if config.Test != "" {
		var err error
		if o.Test, err = example.CSV(ctx, config.Test, config.Encoding, "", example.Selection{}); err != nil {
			return err
		}
	}
	c, err := New(ctx, o)
	if err != nil {
		return err
	}
	err = s.Serve(ctx, cluster.Only(c.Handler(), config.Askers...))
	c.Wait()
	return err
}

// maxBody bounds a proposal.
const maxBody = 64 << 20

// Handler answers those who may propose runs.
func (c *Coordinator) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /runs", func(w http.ResponseWriter, r *http.Request) {
		var p Proposal
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		d.DisallowUnknownFields()
		if err := d.Decode(&p); err != nil {
			cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "the body is not a proposal")
			return
		}
		g, err := c.Propose(cluster.Caller(r), p)
		reply(w, g, err)
	})
	m.HandleFunc("GET /runs/{id}", func(w http.ResponseWriter, r *http.Request) {
		g, err := c.Progress(cluster.Caller(r), r.PathValue("id"))
		reply(w, g, err)
	})
	m.HandleFunc("POST /runs/{id}/begin", func(w http.ResponseWriter, r *http.Request) {
		g, err := c.Begin(cluster.Caller(r), r.PathValue("id"))
		reply(w, g, err)
	})
	m.HandleFunc("GET /runs/{id}/model", func(w http.ResponseWriter, r *http.Request) {
		data, err := c.Model(cluster.Caller(r), r.PathValue("id"))
		if err != nil {
			reply(w, nil, err)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(data) //nolint:errcheck // the caller has gone
	})
	m.HandleFunc("GET /nodes", func(w http.ResponseWriter, r *http.Request) {
		all := map[string]any{}
		for name, peer := range c.options.Peers {
			if d, err := peer.Describe(r.Context()); err == nil {
				all[name] = d
			} else {
				all[name] = nil
			}
		}
		reply(w, all, nil)
	})
	return m
}

func reply(w http.ResponseWriter, v any, err error) {
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller has gone
		return
	}
	known := []struct {
		err    error
		status int
		kind   string
	}{
		{ErrProposal, http.StatusUnprocessableEntity, "badProposal"},
		{ErrOther, http.StatusConflict, "otherProposal"},
		{ErrUnknown, http.StatusNotFound, "unknownRun"},
		{ErrEarly, http.StatusConflict, "runNotFinished"},
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			cluster.Refuse(w, k.status, k.kind, err.Error())
			return
		}
	}
	cluster.Refuse(w, http.StatusInternalServerError, "failed", "the coordinator failed; its log says more")
}
