package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people"
)

// plans are prepared statements by their text and options, so that a repetition waits for no
// parser, no plan and no public table. They are of one version of the data: a public table that
// changes is read again when the owner says so.
type plans struct {
	mu      sync.Mutex
	version int64 // of the data
	rules   int64 // the last rule that was looked at
	size    int
	byText  map[string]*discreet.Statement
}

// maxPlans bounds what is kept, in bytes, as far as they are known.
const maxPlans = 64 << 20

// key is all that a prepared statement depends on.
func (o *Options) key(sql string) (string, error) {
	weights := make([]string, len(o.Weights))
	for i, w := range o.Weights {
		weights[i] = w.RatString()
	}
	key, err := json.Marshal(struct {
		SQL        string
		Spend      discreet.Spend
		Weights    []string
		Accuracy   string
		Confidence float64
		Fresh      bool
		Free       bool
		Key        string
		Parameters []discreet.Parameter
	}{sql, o.Spend, weights, o.Accuracy.String(), o.Confidence, o.Fresh, o.Free, o.IdempotencyKey, o.Parameters})
	if err != nil {
		return "", fmt.Errorf("encode options: %w", err)
	}
	return string(key), nil
}

// prepare returns the statement as it was prepared before, and that it was; or prepares it, as it does anew in any case.
func (g *Gateway) prepare(ctx context.Context, by *served, who people.Account, sql string, o Options, anew bool) (_ *discreet.Statement, kept bool, _ error) {
	version, err := g.config.Ledger.Version(ctx)
	if err != nil {
		return nil, false, err
	}
	text, err := o.key(sql)
	if err != nil {
		return nil, false, err
	}
	text = who.Name + "\x00" + text
	p := &by.plans
	p.mu.Lock()
	if p.version != version.Record || p.rules != who.Seen() || p.byText == nil || p.size > maxPlans {
		p.version, p.rules, p.size, p.byText = version.Record, who.Seen(), 0, map[string]*discreet.Statement{}
	}
	known := p.byText[text]
	p.mu.Unlock()
	if known != nil && !anew {
		return known, true, nil
	}
	s, err := by.database(who).Prepare(ctx, sql, o.query(who))
	if err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.version == version.Record && p.rules == who.Seen() {
		if before := p.byText[text]; before != nil {
			p.size -= len(text) + before.Size()
		}
		p.byText[text] = s
		p.size += len(text) + s.Size()
	}
	return s, false, nil
}
