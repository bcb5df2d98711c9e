package cli

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/learn"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy/plan"

	learning "github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// For every learner and every measure: a model is trained as anybody would, its file is
// read, and all that the file says was released is accounted for anew.
//
//   - The certificate is no less than what is certain of all these events together, and no
//     less than what accountants certify but for the width of their grids.
//   - The ledger was charged no less for them than they cost.
//   - It was charged no more than that but for a thousandth. (The count and the run are two
//     charges: the run is planned once the count is known.)
//
// Every way is run with approx, and with a sixth of the other measures; a third of them also with
// a number of records that is public. With DISCREET_SOAK, all.
//
// Without the count in the certificate, with a charge of epsilon 1 for noise that has 0.915,
// or with divergences charged at another order than the domain's, it fails.
func TestCertificates(t *testing.T) {
	t.Parallel()
	type way struct{ model, method string }
	var ways []way
	for _, m := range learn.Models {
		ways = append(ways, way{m, ""})
	}
	for _, l := range learner.All() {
		ways = append(ways, way{l.Model, l.Method})
	}
	soak := os.Getenv("DISCREET_SOAK") != ""
	measures := []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.RDP, filter.GDP, filter.Whitehouse}
	for i, w := range ways {
		t.Run(strings.TrimSuffix(w.model+"-"+cmp.Or(w.method, "x"), "-x"), func(t *testing.T) {
			t.Parallel()
			ran := 0
			for k, measure := range measures {
				if !soak && (i+k)%6 != 0 && measure != filter.Approx {
					continue
				}
				relation := privacy.Neighbours((i + k) % 2)
				for _, counted := range []bool{true, false} {
					if !counted && (measure != filter.Approx || testing.Short() || !soak && i%3 > 0) {
						continue
					}
					name := fmt.Sprintf("%s, %v, counted %v", measure, relation, counted)
					side := 8
					if w.model == "cnn" { // takes no smaller images
						side = 16
					}
					dir := certified(t, measure, relation, side)
					args := []string{"train", "--catalog", filepath.Join(dir, "discreet.toml"), "--domain", "person", "--target-epsilon", "2", "--model", w.model, "--out", filepath.Join(dir, "m.model")}
					args = append(args, examplesOf(t, dir, w.model, w.method)...)
					if !counted {
						args = append(args, "-n", "750")
					}
					var out, said bytes.Buffer
					if code := Main(t.Context(), args, strings.NewReader(""), &out, &said); code != 0 {
						if l, ok := learner.Find(w.model, w.method); measure == filter.Pure && !ok || counted && ok && strings.Contains(said.String(), "--"+l.Model) {
							continue // Gaussian noise
						}
						t.Fatalf("%s: exit code %d\n%s", name, code, said.String())
					}
					ran++
					certify(t, name, dir)
				}
			}
			if ran == 0 {
				t.Error("no measure has it")
			}
		})
	}
}

// certified is a folder with 750 records, as many square images, and a domain that pays for them. A
// noisy count of scale 25 at most finds none of 750 with probability 5e-14: in one of the
// forty of this test with 2e-12.
func certified(t *testing.T, measure filter.Measure, relation privacy.Neighbours, side int) string {
	t.Helper()
	if workplace.EngineName == workplace.NoEngine {
		t.Skip("this build has no engine")
	}
	dir := t.TempDir()
	delta := "delta = 1e-5\n"
	if measure == filter.Pure {
		delta = ""
	}
	images, labels := binary.BigEndian.AppendUint32(nil, 0x803), binary.BigEndian.AppendUint32(nil, 0x801)
	for _, n := range []uint32{750, uint32(side), uint32(side)} {
		images = binary.BigEndian.AppendUint32(images, n)
	}
	labels = binary.BigEndian.AppendUint32(labels, 750)
	for i := range 750 {
		for j := range side * side {
			images = append(images, byte(i*j))
		}
		labels = append(labels, byte(i%2))
	}
	writeFiles(t, dir, map[string]string{
		"people.csv": clitest.PeopleCSV(1, 1), "more.csv": clitest.PeopleCSV(750, 2), "images": string(images), "labels": string(labels), "own/discreet.toml": fmt.Sprintf(`
[domains.person]
measure = %q
neighbours = %q
epsilon = 4
%s[tables.people]
source = "../people.csv"
domain = "person"
unit = "row"
[tables.people.columns]
age = { type = "integer", lower = 18, upper = 90 }
`, measure, relation, delta)})
	dir = filepath.Join(dir, "own")
	run(t, t.Context(), 0, "ledger", "create", "--catalog", filepath.Join(dir, "discreet.toml"))
	return dir
}

// examplesOf are the flags of examples for a learner, and what makes it fast.
func examplesOf(t *testing.T, dir, model, method string) []string {
	t.Helper()
	dir = filepath.Dir(dir)
	if model == "cnn" || model == input.Scattered {
		args := []string{"--train-images", filepath.Join(dir, "images"), "--train-labels", filepath.Join(dir, "labels"), "--classes", "2", "--steps", "3"}
		if method != "" {
			args = append(args, "--method", method)
		}
		return args
	}
	args := []string{"--csv", filepath.Join(dir, "more.csv"), "--columns", "age=18..90,hours=0..80,job=clerk|nurse|judge"}
	l, ok := learner.Find(model, method)
	switch {
	case ok && l.Predicts == learner.Nothing:
	case model == "linear":
		args = append(args, "--target", "pay=0..100")
	default:
		args = append(args, "--target", "member=boolean")
	}
	if method != "" {
		args = append(args, "--method", method)
	}
	if !ok || slices.Contains(l.Settings, "steps") {
		args = append(args, "--steps", "5")
	}
	if slices.Contains(l.Settings, "rounds") {
		args = append(args, "--rounds", "2")
	}
	return args
}

// certify reads a model's file and the ledger beside it.
func certify(t *testing.T, name, dir string) {
	t.Helper()
	m := clitest.Must(learning.ReadModel(filepath.Join(dir, "m.model")))
	c := m.Certificate
	g := c.Guarantee
	b := clitest.Must(ledger.Open(t.Context(), filepath.Join(dir, "discreet.ledger"), ledger.Options{}))
	defer b.Close()
	balance := clitest.Must(b.Balance(t.Context(), "person"))
	f := clitest.Must(filter.New(filter.Budget{Measure: balance.Measure, Epsilon: balance.Epsilon, Delta: balance.Delta, SelectionDelta: balance.SelectionDelta, Neighbours: balance.Neighbours}))
	o := accountant.Options{Neighbours: balance.Neighbours}
	if g.Neighbours != o.Neighbours || c.Data.Public {
		t.Fatalf("%s: the certificate is for %v", name, g.Neighbours)
	}

	// Everything that was released, in parts that were charged each as one.
	var count, run []privacy.Event
	slip, delta := new(big.Rat), g.Delta.Rat()
	if c.Method == "dp-sgd" {
		var p learning.Plan
		if err := json.Unmarshal(c.Plan, &p); err != nil {
			t.Fatal(err)
		}
		run, delta = append(run, clitest.Must(p.Event())), p.Delta.Rat()
		if p.Population.Basis == learning.NoisyCount {
			if c.Data.Count == "" || p.Population.Count != c.Data.Count {
				t.Fatalf("%s: %d units are a noisy count, of which the file says %q", name, p.Population.Units, c.Data.Count)
			}
			count = append(count, clitest.Must(clitest.Must(plan.Parse(c.Data.Count)).Event()))
		}
		slip.SetFloat64(c.Limit.Delta)
	} else {
		var p learn.LearnedPlan
		if err := json.Unmarshal(c.Plan, &p); err != nil {
			t.Fatal(err)
		}
		for _, text := range p.Events {
			e := clitest.Must(clitest.Must(plan.Parse(text)).Event())
			if o.Neighbours == privacy.ReplaceOne {
				e = privacy.Under{Neighbours: o.Neighbours, Event: e}
			}
			run = append(run, e)
		}
	}
	joint := append(slices.Clone(count), run...)
	if slip.Sign() > 0 {
		joint = append(joint, privacy.Approx{Delta: clitest.Must(privacy.NewDelta(slip))})
	}

	// What the certificate says of them.
	report, err := accountant.Epsilon(t.Context(), privacy.Sum{Events: joint}, g.Delta.Float64(), o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	best, ok := report.Best()
	if !ok || best.Epsilon.Low > g.Epsilon*(1+1e-12) {
		t.Errorf("%s: of %v accountants say epsilon %+v at least, the certificate %v at delta %v", name, privacy.Sum{Events: joint}, best.Epsilon, g.Epsilon, g.Delta)
	}
	// The certificate of another learner may have a theorem that no accountant has.
	if best.Epsilon.High > g.Epsilon*(1+1e-3) || g.Epsilon > best.Epsilon.High*(1+1e-3) {
		t.Errorf("%s: of %v accountants say epsilon %v at most, the certificate %v (%s) at delta %v", name, privacy.Sum{Events: joint}, best.Epsilon.High, g.Epsilon, g.Accountant, g.Delta)
	}

	// What the ledger was charged for them.
	loss, deltas := new(big.Rat), new(big.Rat)
	for _, part := range [][]privacy.Event{count, run} {
		if part == nil {
			continue
		}
		cost := least(t, part, f, delta)
		loss.Add(loss, cost.Loss.Rat())
		deltas.Add(deltas, cost.Delta.Rat())
	}
	deltas.Add(deltas, slip)
	spent := balance.Spent.Total(balance.Measure)
	ratio, _ := new(big.Rat).Quo(spent.Loss.Rat(), loss).Float64()
	if ratio < 1-1e-6 || ratio > 1+1e-3 {
		t.Errorf("%s: charged %v, where %v costs %s", name, balance.Spent.In(balance.Measure), privacy.Sum{Events: joint}, numeric.FormatRat(numeric.CeilDigits(loss, 12)))
	}
	if most := new(big.Rat).Mul(deltas, big.NewRat(1001, 1000)); spent.Delta.Rat().Cmp(new(big.Rat).Mul(deltas, big.NewRat(999, 1000))) < 0 || spent.Delta.Rat().Cmp(most) > 0 {
		t.Errorf("%s: charged %v, where the deltas add up to %v", name, balance.Spent.In(balance.Measure), deltas.FloatString(20))
	}
}

// least is what events that are fixed together cost a filter: in its own terms, or by the
// better of an accountant and the filter's conversion.
func least(t *testing.T, events []privacy.Event, f filter.Filter, delta *big.Rat) filter.Total {
	t.Helper()
	d := clitest.Must(privacy.NewDelta(delta))
	direct, err := f.Charge(events, d)
	sum := privacy.Event(privacy.Sum{Events: events})
	e, failed := accountant.Guarantee(t.Context(), sum, f, d, accountant.Options{Neighbours: f.Neighbours()})
	if failed != nil {
		if err != nil {
			t.Fatalf("%v: %v, %v", events, err, failed)
		}
		return direct
	}
	cost := clitest.Must(f.Charge([]privacy.Event{e}, d))
	// A plan's own events are doubled under replace-one by the accountant alone.
	doubled := f.Neighbours() == privacy.AddRemove || !slices.ContainsFunc(events, func(e privacy.Event) bool { _, ok := e.(privacy.Under); return !ok })
	if err == nil && doubled && direct.Loss.Rat().Cmp(cost.Loss.Rat()) < 0 {
		return direct
	}
	return cost
}
