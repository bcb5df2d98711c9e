package pate

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/container"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// small is a learner of two features, and some examples for it.
func small() (*Network, *example.Set) {
	n := &Network{Spec: network.Spec{Input: []int{2}, Loss: network.CrossEntropy, Layers: []network.Layer{{Type: "linear", Width: 3}}},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.05}, Epochs: 20, Seed: 1}
	set := &example.Set{Width: 2, Classes: 3, Outputs: 1}
	r := rng(1)
	for range 60 {
		x, y := float32(r.below(100))/50-1, float32(r.below(100))/50-1
		label := int32(0)
		if x > 0 {
			label = 1
		} else if y > 0 {
			label = 2
		}
		set.Features, set.Labels = append(set.Features, x, y), append(set.Labels, label)
	}
	return n, set
}

// keptFile is an ensemble and its file.
func keptFile(t testing.TB) (*Ensemble, string) {
	t.Helper()
	n, set := small()
	e, err := Train(t.Context(), set, EnsembleOptions{Teachers: 20, Learner: n})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "small.ensemble")
	if err := e.Write(path, map[string]string{"source": "here"}); err != nil {
		t.Fatal(err)
	}
	return e, path
}

// What is read votes as what was written, also for teachers that learned nothing, and
// says what was declared. Its file is the owner's alone, also in place of one that was
// not, and says first what it is.
func TestEnsembleFile(t *testing.T) {
	e, path := keptFile(t)
	half := path + ".part-17" // of a process that was killed
	for name, mode := range map[string]os.FileMode{path: 0o644, half: 0o600} {
		if err := errors.Join(os.WriteFile(name, nil, mode), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Write(path, map[string]string{"source": "there"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left stays: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte("discreet ensemble 1\n")) || !bytes.Contains(data[:60], []byte(`{"PRIVATE":"`)) {
		t.Errorf("it begins with %q, %v", data[:60], err)
	}
	back, about, err := ReadEnsemble(path)
	if err != nil || string(about) != `{"source":"there"}` {
		t.Fatalf("%s, %v", about, err)
	}
	if back.Teachers() != 20 || back.Classes() != 3 || back.Learned() != e.Learned() || e.Learned() == 0 {
		t.Errorf("%d teachers, of which %d learned (%d before), %d classes", back.Teachers(), back.Learned(), e.Learned(), back.Classes())
	}
	_, public := small()
	want, err := e.Votes(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Votes(t.Context(), public)
	if err != nil || !slices.Equal(got.Counts, want.Counts) {
		t.Errorf("other votes, %v", err)
	}
}

// A file that is cut or changed anywhere, of another kind, or of a later version, is
// refused for what it is.
func TestDamagedEnsemble(t *testing.T) {
	_, path := keptFile(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if _, _, err := decodeEnsemble(data[:i]); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupted) {
			t.Fatalf("of %d bytes %d: %v", len(data), i, err)
		}
		other := bytes.Clone(data)
		other[i] ^= 0x10
		if _, _, err := decodeEnsemble(other); err == nil {
			t.Fatalf("byte %d of %d changed, and read", i, len(data))
		}
	}
	for text, want := range map[string]error{"discreet model 1\n": ErrKind, "row,label\n": ErrKind, "discreet ensemble 2\n": ErrNewer} {
		if _, _, err := decodeEnsemble([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if _, _, err := ReadEnsemble(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A file whose checksum is right was written on purpose, and is read no further than it
// goes.
func TestForgedEnsemble(t *testing.T) {
	n, _ := small()
	whole := append([]byte{1}, make([]byte, 4*9)...) // 9 weights
	for name, forged := range map[string]struct {
		h    header
		body []byte
	}{
		"no teachers":           {header{Network: n.Spec}, nil},
		"below zero":            {header{Network: n.Spec, Teachers: -1}, nil},
		"too many":              {header{Network: n.Spec, Teachers: MaxTeachers + 1}, make([]byte, MaxTeachers+1)},
		"fewer than it says":    {header{Network: n.Spec, Teachers: 2}, whole},
		"more than it says":     {header{Network: n.Spec, Teachers: 1}, append(bytes.Clone(whole), 0)},
		"half a teacher":        {header{Network: n.Spec, Teachers: 1}, whole[:20]},
		"neither here nor gone": {header{Network: n.Spec, Teachers: 1}, append([]byte{2}, whole[1:]...)},
		"no network":            {header{Teachers: 1}, whole},
		"no classes":            {header{Teachers: 1, Network: network.Spec{Input: []int{2}, Loss: network.Squared, Layers: []network.Layer{{Type: "linear", Width: 1}}}}, whole},
	} {
		data, _, err := container.Encode(fileKind, fileVersion, forged.h, forged.body)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := decodeEnsemble(data); !errors.Is(err, ErrCorrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	data, _, err := container.Encode(fileKind, fileVersion, header{Network: n.Spec, Teachers: 2}, append([]byte{0}, whole...))
	if err != nil {
		t.Fatal(err)
	}
	if e, _, err := decodeEnsemble(data); err != nil || e.Learned() != 1 {
		t.Errorf("a whole one: %v", err)
	}
}

// Only networks are kept.
func TestUnkeptEnsemble(t *testing.T) {
	_, set := small()
	e, err := Train(t.Context(), set, EnsembleOptions{Teachers: 3, Learner: majority{}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := e.Write(path, nil); err == nil || !strings.Contains(err.Error(), "not of a Network") {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file is left")
	}
}

// Whatever header and weights are, with their right checksum, what is read can vote.
func FuzzEnsembleFile(f *testing.F) {
	n, public := small()
	h, err := json.Marshal(header{Network: n.Spec, Teachers: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(h, append(make([]byte, 1), append([]byte{1}, make([]byte, 36)...)...))
	f.Add([]byte(`{"teachers":1}`), []byte{0})
	f.Fuzz(func(t *testing.T, h, body []byte) {
		data, _, err := container.Encode(fileKind, fileVersion, json.RawMessage(h), body)
		if err != nil {
			return
		}
		e, _, err := decodeEnsemble(data)
		if err != nil {
			return
		}
		v, err := e.Votes(t.Context(), public)
		if err != nil || v.Len() != public.Len() || v.Validate() != nil {
			t.Errorf("%v, %v", err, v.Validate())
		}
	})
}
