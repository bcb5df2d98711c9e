package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/learn/network"
)

// Limits bound what one asker may make the node keep: requests are kept for good, so that what
// was said of one is never taken for another, and so is what was released to them.
type Limits struct {
	Requests int   `json:"requests,omitempty"` // of one asker, whatever became of them; 0 is 1000
	Bytes    int64 `json:"bytes,omitempty"`    // of one asker's requests, and of all that may be released to them; 0 is 1 GiB
}

func (l Limits) requests() int {
	if l.Requests == 0 {
		return 1000
	}
	return l.Requests
}

func (l Limits) bytes() int64 {
	if l.Bytes == 0 {
		return 1 << 30
	}
	return l.Bytes
}

// ErrLimit: the asker has filed as much as the node keeps of one.
var ErrLimit = errors.New("the node keeps no more for this asker")

// kept is what the node keeps of one asker.
type kept struct {
	requests int
	bytes    int64
}

// room is how many bytes a request takes, with all that may be released to it. It depends on the
// request and on what the owner declares, so that a run that was admitted never lacks room for a round,
// and a refusal tells nothing of the data.
func (d Data) room(r Request) (int64, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	const form = 4096 // of a file, and of a query's answer
	size := int64(len(text)) + form
	p := r.Plan
	if p == nil {
		return size + int64(64*(len(r.Query.Edges)+len(r.Query.Categories))), nil
	}
	net, err := network.New(p.Network)
	if err != nil {
		return 0, err
	}
	each := int64(11)   // an integer of 8 bytes in base64
	if p.Aggregated() { // sealed shares: 16 bytes of each bit for the leader, in base64 within a file
		each = 24 * int64(p.NumberBits())
	}
	if v := p.Privacy; v != nil && v.Method == federated.FTRL && v.Place == federated.AtNodes {
		each += 26 * int64(bits.Len(uint(p.Rounds))) // a decimal of each of the tree's levels
	}
	if p.Unit == federated.Person {
		size += 6 * d.Units // whose turn it is
	}
	return size + int64(p.Rounds)*(int64(len(net.Parameters()))*each+form), nil
}

// count finds what is kept, when the node starts.
func (h *Holder) count() error {
	files, err := filepath.Glob(filepath.Join(h.dir, "requests", "*.json"))
	if err != nil {
		return err
	}
	for _, f := range files {
		asker, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".json"), ".")
		a, err := h.asked(asker, id)
		if err != nil {
			return err
		}
		d, _ := h.data(a.Status.Data)
		n, err := d.room(a.Request)
		if err != nil {
			return fmt.Errorf("request %s of %s: %w", id, asker, err)
		}
		h.kept[asker] = kept{h.kept[asker].requests + 1, h.kept[asker].bytes + n}
	}
	return nil
}

// admit makes room for a request, or refuses it. If it is not filed after all, the room is given
// back by the function that is returned.
func (h *Holder) admit(asker string, d Data, r Request) (func(), error) {
	n, err := d.room(r)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now, limits := h.kept[asker], h.config.Limits
	switch {
	case now.requests >= limits.requests():
		return nil, fmt.Errorf("%w: it has filed %d requests", ErrLimit, now.requests)
	case n > limits.bytes()-now.bytes:
		return nil, fmt.Errorf("%w: this request may take %d bytes, and %d of %d are taken", ErrLimit, n, now.bytes, limits.bytes())
	}
	h.kept[asker] = kept{now.requests + 1, now.bytes + n}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.kept[asker] = kept{h.kept[asker].requests - 1, h.kept[asker].bytes - n}
	}, nil
}
