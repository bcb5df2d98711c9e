package node

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
)

// Run is the process of a node, until the context ends.
func Run(ctx context.Context, s *cluster.Station, c Config) error {
	books, err := OpenBooks(ctx, s.Dir, c, s.Now)
	if err != nil {
		return err
	}
	h, err := NewHolder(ctx, s.Name(), books, noise.System())
	if err == nil {
		h.Aggregators = &stationed{station: s, clients: map[string]*process.Client{}}
		err = s.Serve(ctx, h.Handler())
	}
	return errors.Join(err, books.Close())
}

// A Description is what anybody in the federation may know of data.
type Description struct {
	Name     string         `json:"name"`
	Width    int            `json:"width"`
	Classes  int            `json:"classes"`
	Units    int64          `json:"units"` // declared
	Protects federated.Unit `json:"protects"`
	// Encoding says how records become examples; nil of images.
	Encoding *example.Encoding `json:"encoding,omitempty"`
}

// maxBody bounds a request.
const maxBody = 64 << 20

// Handler answers the members of the federation.
func (h *Holder) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /data", func(w http.ResponseWriter, _ *http.Request) {
		all := []Description{}
		for _, d := range h.config.Data {
			set := h.sets[d.Name]
			all = append(all, Description{d.Name, set.Width, set.Classes, d.Units, d.Protects, d.Encoding})
		}
		reply(w, all, nil)
	})
	m.HandleFunc("POST /requests", func(w http.ResponseWriter, r *http.Request) {
		var q Request
		if !read(w, r, &q) {
			return
		}
		s, err := h.Ask(r.Context(), cluster.Caller(r), q)
		reply(w, s, err)
	})
	m.HandleFunc("GET /requests/{id}", func(w http.ResponseWriter, r *http.Request) {
		s, err := h.Status(r.Context(), cluster.Caller(r), r.PathValue("id"))
		reply(w, s, err)
	})
	m.HandleFunc("POST /requests/{id}/round", func(w http.ResponseWriter, r *http.Request) {
		var q RoundRequest
		if !read(w, r, &q) {
			return
		}
		// Who gave up waiting has it all the same when it asks again.
		u, err := h.Round(context.WithoutCancel(r.Context()), cluster.Caller(r), r.PathValue("id"), q)
		reply(w, u, err)
	})
	m.HandleFunc("POST /requests/{id}/answer", func(w http.ResponseWriter, r *http.Request) {
		a, err := h.Answer(context.WithoutCancel(r.Context()), cluster.Caller(r), r.PathValue("id"))
		reply(w, a, err)
	})
	return m
}

func read(w http.ResponseWriter, r *http.Request, to any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "the body is not of the form that this asks for")
		return false
	}
	return true
}

// kinds are the refusals, by their names on the wire.
var kinds = []struct {
	err    error
	status int
	kind   string
}{
	{ErrRequest, http.StatusUnprocessableEntity, "badRequest"},
	{ErrUnknown, http.StatusNotFound, "unknownRequest"},
	{ErrOther, http.StatusConflict, "otherRequest"},
	{ErrWaits, http.StatusConflict, "requestPending"},
	{ErrDenied, http.StatusForbidden, "requestDenied"},
	{ErrRefused, http.StatusForbidden, "budgetExceeded"},
	{ErrAnswered, http.StatusConflict, "roundAnswered"},
	{ErrMayNot, http.StatusConflict, "participationsUsed"},
	{ErrGone, http.StatusGone, "releaseGone"},
	{ErrLimit, http.StatusTooManyRequests, "limitReached"},
	{ErrOver, http.StatusConflict, "roundOver"},
	{errAway, http.StatusServiceUnavailable, "aggregatorsAway"},
}

func reply(w http.ResponseWriter, v any, err error) {
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller has gone
		return
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			cluster.Refuse(w, k.status, k.kind, err.Error())
			return
		}
	}
	cluster.Refuse(w, http.StatusInternalServerError, "failed", "the node failed; its log says more to its owner")
}
