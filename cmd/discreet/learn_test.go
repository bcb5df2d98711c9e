package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/privacy"
)

// people makes a table of people who were drawn for it: their age, hours, job, whether
// they are members, and an income that depends on all of it.
//
//	people FILE ROWS
func people(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: people FILE ROWS")
	}
	n := 0
	_, err := fmt.Sscan(args[1], &n)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(peopleCSV(n, 1)), 0o600))
}

func peopleCSV(n int, draw int64) string {
	r := rand.New(rand.NewSource(draw))
	var b strings.Builder
	b.WriteString("id,age,hours,job,member,pay,income,note\n")
	for i := range n {
		age, hours, job, member := 18+r.Intn(70), r.Intn(80), r.Intn(3), r.Intn(2) == 1
		score := 0.06*float64(age-50) + 0.08*float64(hours-40) + float64(job-1)
		if member {
			score++
		}
		income := "low"
		if score+r.NormFloat64() > 0 {
			income = "high"
		}
		fmt.Fprintf(&b, "%d,%d,%d,%s,%v,%.2f,%s,n%d\n", i/2, age, hours, []string{"clerk", "nurse", "judge"}[job], member, math.Max(0, 50+15*score), income, i)
	}
	return b.String()
}

const peopleCatalog = `
[domains.person]
measure = "approx"
epsilon = 6
delta = 1e-5
[tables.people]
source = "people.csv"
domain = "person"
unit = "row"
[tables.people.columns]
age    = { type = "integer", lower = 18, upper = 90 }
hours  = { type = "integer", lower = 0, upper = 80 }
job    = { type = "text", domain = ["clerk", "judge", "nurse"] }
member = { type = "boolean" }
income = { type = "text", domain = ["high", "low"] }
note   = { type = "text" }
`

// town is a folder with people, their catalog and a ledger.
func town(t *testing.T, n int) string {
	t.Helper()
	if engineName == noEngine {
		t.Skip("this build has no engine")
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"people.csv": peopleCSV(n, 1), "discreet.toml": peopleCatalog})
	run(t, t.Context(), 0, "ledger", "create", "--catalog", filepath.Join(dir, "discreet.toml"))
	return dir
}

func spent(t *testing.T, dir string) string {
	t.Helper()
	out, _ := run(t, t.Context(), 0, "budget", "--json", "--catalog", filepath.Join(dir, "discreet.toml"))
	var b struct {
		Domains []struct {
			Spent struct{ Epsilon, Delta json.Number }
		}
	}
	if err := json.Unmarshal([]byte(out), &b); err != nil || len(b.Domains) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return b.Domains[0].Spent.Epsilon.String() + " at " + b.Domains[0].Spent.Delta.String()
}

// In every measure, the noise is chosen so that a domain whose whole budget the target
// is admits the count and the run, by its own filter; and so that a hundredth less
// noise would not be admitted.
func TestCalibratedRunsFit(t *testing.T) {
	t.Parallel()
	for _, measure := range []filter.Measure{filter.Approx, filter.ZCDP, filter.RDP, filter.GDP, filter.Whitehouse} {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			for _, epsilon := range []string{"0.5", "3"} {
				target, delta := must(privacy.ParseEpsilon(epsilon)), must(privacy.ParseDelta("1e-5"))
				whole := filter.Budget{Measure: measure, Epsilon: target, Delta: delta, Neighbours: relation}
				if measure != filter.Approx {
					whole.SelectionDelta = must(privacy.ParseDelta("5e-6"))
				}
				y := payer{measure, relation, whole}
				r := recipe{target: target}
				var err error
				if r.delta, err = y.deltaFor(target); err != nil {
					t.Fatal(err)
				}
				r.complete("logistic", measure)
				count := must(counter(target, relation))
				p, err := y.calibrate(t.Context(), r.plan(4321, false, relation), target, []privacy.Event{count.Event()})
				if err != nil {
					t.Fatalf("%s: %v", measure, err)
				}
				f := must(filter.New(whole))
				within := func(multiplier float64) bool {
					p.Noise.Multiplier = multiplier
					event := must(p.Event())
					run := must(accountant.Guarantee(t.Context(), event, f, p.Delta, accountingOf(p)))
					return must(f.Charge([]privacy.Event{count.Event(), run}, p.Delta)).Within(f.Budget())
				}
				z := p.Noise.Multiplier
				if !within(z) {
					t.Errorf("%s, %v, epsilon %s: noise %v is not admitted", measure, relation, epsilon, z)
				}
				if within(0.99 * z) {
					t.Errorf("%s, %v, epsilon %s: noise %v is more than need be", measure, relation, epsilon, z)
				}
				p.Noise.Multiplier = z
				if g := must(p.Guarantee()); g.Epsilon > target.Float64() {
					t.Errorf("%s, %v: epsilon %v for a target of %s", measure, relation, g.Epsilon, epsilon)
				}
			}
		}
	}
}

// The same of other learners: what is charged is admitted by a budget that is the target,
// and not by one that is a fiftieth less.
func TestLearnersSpendTheirTarget(t *testing.T) {
	t.Parallel()
	form := (&modelData{Encoding: &example.Encoding{Columns: []example.Column{{Name: "age", Type: "double", Lower: 0, Upper: 120}},
		Target: &example.Column{Name: "ill", Type: "boolean"}}, Classes: []string{"false", "true"}}).form(false)
	for _, measure := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.RDP, filter.GDP, filter.Whitehouse} {
		for _, name := range [][2]string{{"tree", ""}, {"bayes", ""}, {"logistic", "objective"}, {"logistic", "output"}} {
			for _, epsilon := range []string{"0.5", "3"} {
				o := cost.Options{Epsilon: must(privacy.ParseEpsilon(epsilon))}
				whole := filter.Budget{Measure: measure, Epsilon: o.Epsilon}
				if measure != filter.Pure {
					whole.Delta = must(privacy.ParseDelta("1e-5"))
				}
				if measure == filter.Whitehouse {
					whole.SelectionDelta = must(privacy.ParseDelta("5e-6"))
				}
				y := payer{measure, privacy.AddRemove, whole}
				if measure != filter.Pure {
					o.Delta = must(y.deltaFor(o.Epsilon))
				}
				l, _ := learner.Find(name[0], name[1])
				c, err := y.choose(t.Context(), &l, form, learner.Settings{}, o)
				if err != nil {
					t.Fatalf("%s, %v: %v", measure, name, err)
				}
				admits := func(share *big.Rat) bool {
					target := must(privacy.NewEpsilon(share.Mul(share, o.Epsilon.Rat())))
					f := must(y.allowanceOf(cost.Options{Epsilon: target, Delta: o.Delta}))
					charge, err := f.Charge([]privacy.Event{c.whole}, o.Delta) // of rdp, one of a target so much less may need other orders
					return err == nil && charge.Within(f.Budget())
				}
				if !admits(big.NewRat(1, 1)) {
					t.Errorf("%s, %v, epsilon %s: %v is not admitted", measure, name, epsilon, c.whole)
				}
				if admits(big.NewRat(49, 50)) {
					t.Errorf("%s, %v, epsilon %s: %v is less than it might be", measure, name, epsilon, c.whole)
				}
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// With a noisy count the cost is the same for every count: it was reserved, in effect,
// before anything was counted. Of very many units a step sees a smaller share, which costs
// no more.
func TestCostIsKnownBeforeTheCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := recipe{target: must(privacy.ParseEpsilon("1")), delta: must(privacy.ParseDelta("1e-5")), noise: 2}
		r.complete(rapid.SampledFrom([]string{"logistic", "mlp", "cnn"}).Draw(t, "model"), rapid.SampledFrom([]string{filter.Approx, filter.ZCDP}).Draw(t, "measure"))
		units := rapid.Int64Range(1, 1_000_000).Draw(t, "units")
		a := r.plan(units, false, privacy.AddRemove)
		b := r.plan(100_000, false, privacy.AddRemove)
		x, y := must(a.Event()).String(), must(b.Event()).String()
		if thinned := units > r.thinned*r.sampling; thinned && (x == y || must(a.Guarantee()).Epsilon > must(b.Guarantee()).Epsilon) || !thinned && x != y {
			t.Fatalf("%s and %s", x, y)
		}
	})
}

// The area under the curve, against its definition.
func TestAreaUnder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []rank
		for range rapid.IntRange(0, 30).Draw(t, "examples") {
			all = append(all, rank{float64(rapid.IntRange(0, 5).Draw(t, "score")), rapid.Bool().Draw(t, "yes")})
		}
		var won, pairs float64
		for _, a := range all {
			for _, b := range all {
				if a.yes && !b.yes {
					pairs++
					switch {
					case a.score > b.score:
						won++
					case a.score == b.score:
						won += 0.5
					}
				}
			}
		}
		want, got := won/pairs, areaUnder(slices.Clone(all))
		if math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
			t.Fatalf("%v of %v, want %v", got, all, want)
		}
	})
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	set := &example.Set{Width: 1, Features: make([]float32, 4), Classes: 2, Outputs: 1, Labels: []int32{0, 1, 1, -1}}
	s := scorer{loss: network.Logistic, classes: 2}
	m := s.measure(set, []float32{-1, 2, -3, 9})
	if m.Examples != 4 || m.Unlabeled != 1 || *m.Accuracy != 2./3 || *m.AUC != 0.5 || fmt.Sprint(m.Confusion) != "[[1 0] [1 1]]" {
		t.Errorf("%+v", m)
	}
	if want := (math.Log1p(math.Exp(-1)) + math.Log1p(math.Exp(-2)) + math.Log1p(math.Exp(3))) / 3; math.Abs(m.Loss-want) > 1e-6 {
		t.Errorf("loss %v, want %v", m.Loss, want)
	}
	nan := float32(math.NaN())
	if p := (scorer{loss: network.CrossEntropy, classes: 3}).probabilities([]float32{nan, 1, 2}); fmt.Sprint(p) != "[0.3333333333333333 0.3333333333333333 0.3333333333333333]" {
		t.Errorf("scores that are no numbers: %v", p)
	}
	encoding := &example.Encoding{Target: &example.Column{Lower: 0, Upper: 10}}
	s = scorer{loss: network.Squared, encoding: encoding}
	set = &example.Set{Width: 1, Features: make([]float32, 3), Outputs: 1, Targets: []float32{-1, 1, nan}}
	if m := s.measure(set, []float32{-0.8, 0.6, 0}); math.Abs(*m.MAE-1.5) > 1e-6 || math.Abs(*m.RMSE-math.Sqrt((1+4)/2.)) > 1e-6 || m.Unlabeled != 1 {
		t.Errorf("%+v", m)
	}
}

// One unit, of at most k examples, moves the cells by k in all, whatever it has.
func TestCellsMoveByWhatAUnitHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scorer{loss: network.CrossEntropy, classes: rapid.IntRange(3, 6).Draw(t, "classes")}
		set := &example.Set{Width: 1, Classes: s.classes, Outputs: 1}
		var outputs []float32
		k := rapid.IntRange(0, 4).Draw(t, "examples of the unit")
		for range 5 + k {
			set.Features = append(set.Features, 0)
			set.Labels = append(set.Labels, int32(rapid.IntRange(-1, s.classes-1).Draw(t, "label")))
			for range s.classes {
				outputs = append(outputs, rapid.Float32().Draw(t, "score"))
			}
		}
		cells := func(n int) []int {
			part := *set
			part.Features, part.Labels = set.Features[:n], set.Labels[:n]
			counts := make([]int, s.cells())
			for _, row := range s.rows(&part, outputs) {
				counts[row]++
			}
			return counts
		}
		moved := 0
		with, without := cells(5+k), cells(5)
		for i := range with {
			moved += max(with[i]-without[i], without[i]-with[i])
		}
		if moved > k {
			t.Fatalf("%d examples move the counts by %d", k, moved)
		}
	})
}

// The interval holds the accuracy of every table that the noise may have hidden.
func TestConclude(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scorer{loss: network.CrossEntropy, classes: rapid.IntRange(2, 6).Draw(t, "classes")}
		m := &noisyMeasures{Within: rapid.Int64Range(0, 50).Draw(t, "within")}
		exact, noisy := make([]int64, s.cells()), make([]int64, s.cells())
		var right, all float64
		for i := range exact {
			exact[i] = rapid.Int64Range(0, 1000).Draw(t, "count")
			noisy[i] = exact[i] + rapid.Int64Range(-m.Within, m.Within).Draw(t, "noise")
			all += float64(exact[i])
			width := 2
			if s.matrix() {
				width = s.classes
			}
			if i%width == i/width {
				right += float64(exact[i])
			}
		}
		s.conclude(m, noisy)
		if all == 0 || m.Interval == nil || math.IsNaN(m.Interval[0]) || math.IsNaN(m.Interval[1]) {
			return
		}
		if accuracy := right / all; accuracy < m.Interval[0]-1e-12 || accuracy > m.Interval[1]+1e-12 {
			t.Fatalf("%v is not in %v", accuracy, *m.Interval)
		}
	})
}

// What is refused is refused in the same words for any two tables, and costs nothing.
func TestRefusalsDoNotDependOnRecords(t *testing.T) {
	for _, args := range [][]string{
		{"train", "--table", "people", "--target", "note", "--model", "logistic", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--columns", "age,note", "--model", "logistic", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--model", "linear", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--model", "cnn", "--target-epsilon", "1"},
		{"train", "--table", "people", "--target", "income", "--model", "logistic", "--target-epsilon", "1e-9"},
		{"train", "--table", "people", "--target", "income", "--model", "logistic", "--target-epsilon", "7"},
		{"train", "--table", "people", "--target", "income", "--model", "logistic", "--target-epsilon", "1", "--checkpoint", "nowhere/run"},
	} {
		var said []string
		for _, text := range []string{peopleCSV(300, 1), peopleCSV(500, 2), "id,age,hours,job,member,pay,income,note\n"} {
			dir := town(t, 0)
			t.Chdir(dir)
			writeFiles(t, dir, map[string]string{"people.csv": text})
			var out, talk bytes.Buffer
			code := Main(t.Context(), args, strings.NewReader(""), &out, &talk)
			words := out.String() + talk.String()
			if code == 0 {
				t.Fatalf("%v is not refused", args)
			}
			if got := spent(t, dir); got != "0 at 0" {
				t.Errorf("%v cost %s", args, got)
			}
			said = append(said, words)
		}
		if said[0] != said[1] || said[0] != said[2] {
			t.Errorf("%v says\n%s", args, strings.Join(said, "\n"))
		}
	}
}

// A run that is killed is paid for once: whoever resumes it pays nothing, and whoever
// resumes an old copy pays for what is done again. The ledger is whole throughout.
func TestKilledTraining(t *testing.T) {
	dir := town(t, 4000)
	catalog := []string{"--catalog", filepath.Join(dir, "discreet.toml")}
	args := append([]string{"train", "--table", "people", "--target", "income", "--model", "mlp", "--hidden", "32",
		"--target-epsilon", "1", "-n", "4000", "--sampling", "0.5", "--steps", "600", "--out", filepath.Join(dir, "m.model")}, catalog...)
	c := exec.Command("discreet", append(args, "--checkpoint", filepath.Join(dir, "run"))...)
	talk, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(talk)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "charged ") { // it trains
			break
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Fatal("it was done before it was killed")
	}
	paid := spent(t, dir)
	if !strings.Contains(paid, " at 0.00000166") || strings.HasPrefix(paid, "0 ") {
		t.Fatalf("spent %s", paid)
	}
	run(t, t.Context(), 0, append([]string{"ledger", "verify"}, catalog...)...)
	if _, err := os.Stat(filepath.Join(dir, "m.model")); err == nil {
		t.Error("a run that was killed has a model")
	}
	first, err := os.ReadFile(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}

	short := slices.Replace(slices.Clone(args), slices.Index(args, "600"), slices.Index(args, "600")+1, "601")
	said, _ := run(t, t.Context(), exitRefused, append(short, "--resume", filepath.Join(dir, "run"), "--json")...)
	if !strings.Contains(said, "is not the checkpoint's") {
		t.Errorf("another run goes on: %s", said)
	}
	_, said = run(t, t.Context(), 0, append(args, "--resume", filepath.Join(dir, "run"))...)
	if got := spent(t, dir); got != paid {
		t.Errorf("spent %s, and %s after it went on\n%s", paid, got, said)
	}
	run(t, t.Context(), 0, append([]string{"ledger", "verify"}, catalog...)...)
	run(t, t.Context(), 0, "model", "inspect", filepath.Join(dir, "m.model"))

	// Going on from the same state a second time is another release.
	writeFiles(t, dir, map[string]string{"again": string(first)})
	run(t, t.Context(), 0, append(args, "--resume", filepath.Join(dir, "again"))...)
	if got := spent(t, dir); got == paid {
		t.Error("a second continuation cost nothing")
	}
}

// A file that lacks a column, or whose labels are none, is refused before anything is
// charged, by every learner.
func TestWhatIsNotThereCostsNothing(t *testing.T) {
	dir := town(t, 10)
	images := "\x00\x00\x08\x03\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x08" + strings.Repeat("\x01", 64)
	writeFiles(t, dir, map[string]string{"images": images, "two": "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x02", "empty.csv": "", "drawn.csv": peopleCSV(10, 1)})
	t.Chdir(dir)
	for _, args := range [][]string{
		{"--csv", "drawn.csv", "--columns", "nowhere=0..1", "--target", "income=high|low"},
		{"--csv", "drawn.csv", "--columns", "age=0..99", "--target", "nowhere=high|low"},
		{"--csv", "drawn.csv", "--columns", "age=0..99", "--target", "income=high|low", "--unit", "nobody"},
		{"--csv", "empty.csv", "--columns", "age=0..99", "--target", "income=high|low"},
		{"--train-images", "images", "--train-labels", "two"},
		{"--train-images", "images", "--train-labels", "drawn.csv"},
	} {
		for _, model := range []string{"tree", "logistic"} {
			said, _ := run(t, t.Context(), exitRefused, append([]string{"train", "--json", "--model", model, "--target-epsilon", "1", "--domain", "person"}, args...)...)
			if !strings.Contains(said, "D161") {
				t.Errorf("%v: %s", args, said)
			}
			if got := spent(t, dir); got != "0 at 0" {
				t.Errorf("%v cost %s", args, got)
			}
		}
	}
}
