package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// Version begins every task. Another version is another protocol.
const Version = "discreet-prio-1"

// A Task is all that contributions, their sum and its privacy depend on. Its bytes are made once;
// their digest names it in every message, in every seal and in the shares themselves.
type Task struct {
	Version string       `json:"version"`
	Name    string       `json:"name"` // for people; tasks that are alike but for it are two
	Circuit prio.Circuit `json:"circuit"`
	// Aggregators are two or more members, the leader first.
	Aggregators []string `json:"aggregators"`
	// Clients are the members whose contributions are taken. A member may stand for many devices.
	Clients []string `json:"clients"`
	// Once says that a client contributes once to a batch.
	Once      bool   `json:"once,omitempty"`
	Collector string `json:"collector"`
	// Least is how many contributions a collected batch has, at least.
	Least int64 `json:"least"`
	// Noise is what aggregators add to their shares of a batch.
	Noise Noise `json:"noise"`
	// Colluding is how many aggregators may collude: any others have added the whole noise together.
	// 0 is all but one, so that each adds the whole.
	Colluding int `json:"colluding,omitempty"`
	// Shares says how Gaussian noise is shared then.
	Shares mechanism.Sharing `json:"shares,omitempty"`
	// Budget is what all collections may reveal, of neighbours that replace a contribution.
	Budget filter.Budget `json:"budget"`
	// Begins and Expires bound the times of contributions.
	Begins  time.Time `json:"begins"`
	Expires time.Time `json:"expires"`
}

// A Noise is discrete Laplace noise of a collection's epsilon, or discrete Gaussian noise of its
// rho: exactly one is positive.
type Noise struct {
	Epsilon privacy.Epsilon `json:"epsilon"`
	Rho     privacy.Rho     `json:"rho"`
	// Distance is how far a unit moves the aggregate: in L1 with epsilon, in the square of L2 with
	// rho; a fraction in decimal. Proofs do not check it: it is what clients promise to their own
	// units, and holds for those of clients that keep to it. Empty: what the proofs bound, one
	// contribution replaced by any other.
	Distance string `json:"distance,omitempty"`
}

// maxDistance bounds the text of a distance: to read it takes time that grows faster than it.
const maxDistance = 200

// distance is how far a unit moves the aggregate; nil where that follows from the circuit.
func (n Noise) distance() (*prio.Distance, error) {
	if n.Distance == "" {
		return nil, nil
	}
	d, ok := new(big.Rat).SetString(n.Distance)
	if !ok || len(n.Distance) > maxDistance || bytes.ContainsAny([]byte(n.Distance), "eEpP_xX.") || d.Sign() <= 0 {
		return nil, errors.New("the distance is no positive fraction")
	}
	if n.Epsilon.Sign() > 0 {
		return &prio.Distance{L1: d}, nil
	}
	return &prio.Distance{L2Squared: d}, nil
}

// honest is how many aggregators are, at least.
func (t *Task) honest() int {
	if t.Colluding == 0 {
		return 1
	}
	return len(t.Aggregators) - t.Colluding
}

// Law is the noise of one aggregator: whole, or its portion of it. Its event is what a collection
// reveals.
func (t *Task) Law() (mechanism.Additive, error) {
	whole, err := t.whole()
	if err != nil || t.honest() == 1 {
		return whole, err
	}
	if t.Noise.Rho.Sign() > 0 && t.Budget.Measure != filter.ZCDP {
		return nil, errors.New("what shares of Gaussian noise reveal is known in rho, and the budget counts something else")
	}
	return mechanism.PortionOf(whole, t.Circuit.Values(), t.honest(), t.Shares)
}

func (t *Task) whole() (mechanism.Additive, error) {
	if (t.Noise.Epsilon.Sign() > 0) == (t.Noise.Rho.Sign() > 0) {
		return nil, errors.New("want exactly one of epsilon and rho")
	}
	promised, err := t.Noise.distance()
	if err != nil {
		return nil, err
	}
	d := t.Circuit.Replaced()
	if promised != nil {
		d = *promised
	}
	if t.Noise.Epsilon.Sign() > 0 {
		return mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: d.L1, Epsilon: t.Noise.Epsilon})
	}
	return mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: d.L2Squared, Rho: t.Noise.Rho})
}

// options are what Buckets depend on.
func (t *Task) options() (o prio.BucketOptions, err error) {
	o = prio.BucketOptions{Circuit: t.Circuit, Aggregators: len(t.Aggregators), Least: t.Least, Budget: t.Budget}
	if o.Distance, err = t.Noise.distance(); err == nil {
		o.Law, err = t.Law()
	}
	return o, err
}

var (
	memberName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)
	batchName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	hashName   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	randomName = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// Bounds of tasks. Each aggregator sends a message of every contribution to every other.
const (
	maxAggregators = 10
	maxTask        = 64 << 10
	maxClients     = 1000
	skew           = 5 * time.Minute // by which clocks may differ
)

// Check refuses a task that no aggregator should take part in.
func (t *Task) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("check task: %w: %s", ErrTask, fmt.Sprintf(format, args...))
	}
	members := slices.Concat(t.Aggregators, t.Clients, []string{t.Collector})
	slices.Sort(members)
	switch {
	case t.Version != Version:
		return bad("it is of another version of the protocol than %s", Version)
	case t.Name == "" || len(t.Name) > 200:
		return bad("its name is empty or long")
	case len(t.Aggregators) < 2 || len(t.Aggregators) > maxAggregators:
		return bad("want 2 to %d aggregators", maxAggregators)
	case len(t.Clients) < 1 || len(t.Clients) > maxClients:
		return bad("want 1 to %d clients", maxClients)
	case len(slices.Compact(members)) != len(t.Aggregators)+len(t.Clients)+1:
		return bad("a member has two roles") // an aggregator that collects has another's share, too
	case slices.ContainsFunc(members, func(m string) bool { return !memberName.MatchString(m) }):
		return bad("a member's name cannot be one")
	case t.Colluding < 0 || t.Colluding > 0 && t.Colluding > len(t.Aggregators)-2:
		return bad("noise in shares needs two honest aggregators: of %d at most %d may collude", len(t.Aggregators), max(0, len(t.Aggregators)-2))
	case t.Shares.Check() != nil || t.Shares != mechanism.ByGaussian && (t.Colluding == 0 || t.Noise.Rho.Sign() == 0):
		return bad("shares is %q, of the Gaussian noise of a rho where colluding says how many may, or is left out", mechanism.BySkellam)
	case !t.Begins.Before(t.Expires):
		return bad("it expires before it begins")
	}
	if _, err := prio.New(t.Circuit, len(t.Aggregators), nil); err != nil {
		return bad("%v", err)
	}
	o, err := t.options()
	if err == nil {
		err = o.Check()
	}
	if err != nil {
		return bad("%v", err)
	}
	return nil
}

// ErrTask is wrapped by the refusal of a task.
var ErrTask = errors.New("no such task")

// Encode returns the bytes of a task. They name it: who passes it on passes these on.
func (t *Task) Encode() ([]byte, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// ParseTask reads the bytes of a task and checks it.
func ParseTask(data []byte) (*Task, error) {
	if len(data) > maxTask {
		return nil, fmt.Errorf("read task: %w: it is too long", ErrTask)
	}
	var t Task
	if err := strict(data, &t); err != nil {
		return nil, fmt.Errorf("read task: %w: %w", ErrTask, err)
	}
	return &t, t.Check()
}

// Digest names a task by its bytes.
func Digest(task []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s task\n", Version)
	h.Write(task)
	return hex.EncodeToString(h.Sum(nil))
}

// strict reads one JSON value without unknown members, and nothing after it.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New("it is not the JSON of this message")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}
