package learn

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/learn/internal/container"
	"github.com/discreet-dp/discreet/learn/network"
)

const (
	modelKind    = "model"
	modelVersion = 2 // 1: networks alone
)

// What readers of models and checkpoints branch on.
var (
	ErrKind      = container.ErrKind      // the file is of another kind
	ErrNewer     = container.ErrNewer     // a later version wrote it
	ErrTruncated = container.ErrTruncated // its end is missing
	ErrCorrupted = container.ErrCorrupted // it was changed
)

// A Model is a trained network, or what another learner made, with what is known of its
// origin.
type Model struct {
	// Learner is the kind of what another learner made, which says who reads Learned;
	// it is empty of a network.
	Learner     string          `json:"learner,omitempty"`
	Network     network.Spec    `json:"network"`
	Encoding    json.RawMessage `json:"encoding,omitempty"` // how records become examples; for whoever wrote it
	Certificate *Certificate    `json:"certificate"`        // nil: trained without a guarantee

	Parameters []float32       `json:"-"`
	Learned    json.RawMessage `json:"-"` // in the place of Network and Parameters
}

// A Certificate says what a model may reveal of the data that it was trained on. It is a statement
// by the author of the file, not a proof: the ledger, under Ledger, holds what was charged.
type Certificate struct {
	Data      Data            `json:"data"`
	Plan      json.RawMessage `json:"plan"`      // of the learner: a Plan where Method is DP-SGD
	Method    string          `json:"method"`    // "dp-sgd", or another learner's name
	Guarantee Guarantee       `json:"guarantee"` // of all that is in the file: the model, the count of units, what fast noise adds
	Limit     *Limit          `json:"limit,omitempty"`
	Ledger    Entry           `json:"ledger"`
	Code      Code            `json:"code"`
	Date      time.Time       `json:"date"`
}

// Data says what a model was trained on. Sizes are declared ones, never counts.
type Data struct {
	Names []string `json:"names"`           // tables or files
	Units int64    `json:"units,omitempty"` // declared; 0: the run does not depend on how many there are
	Basis Basis    `json:"basis,omitempty"` // why their number may be known
	Count string   `json:"count,omitempty"` // the event of the noisy count, which is in the Guarantee
	Unit  string   `json:"unit"`            // what one is: "patient", "a row of adult.csv"
	Bound int      `json:"bound"`           // examples of a unit at most
	Mode  UnitMode `json:"mode,omitempty"`  // how they are bounded
	// Public says that anybody may know the data: there is nobody to protect, and the
	// Guarantee protects nobody.
	Public bool `json:"public,omitempty"`
}

// An Entry says where a run was paid for.
type Entry struct {
	Budget    string `json:"budget"`
	Run       string `json:"run"`
	Statement string `json:"statement"`
	Charged   string `json:"charged"`
	// From is above 0 where the run is a second continuation of a checkpoint: the
	// steps from there on were charged again, as Charged, beside the first run.
	From int `json:"from,omitempty"`
}

// Code says which program trained.
type Code struct {
	Module   string `json:"module,omitempty"`
	Version  string `json:"version,omitempty"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the revision is not all of it
	Go       string `json:"go,omitempty"`
}

// ThisCode returns what the running program knows of itself.
func ThisCode() Code {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Code{}
	}
	c := Code{Module: info.Main.Path, Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			c.Revision = s.Value
		case "vcs.modified":
			c.Modified = s.Value == "true"
		}
	}
	return c
}

// ModelOptions say what a certificate cannot know by itself.
type ModelOptions struct {
	Names    []string // of tables or files
	Unit     string   // what a unit is
	Encoding json.RawMessage
	Date     time.Time
}

// Model returns the trained model, once the run is finished and, with checkpoints, its
// last one released.
func (r *Run) Model(ctx context.Context, o ModelOptions) (_ *Model, err error) {
	defer wrap(&err, "make model")
	if !r.Finished() {
		return nil, fmt.Errorf("%d of %d steps are made: a run that is ended by looking at it has no guarantee", r.Done(), r.options.Plan.Steps)
	}
	if o.Date.IsZero() {
		return nil, errors.New("no date given")
	}
	if err := r.checkpoint(ctx); err != nil {
		return nil, err
	}
	p := r.options.Plan
	plan, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	limit := r.Limit()
	return &Model{
		Network: r.options.Network, Encoding: o.Encoding, Parameters: slices.Clone(r.trainer.net.Parameters()),
		Certificate: &Certificate{
			Data: Data{Names: o.Names, Units: p.Population.Units, Basis: p.Population.Basis, Count: p.Population.Count, Unit: o.Unit, Bound: p.Units.examples(), Mode: p.Units.Mode},
			Plan: plan, Method: "dp-sgd", Guarantee: r.guarantee, Limit: &limit,
			Ledger: Entry{Budget: r.options.Budget.Name(), Run: r.chain.Run, Statement: r.options.Statement, Charged: r.chain.Charged, From: r.chain.From},
			Code:   ThisCode(), Date: o.Date.UTC(),
		},
	}, nil
}

// Encode returns the model as a file's content.
func (m *Model) Encode() ([]byte, error) {
	if m.Learner != "" {
		data, _, err := container.Encode(modelKind, modelVersion, m, m.Learned)
		return data, err
	}
	body := make([]byte, 0, 4*len(m.Parameters))
	for _, x := range m.Parameters {
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
	}
	data, _, err := container.Encode(modelKind, 1, m, body) // which any program reads
	return data, err
}

// DecodeModel reads a file's content. It refuses what is not whole: see ErrKind,
// ErrNewer, ErrTruncated and ErrCorrupted.
func DecodeModel(data []byte) (*Model, error) {
	m := &Model{}
	body, _, err := container.Decode(data, modelKind, modelVersion, m)
	if err != nil {
		return nil, err
	}
	if m.Learner != "" {
		m.Learned = body
		return m, nil
	}
	if len(body)%4 != 0 {
		return nil, fmt.Errorf("read model: %w: its weights are no whole number", ErrCorrupted)
	}
	m.Parameters = make([]float32, len(body)/4)
	for i := range m.Parameters {
		m.Parameters[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
	}
	return m, nil
}

// WriteModel writes a model's file, all of it or nothing.
func WriteModel(path string, m *Model) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := container.Write(path, data, 0o644); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	container.Sweep(filepath.Dir(path), regexp.MustCompile("^"+regexp.QuoteMeta(filepath.Base(path))+"$"), nil)
	return nil
}

// ReadModel reads a model's file.
func ReadModel(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	m, err := DecodeModel(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Build returns the network with the model's weights.
func (m *Model) Build() (*network.Network, error) {
	if m.Learner != "" {
		return nil, fmt.Errorf("build network: the model is of kind %q", m.Learner)
	}
	net, err := network.New(m.Network)
	if err != nil {
		return nil, err
	}
	if len(m.Parameters) != len(net.Parameters()) {
		return nil, fmt.Errorf("%w: %d weights for %d parameters", ErrCorrupted, len(m.Parameters), len(net.Parameters()))
	}
	copy(net.Parameters(), m.Parameters)
	return net, nil
}
