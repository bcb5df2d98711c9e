package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
)

// A Peer is a node, as the coordinator sees it. Its refusals are *cluster.Problem.
type Peer interface {
	Describe(ctx context.Context) ([]node.Description, error)
	Ask(ctx context.Context, r node.Request) (node.Status, error)
	Round(ctx context.Context, id string, r node.RoundRequest) (*federated.Update, error)
	Answer(ctx context.Context, id string) (*node.Answered, error)
}

// remote is a node in another process.
type remote struct {
	station *cluster.Station
	name    string
}

func (p remote) Describe(ctx context.Context) (all []node.Description, err error) {
	return all, Call(ctx, p.station, p.name, http.MethodGet, "/data", nil, &all)
}

func (p remote) Ask(ctx context.Context, r node.Request) (s node.Status, err error) {
	return s, Call(ctx, p.station, p.name, http.MethodPost, "/requests", r, &s)
}

func (p remote) Round(ctx context.Context, id string, r node.RoundRequest) (*federated.Update, error) {
	u := &federated.Update{}
	return u, Call(ctx, p.station, p.name, http.MethodPost, "/requests/"+id+"/round", r, u)
}

func (p remote) Answer(ctx context.Context, id string) (*node.Answered, error) {
	a := &node.Answered{}
	return a, Call(ctx, p.station, p.name, http.MethodPost, "/requests/"+id+"/answer", struct{}{}, a)
}

// maxAnswer bounds what is read of a member's answer.
const maxAnswer = 256 << 20

// Call asks a member of the federation over HTTP, in JSON; to may be *[]byte for an answer as
// it is. A refusal is a *cluster.Problem.
func Call(ctx context.Context, s *cluster.Station, peer, method, path string, body, to any) error {
	var text io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		text = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL(peer, path), text)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.Client(peer).Do(r)
	if err != nil {
		return fmt.Errorf("ask %s: %w", peer, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("ask %s: %w", peer, err)
	}
	if answer.StatusCode != http.StatusOK {
		p := &cluster.Problem{}
		if json.Unmarshal(data, p) != nil || p.Type == "" {
			p = &cluster.Problem{Type: "failed", Status: answer.StatusCode}
		}
		return fmt.Errorf("ask %s: %w", peer, p)
	}
	if raw, ok := to.(*[]byte); ok {
		*raw = data
		return nil
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("ask %s: its answer is not of the form that was asked for: %w", peer, err)
	}
	return nil
}
