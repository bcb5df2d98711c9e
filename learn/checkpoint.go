package learn

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/internal/container"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// How a run goes on after a crash without paying twice, and is never had twice for
// one price.
//
// What a run releases are its checkpoints, one after the other, and the model, which
// is a function of the last. (Figures and what else a process shows its owner on the
// way are the owner's own.) The checkpoints of a run are a chain, numbered from 0,
// which is the state before the first step. The ledger holds for each number one
// digest, written once (Register): the checkpoint of that number. It is written
// before the checkpoint can be seen at its path, and the first together with the
// charge for the whole plan, in one transaction.
//
// Claim. What is charged covers all checkpoints that were ever released.
//
// Proof. Let a process go on from checkpoint n of a run, with fresh randomness. It
// releases its next one only after its digest has become that of number n+1. If that
// succeeds, checkpoint n+1 is what the plan's steps make of checkpoint n: of all
// processes that went on from n, one has released something, and what the others
// computed has left no trace in what is released, so that the released chain is
// distributed as one uninterrupted run is: its guarantee is the plan's. If it fails,
// because number n+1 is taken, then nothing of it is released until the steps from n
// on are charged again, as a plan of their own, under a new chain: a fork. A fork is
// a plan fixed before its first step that begins at a released state; filters add up
// whatever is charged, and since no step of a run depends on answers outside of it,
// it makes no difference that both may go on at once. ∎
//
// A crash loses nothing: the file with checkpoint n+1 is on stable storage under a name of its own
// before its digest is registered, and Resume finds it there. Before that the run has released
// nothing, and going on from n is free.
//
// Condition: the choice to end a process and go on from an earlier state is not made
// by looking at its figures. Otherwise the owner has picked one of several runs by
// private data, which no chain can tell from a crash.

// A Register is a budget that keeps values, each under a key and written once, for as
// long as it keeps what was spent: a domain of a ledger (package budget/durable).
type Register interface {
	budget.Budget
	// Register charges a release and stores a value under a key, both or neither, or
	// nothing if the key has a value; it returns the value that the key then has.
	Register(ctx context.Context, key string, r budget.Release, value []byte) ([]byte, error)
	// Registered returns the value of a key, or nil.
	Registered(ctx context.Context, key, statement string) ([]byte, error)
}

const (
	checkpointKind    = "checkpoint"
	checkpointVersion = 1
)

// A checkpoint is a run between two steps. The parameters and the optimizer's state
// follow its header.
type checkpoint struct {
	Run       string       `json:"run"`    // the chain's name, random
	Number    int          `json:"number"` // in the chain: the lease
	From      int          `json:"from"`   // the first step that the chain has paid for
	Parent    string       `json:"parent,omitempty"`
	Statement string       `json:"statement"`
	Charged   string       `json:"charged"` // for the chain, as an event
	Plan      Plan         `json:"plan"`
	Network   network.Spec `json:"network"`
	Every     int          `json:"every,omitempty"` // steps between checkpoints
	Step      int          `json:"step"`
	Clip      float64      `json:"clip"`
	Epsilon   *float64     `json:"epsilon,omitempty"` // of the steps so far, by Rényi divergences

	parameters []float32
	optimizer  optimizer.State
	digest     container.Digest
}

func (c *checkpoint) encode() ([]byte, error) {
	body := binary.LittleEndian.AppendUint64(nil, uint64(len(c.parameters)))
	for _, x := range c.parameters {
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
	}
	body = binary.LittleEndian.AppendUint64(body, uint64(c.optimizer.Done))
	for _, v := range [][]float64{c.optimizer.First, c.optimizer.Second} {
		body = binary.LittleEndian.AppendUint64(body, uint64(len(v)))
		for _, x := range v {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(x))
		}
	}
	data, digest, err := container.Encode(checkpointKind, checkpointVersion, c, body)
	c.digest = digest
	return data, err
}

func decodeCheckpoint(data []byte) (*checkpoint, error) {
	c := &checkpoint{}
	body, digest, err := container.Decode(data, checkpointKind, checkpointVersion, c)
	if err != nil {
		return nil, err
	}
	c.digest = digest
	r := numbers{body}
	for range r.count(4) {
		c.parameters = append(c.parameters, math.Float32frombits(binary.LittleEndian.Uint32(r.take(4))))
	}
	c.optimizer.Done = int(r.word())
	for _, v := range []*[]float64{&c.optimizer.First, &c.optimizer.Second} {
		for range r.count(8) {
			*v = append(*v, math.Float64frombits(binary.LittleEndian.Uint64(r.take(8))))
		}
	}
	if r.left == nil || len(r.left) != 0 || c.Number < 0 || c.From < 0 || c.Step < c.From || c.Step > c.Plan.Steps || c.Run == "" {
		return nil, fmt.Errorf("read checkpoint: %w: its parts do not fit together", container.ErrCorrupted)
	}
	if err := c.Plan.Validate(); err != nil { // no charge was made for an invalid plan
		return nil, fmt.Errorf("read checkpoint: %w: %w", container.ErrCorrupted, err)
	}
	return c, nil
}

// numbers reads a body. It has nil left once it was too short.
type numbers struct{ left []byte }

func (r *numbers) take(n int) []byte {
	if len(r.left) < n {
		r.left = nil
		return make([]byte, n)
	}
	var out []byte
	out, r.left = r.left[:n:n], r.left[n:]
	return out
}

func (r *numbers) word() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// count reads how many numbers of a size follow, and refuses more than there is.
func (r *numbers) count(size int) int {
	n := r.word()
	if n > uint64(len(r.left)/size) {
		r.left = nil
		return 0
	}
	return int(n)
}

// key names a number of a chain in the ledger.
func (c *checkpoint) key(number int) string { return fmt.Sprintf("learn/%s/%d", c.Run, number) }

// statement is the ledger's record of a number.
func (c *checkpoint) statement(number int) string {
	switch {
	case number > 0:
		return fmt.Sprintf("checkpoint %d of run %s", number, c.Run)
	case c.From > 0:
		return fmt.Sprintf("%s (run %s, again from step %d on)", c.Statement, c.Run, c.From)
	}
	return fmt.Sprintf("%s (run %s)", c.Statement, c.Run)
}

func (c *checkpoint) value() []byte {
	data, err := json.Marshal(c.digest.String())
	if err != nil {
		panic(err) // a string
	}
	return data
}

// registered says what the ledger has for a number of the chain: nothing, the
// checkpoint itself, or another.
func (c *checkpoint) registered(ctx context.Context, r Register, number int) (found, same bool, err error) {
	value, err := r.Registered(ctx, c.key(number), c.statement(number))
	return value != nil, string(value) == string(c.value()), err
}

// pending is where a checkpoint is until it is registered.
func (c *checkpoint) pending(path string) string {
	return path + pendingMark + c.digest.String()[:16]
}

const pendingMark = ".next-"

// release makes c what path holds, if it can be the checkpoint of its number. Taken
// is true, and nothing released, if another one is.
func (c *checkpoint) release(ctx context.Context, r Register, path string, charge budget.Release) (taken bool, err error) {
	data, err := c.encode()
	if err != nil {
		return false, err
	}
	file, err := container.Hold(c.pending(path), data, 0o600)
	if err != nil {
		return false, fmt.Errorf("write checkpoint: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is written; until then nobody sweeps it
	charge.Statement = c.statement(c.Number)
	value, err := r.Register(ctx, c.key(c.Number), charge, c.value())
	if err == nil && string(value) == string(c.value()) {
		if err := container.Rename(c.pending(path), path); err != nil {
			// A resumed run may have put the file there first.
			if there, missing := os.ReadFile(path); missing != nil || !bytes.Equal(there, data) {
				return false, fmt.Errorf("write checkpoint: %w", err)
			}
		}
		return false, nil
	}
	if err != nil {
		// It may be registered in spite of the error, as after a cancelled context. It
		// stays: the next run resumes from it.
		var refused *budget.ExceededError
		if !errors.As(err, &refused) {
			return false, fmt.Errorf("register checkpoint: %w", err)
		}
	}
	return err == nil, errors.Join(err, os.Remove(c.pending(path)))
}

// ErrUnknownCheckpoint is returned for a checkpoint that the ledger has not seen: of
// another ledger, or changed.
var ErrUnknownCheckpoint = errors.New("the ledger does not know this checkpoint")

// findCheckpoint returns the checkpoint that path stands for: what it holds, or what a
// crash kept from being put there. Continued is true if others went on from it and
// released something.
func findCheckpoint(ctx context.Context, r Register, path string) (c *checkpoint, continued bool, err error) {
	read := func(name string) (*checkpoint, error) {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return decodeCheckpoint(data)
	}
	held, missing := read(path)
	if missing != nil && !errors.Is(missing, os.ErrNotExist) {
		return nil, false, missing
	}
	if held != nil {
		if _, same, err := held.registered(ctx, r, held.Number); err != nil {
			return nil, false, err
		} else if !same {
			return nil, false, ErrUnknownCheckpoint
		}
		if continued, _, err = held.registered(ctx, r, held.Number+1); err != nil || !continued {
			return held, false, err
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, false, err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), filepath.Base(path)+pendingMark) {
			continue
		}
		name := filepath.Join(filepath.Dir(path), entry.Name())
		next, err := read(name)
		if err != nil {
			continue // the crash cut it, before it was registered
		}
		if held != nil && (next.Run != held.Run || next.Number != held.Number+1) && next.Parent != held.digest.String() {
			continue
		}
		_, same, err := next.registered(ctx, r, next.Number)
		if err != nil {
			return nil, false, err
		}
		if !same {
			continue
		}
		further, _, err := next.registered(ctx, r, next.Number+1)
		if err != nil {
			return nil, false, err
		}
		if !further {
			return next, false, container.Rename(name, path)
		}
	}
	if held == nil {
		return nil, false, missing
	}
	return held, true, nil
}

// sweep removes what processes that are gone left beside path, and what nobody can resume:
// files that were cut, and of whole ones those that never became a checkpoint's number and
// those that others came after. All that the ledger knows as the last of its chain stays,
// and so does what may be of another ledger: a run that is neither c's nor a fork of c, and
// has another plan.
func (c *checkpoint) sweep(ctx context.Context, r Register, path string) {
	names := regexp.MustCompile("^" + regexp.QuoteMeta(filepath.Base(path)+pendingMark) + "[0-9a-f]{16}$")
	container.Sweep(filepath.Dir(path), names, func(data []byte) bool {
		next, err := decodeCheckpoint(data)
		if err != nil {
			return false
		}
		found, same, err := next.registered(ctx, r, next.Number)
		switch {
		case err != nil:
			return false
		case same:
			further, _, err := next.registered(ctx, r, next.Number+1)
			return further && err == nil
		case found || next.Run == c.Run || next.Parent == c.digest.String():
			return true // another checkpoint has its number, or its own ledger, this one, never saw it
		}
		// A run may have been killed before it paid, and started again.
		alike, err := equal(next.Plan, c.Plan)
		return next.Number == 0 && next.Parent == "" && next.Statement == c.Statement && alike && err == nil
	})
}

// save is the run's state as a checkpoint.
func (r *Run) save() *checkpoint {
	c := r.chain
	c.Step, c.Clip, c.Every = r.trainer.done, r.trainer.clip, r.options.Every
	if e := r.spending.epsilon(c.Step); !math.IsInf(e, 0) {
		c.Epsilon = &e
	}
	c.parameters = slices.Clone(r.trainer.net.Parameters())
	c.optimizer = r.trainer.optimizer.State()
	return &c
}

// restore puts the run into a checkpoint's state.
func (r *Run) restore(c *checkpoint) error {
	if len(c.parameters) != len(r.trainer.net.Parameters()) || c.optimizer.Done != c.Step || !positive(c.Clip) {
		return fmt.Errorf("resume: %w: its parts do not fit together", container.ErrCorrupted)
	}
	if err := r.trainer.optimizer.Restore(c.optimizer); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	copy(r.trainer.net.Parameters(), c.parameters)
	r.trainer.done, r.trainer.clip = c.Step, c.Clip
	return nil
}
