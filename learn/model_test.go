package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

func trained(t testing.TB) (*Run, *Model) {
	t.Helper()
	b := purse(t, filter.Approx, "100", privacy.AddRemove)
	r, err := Start(ctx, Options{Plan: small(), Network: mlp(4), Data: circles(1000, 1), Budget: b, Statement: "learn a circle"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Train(ctx); err != nil {
		t.Fatal(err)
	}
	m, err := r.Model(ctx, ModelOptions{Names: []string{"circles"}, Unit: "a point", Encoding: json.RawMessage(`{"x":[-1,1]}`), Date: clock()})
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// A model's file holds the network, its weights, and what is certified of them.
func TestModelFile(t *testing.T) {
	r, m := trained(t)
	path := filepath.Join(t.TempDir(), "circle.model")
	if err := WriteModel(path, m); err != nil {
		t.Fatal(err)
	}
	back, err := ReadModel(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := must(json.Marshal(m)), must(json.Marshal(back)); !bytes.Equal(a, b) || !slices.Equal(m.Parameters, back.Parameters) {
		t.Errorf("%s reads back as %s", a, b)
	}
	if net := must(back.Build()); !slices.Equal(net.Parameters(), r.Network().Parameters()) || !reflect.DeepEqual(net.Spec(), mlp(4)) {
		t.Error("another network is built")
	}
	c := back.Certificate
	var p Plan
	if err := json.Unmarshal(c.Plan, &p); err != nil || p.Hash() != small().Hash() {
		t.Errorf("the plan is %s, %v", c.Plan, err)
	}
	g := must(small().Guarantee())
	if c.Method != "dp-sgd" || c.Guarantee.Epsilon != g.Epsilon || *c.Guarantee.PLD != *g.PLD || *c.Guarantee.RDP != *g.RDP || c.Guarantee.Delta.Cmp(g.Delta) <= 0 || !strings.HasPrefix(c.Guarantee.Event, g.Event+" + approx(0, ") {
		t.Errorf("the guarantee is %+v", c.Guarantee)
	}
	if c.Data.Names[0] != "circles" || c.Data.Unit != "a point" || c.Data.Units != 1000 || c.Data.Basis != Public || c.Data.Bound != 1 {
		t.Errorf("the data are %+v", c.Data)
	}
	if c.Ledger.Budget != "people" || c.Ledger.Run == "" || c.Ledger.Charged != r.Charged() || !c.Date.Equal(clock()) || c.Code.Go == "" {
		t.Errorf("%+v, %v, %+v", c.Ledger, c.Date, c.Code)
	}
	if l := c.Limit; l.Sampler != Fast || !(l.Delta > 0 && l.Delta < 1e-6) || !(l.Rounding > 0 && l.Rounding < 0.05) {
		t.Errorf("the limits are %+v", l)
	}
	back.Parameters = back.Parameters[1:]
	if _, err := back.Build(); !errors.Is(err, ErrCorrupted) {
		t.Errorf("a weight is missing: %v", err)
	}
}

// A file that is changed anywhere, cut anywhere, of another kind or of a later version is
// refused, each in its words.
func TestModelFileRefusals(t *testing.T) {
	_, m := trained(t)
	data := must(m.Encode())
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= 0x10
		if _, err := DecodeModel(changed); err == nil {
			t.Fatalf("byte %d changed: not seen", i)
		}
		if _, err := DecodeModel(data[:i]); !errors.Is(err, ErrTruncated) {
			t.Fatalf("%d of %d bytes: %v", i, len(data), err)
		}
	}
	if _, err := DecodeModel(append(slices.Clone(data), 0)); !errors.Is(err, ErrCorrupted) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := DecodeModel([]byte("{\"model\": 1}")); !errors.Is(err, ErrKind) {
		t.Errorf("JSON: %v", err)
	}
	newer := reseal(bytes.Replace(data, []byte("discreet model 1\n"), []byte("discreet model 3\n"), 1))
	if _, err := DecodeModel(newer); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 3") {
		t.Errorf("version 3: %v", err)
	}
	if _, err := ReadModel(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// reseal gives changed content a checksum that holds.
func reseal(data []byte) []byte {
	if len(data) < sha256.Size {
		return data
	}
	content := data[:len(data)-sha256.Size]
	sum := sha256.Sum256(content)
	return append(slices.Clone(content), sum[:]...)
}

// What another learner made is in the same file, of a version that a program which knows
// networks alone refuses as newer.
func TestModelOfAnotherLearner(t *testing.T) {
	m := &Model{Learner: "tree", Learned: json.RawMessage(`{"classes":2}`), Certificate: &Certificate{Method: "tree", Plan: json.RawMessage("{}")}}
	data := must(m.Encode())
	if !bytes.HasPrefix(data, []byte("discreet model 2\n")) {
		t.Errorf("it begins %q", data[:20])
	}
	back := must(DecodeModel(data))
	if back.Learner != "tree" || string(back.Learned) != string(m.Learned) || back.Parameters != nil {
		t.Errorf("%+v", back)
	}
	if _, err := back.Build(); err == nil {
		t.Error("it is no network, and one was built")
	}
}

// Whatever stands in a file: an answer or a refusal, no panic, and what was read is what
// is written again.
func FuzzDecodeModel(f *testing.F) {
	m := &Model{Network: mlp(1), Parameters: []float32{1, float32(math.Inf(1)), -0.5}, Encoding: json.RawMessage(`[1]`), Certificate: &Certificate{Method: "dp-sgd", Plan: json.RawMessage("{}")}}
	data := must(m.Encode())
	f.Add(data)
	f.Add(data[:50])
	f.Add([]byte("discreet model 1\n"))
	f.Add(must((&checkpoint{Run: "a", Plan: small(), Clip: 1}).encode()))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range [][]byte{data, reseal(data)} {
			if m, err := DecodeModel(d); err == nil {
				again, err := m.Encode()
				if err != nil {
					t.Fatalf("what was read cannot be written: %v", err)
				}
				if back, err := DecodeModel(again); err != nil || len(back.Parameters) != len(m.Parameters) {
					t.Fatalf("what was written again: %v", err)
				}
			}
			if c, err := decodeCheckpoint(d); err == nil {
				if _, err := c.encode(); err != nil {
					t.Fatalf("a checkpoint that was read cannot be written: %v", err)
				}
			}
		}
	})
}
