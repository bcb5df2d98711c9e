package ledger

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A ledger is one table of records, each of which is appended and never changed.
// There are no tables of balances beside it: a record carries the state that its
// domain is in after it, so that the last record of a domain decides, and a
// record's hash covers the decision.
//
// The hash chain: a record's hash covers its own fields and the hash of the
// record before; see chain.
type record struct {
	seq    int64
	kind   string
	domain string // "" for kinds that concern the ledger
	key    []byte // of a reservation with an idempotency key: scope(analyst, key), else see question; of a commit: see repetition
	ref    int64  // the reservation that a commit or a suspension is about, the approval of a decision or a reservation, or 0
	body   []byte // JSON of entry
	answer []byte // of a commit; its digest is in the body
	hash   digest
}

type digest [sha256.Size]byte

// The kinds of records.
const (
	kindCreate      = "create"      // the first: the ledger's identity
	kindMoved       = "moved"       // the last: the records go on elsewhere
	kindArrived     = "arrived"     // after it, elsewhere
	kindAnchor      = "anchor"      // from here on the ledger has an anchor
	kindDomain      = "domain"      // a domain and its budget, for good, and what it guards
	kindGuard       = "guard"       // what it guards from here on, by the owner's word
	kindReserve     = "reserve"     // a charge
	kindCommit      = "commit"      // its answer
	kindSuspend     = "suspend"     // a failure
	kindAcknowledge = "acknowledge" // the owner has seen it
	kindAccess      = "access"      // somebody saw exact values: charged to nothing
	kindVersion     = "version"     // the data changed, by the owner's word
	kindRule        = "rule"        // who may ask what
	kindAsk         = "ask"         // a statement waits for an owner
	kindGrant       = "grant"       // an owner grants it
	kindDeny        = "deny"        // an owner denies it
)

// entry is a record's body; each kind uses some of it.
type entry struct {
	Time        time.Time         `json:"time,omitzero"`
	User        *User             `json:"user,omitempty"`
	Format      int               `json:"format,omitempty"`
	KeyID       []byte            `json:"key_id,omitempty"` // of the first record, if the chain has a key
	Budget      *DomainBudget     `json:"budget,omitempty"`
	Analyst     string            `json:"analyst,omitempty"`
	Statement   string            `json:"statement,omitempty"`
	Parameters  json.RawMessage   `json:"parameters,omitempty"`
	Certificate json.RawMessage   `json:"certificate,omitempty"`
	Events      []json.RawMessage `json:"events,omitempty"`
	Delta       privacy.Delta     `json:"delta,omitzero"`
	Charge      *filter.Total     `json:"charge,omitempty"`
	Request     []byte            `json:"request,omitempty"`    // digest of what an idempotency key stands for
	Repetition  []byte            `json:"repetition,omitempty"` // as the request has it
	Question    []byte            `json:"question,omitempty"`   // as the request has it
	Relations   [][]byte          `json:"relations,omitempty"`  // likewise
	Keeps       string            `json:"keeps,omitempty"`      // likewise
	Sharpens    int64             `json:"sharpens,omitempty"`   // the reservation whose answer this one's is averaged with
	Precision   *precision        `json:"precision,omitempty"`  // of the average
	Answer      []byte            `json:"answer,omitempty"`     // digest of the answer
	Note        string            `json:"note,omitempty"`       // of a version: its name
	Why         string            `json:"why,omitempty"`        // of a version: the owner's reason
	Holders     []string          `json:"holders,omitempty"`    // whose quotas a reservation counts against
	Rule        *Rule             `json:"rule,omitempty"`
	Domain      string            `json:"domain,omitempty"`    // of what is asked of an owner
	Canonical   string            `json:"canonical,omitempty"` // the same, as an owner sees it
	Catalog     []byte            `json:"catalog,omitempty"`   // the digest of the catalog that it was asked under
	State       *state            `json:"state,omitempty"`
}

// state is a domain's, after the record that holds it.
type state struct {
	Spent       filter.Total `json:"spent"`
	Uncommitted int64        `json:"uncommitted"`
	Suspended   bool         `json:"suspended"`
	Guard       []byte       `json:"guard,omitempty"` // digest of what it guards; nil where that was never said
}

// format is the version of this layout, which the first record says for good. In format 1 no record says what a domain guards. To format 2
// programs may write that hold an average for what was charged beside the answer that it sharpens.
const format = 3

// formatOfAverages is the first of which every program knows what an average serves as.
const formatOfAverages = 3

// scope is what an idempotency key is unique in: its analyst.
func scope(analyst, key string) []byte {
	return digestOf([]byte("key"), []byte(analyst), []byte(key))
}

const schema = `
CREATE TABLE records (
	seq    INTEGER PRIMARY KEY,
	kind   TEXT NOT NULL,
	domain TEXT NOT NULL,
	key    BLOB,
	ref    INTEGER,
	body   BLOB NOT NULL,
	answer BLOB,
	hash   BLOB NOT NULL
) STRICT;
CREATE INDEX records_domain ON records (domain, seq);
CREATE INDEX records_key ON records (key, seq) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX records_commit ON records (ref) WHERE kind = 'commit';
`

// columns are those that scan reads: a record without its answer, and the hash
// of the record before.
const columns = `r.seq, r.kind, r.domain, r.key, coalesce(r.ref, 0), r.body, r.hash,
	(SELECT p.hash FROM records p WHERE p.seq = r.seq - 1)`

// lastRecord finds the end of the chain.
const lastRecord = "SELECT " + columns + " FROM records r ORDER BY r.seq DESC LIMIT 1"

// scan reads a record, and what follows its columns, and checks its hash against the
// record before.
func (c chain) scan(row interface{ Scan(...any) error }, more ...any) (*record, error) {
	r := &record{}
	var hash, prev []byte
	if err := row.Scan(append([]any{&r.seq, &r.kind, &r.domain, &r.key, &r.ref, &r.body, &hash, &prev}, more...)...); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		return nil, storage(err)
	}
	var before digest
	if r.seq != 1 {
		if len(prev) != len(before) {
			return nil, fmt.Errorf("%w: record %d is missing", ErrTampered, r.seq-1)
		}
		before = digest(prev)
	}
	if r.hash = c.sum(r, before); string(r.hash[:]) != string(hash) {
		return nil, fmt.Errorf("%w: record %d does not have its hash", ErrTampered, r.seq)
	}
	return r, nil
}

// entry decodes the body.
func (r *record) entry() (*entry, error) {
	e := &entry{}
	if err := json.Unmarshal(r.body, e); err != nil {
		return nil, fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
	}
	return e, nil
}
