// Package multiparty has several holders of private data answer statements together, with
// noise from parties of whom all but one may collude.
//
// Each holder bounds and aggregates a statement at its own engine, charges its own ledger, and
// splits the exact integers into additive shares, one for each party. A party adds up the
// shares of all holders, adds the whole noise that the statement needs to its sum (or a share of
// it, where fewer may collude), and gives it to the asker. The sum of all parties' sums is the noisy total, and exists nowhere else.
//
// It guarantees, if every member follows the protocol: whoever sees all that the asker and all
// parties but one have, learns of each holder's units no more than the statement's events say,
// whatever other holders there are. With private channels and true randomness that holds
// against an adversary of any computing power (package internal/additive has the theorem). As
// it runs, over TLS and with the system's generator, it holds against one that breaks neither.
//
// It does not guarantee that a total is right where a member deviates from the protocol; that
// there is an answer where one is missing; anything to units about what their own holder
// knows; nor, to a holder, that others declare their data truly.
//
// The protocol is shaped after DAP (the distributed aggregation protocol), and is not it:
// shares are of a holder's aggregates instead of one person's report, so that nothing is
// proved about them; holders send them to each party themselves; and members know one another
// by pinned keys.
package multiparty

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	discreet "github.com/discreet-dp/discreet"
)

// Version begins every task. Another version is another protocol.
const Version = "discreet-federation-2"

// MaxLife is how long a task may be carried out, at most.
const MaxLife = time.Hour

// A Task is a statement to a federation: all that the answer and its privacy depend on. Its
// bytes are made once, by the asker, and their digest names it in every message.
type Task struct {
	Version   string                `json:"version"`
	ID        string                `json:"id"` // random: the same statement asked twice is two tasks
	Asker     string                `json:"asker"`
	AskerKey  string                `json:"asker_key"`
	Statement Statement             `json:"statement"`
	Holders   []TaskHolder          `json:"holders"`
	Parties   []TaskParty           `json:"parties"`
	Colluding int                   `json:"colluding"` // of the parties, at most
	Shares    discreet.Sharing      `json:"shares,omitempty"`
	Expires   time.Time             `json:"expires"`
	names     map[string]TaskHolder // by holder; set by decode
}

// A TaskHolder is a holder with what it has offered.
type TaskHolder struct {
	Name  string          `json:"name"`
	Key   string          `json:"key"`
	Offer *discreet.Offer `json:"offer"`
}

// A TaskParty is a party.
type TaskParty struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// digest names a task by its bytes.
func digest(task []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s task\n", Version)
	h.Write(task)
	return hex.EncodeToString(h.Sum(nil))
}

// decodeTask reads the bytes of a task, which must have this digest, and checks what concerns
// all members: version, names, keys and time.
func decodeTask(body []byte, hash string, f *Federation, now time.Time) (*Task, error) {
	if digest(body) != hash {
		return nil, problem(taskMismatch, "the digest is not that of the task")
	}
	var t Task
	if err := strict(body, &t); err != nil {
		return nil, problem(invalidMessage, "the task cannot be read: "+err.Error())
	}
	switch {
	case t.Version != Version:
		return nil, problem(taskMismatch, "the task is of another version of the protocol than "+Version)
	case len(t.ID) != 32 || len(t.Holders) == 0:
		return nil, problem(invalidMessage, "the task has no id, or no holder")
	case !now.Before(t.Expires):
		return nil, problem(taskExpired, "the time of the task is over")
	case t.Expires.After(now.Add(2 * MaxLife)): // clocks differ
		return nil, problem(taskTooEarly, "the task ends later than tasks may, or clocks differ")
	}
	if m, ok := f.asker(t.Asker); !ok || m.Key != t.AskerKey {
		return nil, problem(unauthorized, "the asker of the task is nobody whom the federation knows")
	}
	t.names = map[string]TaskHolder{}
	for _, h := range t.Holders {
		m, ok := f.holder(h.Name)
		if _, twice := t.names[h.Name]; !ok || twice || m.Key != h.Key || h.Offer == nil {
			return nil, problem(taskMismatch, "a holder of the task is not one of the federation, has another key there, or is named twice")
		}
		t.names[h.Name] = h
	}
	// Members agree on whom they trust: with more who may collude there is more noise.
	if t.Colluding != f.colluding() {
		return nil, problem(taskMismatch, "the parties of the task that may collude are more or fewer than in the federation")
	}
	// And on how noise is shared, which the answer states.
	if t.Shares != f.Shares {
		return nil, problem(taskMismatch, "the task shares noise in another way than the federation")
	}
	// All parties or none: with fewer, those who are left could be the ones that collude.
	if len(t.Parties) != len(f.Parties) {
		return nil, problem(taskMismatch, "the parties of the task are not those of the federation")
	}
	for i, p := range t.Parties {
		if f.Parties[i].Name != p.Name || f.Parties[i].Key != p.Key {
			return nil, problem(taskMismatch, "the parties of the task are not those of the federation, in its order")
		}
	}
	return &t, nil
}

// A shareMessage is what a holder sends to a party.
type shareMessage struct {
	Task  []byte                `json:"task"` // as the holder has it: its digest names it
	Bits  int                   `json:"bits"` // of the ring
	Noise []discreet.PartyNoise `json:"noise"`
	Share []byte                `json:"share"`
	// Mark is that of the noise which the party has drawn for the task, before anything was charged.
	Mark []byte `json:"mark"`
}

// A noiseMessage is what a holder asks a party to draw for a task.
type noiseMessage struct {
	Task  []byte                `json:"task"`
	Bits  int                   `json:"bits"`
	Noise []discreet.PartyNoise `json:"noise"`
}

// A drawn says that a party has drawn the noise of a task, which has this random mark.
type drawn struct {
	receipt
	Mark []byte `json:"mark"`
}

// A sumMessage is what a party has for the asker: the sum of all holders' shares and noise.
type sumMessage struct {
	Task  string                `json:"task"` // the digest
	Party string                `json:"party"`
	Bits  int                   `json:"bits"`
	Noise []discreet.PartyNoise `json:"noise"`
	Sum   []byte                `json:"sum"`
}

// A receipt is a party's word that it has a share.
type receipt struct {
	Task string `json:"task"`
	// Records counts what the party has stored since it exists. It never falls, but where an
	// old copy was put in its place.
	Records int64 `json:"records"`
}
