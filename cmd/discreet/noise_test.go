package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// ward makes a ledger with one large domain of a measure and returns its path.
func ward(t *testing.T, measure, delta string) (path string) {
	t.Helper()
	dir := t.TempDir()
	text := "[domains.ward]\nmeasure = \"" + measure + "\"\nepsilon = 100000.0\n"
	if delta != "" {
		text += "delta = " + delta + "\n"
	}
	catalog := filepath.Join(dir, "discreet.toml")
	if err := os.WriteFile(catalog, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, t.Context(), 0, "ledger", "create", "--catalog", catalog)
	return filepath.Join(dir, "discreet.ledger")
}

// Half of all Laplace noise is farther from 0 than ln 2 scales: of 1600 numbers, 80
// in each release, between 674 and 926, except with the probability 2.5e-10 that a
// fair coin falls outside. Of noise of half the scale it is a quarter, 400, and
// of twice the scale 1131: these pass with probability below 1e-25.
func TestNoiseIsThere(t *testing.T) {
	const releases, each, scale = 20, 80, 1000.0
	path := ward(t, "pure", "")
	for _, verb := range []string{"laplace", "geometric"} {
		far := map[float64]int{}
		for range releases {
			out, _ := run(t, t.Context(), 0, "noise", verb, "--ledger", path, "--domain", "ward",
				"--sensitivity", "1000", "--epsilon", "1", "--value", "0"+strings.Repeat(",0", each-1))
			for _, text := range strings.Fields(out) {
				x, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				for _, factor := range []float64{0.5, 1, 2} {
					if math.Abs(x*factor) > scale*math.Ln2 {
						far[factor]++
					}
				}
			}
		}
		accepted := func(n int) bool { return n >= 674 && n <= 926 }
		if !accepted(far[1]) {
			t.Errorf("%s: %d of %d numbers are farther off than half of them should be", verb, far[1], releases*each)
		}
		if accepted(far[0.5]) || accepted(far[2]) {
			t.Errorf("%s: noise of half or twice the scale passes: %v", verb, far)
		}
	}
}

// broken is a source of bits that fails.
type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errors.New("no bits for 815") }

// A release that ends between its charge and its answer, because the process is
// killed or there are no random bits, stays spent, and is not taken back by its
// idempotency key: the same request charges anew. The error repeats no cause,
// which might know the values.
func TestNoiseChargesFirst(t *testing.T) {
	path := ward(t, "pure", "")
	n := noising{command: geometricNoise(), domain: "ward"}
	n.ledgerPath, n.IdempotencyKey = path, "k"
	ctx := context.Background()
	defer n.close()
	p, err := n.population(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		epsilon, err := privacy.ParseEpsilon("0.25")
		if err != nil {
			t.Fatal(err)
		}
		m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		a := additive{noising: n}
		d, err := a.whole("geometric", "", m, []*big.Int{big.NewInt(815)}, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.release(ctx, p, d, broken{}); err == nil || strings.Contains(err.Error(), "815") {
			t.Fatalf("a release without bits ended with %v", err)
		}
		// What another process finds, as after a crash of this one.
		l, err := ledger.Open(ctx, path, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Balance(ctx, "ward")
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"0.25", "0.5"}[i]; b.Spent.Epsilon.String() != want || b.Uncommitted != int64(i+1) {
			t.Errorf("after failure %d: spent %v, want %s; %d without an answer", i+1, b.Spent.Epsilon, want, b.Uncommitted)
		}
		l.Close()
	}
}

// canary is a private value, of which the noise of these tests leaves 14 digits
// with probability below 1e-9.
const canary = "918273645546372819"

// Private values enter neither the ledger's files nor any error, whatever is
// wrong with the command line.
func TestNoiseNeverTellsValues(t *testing.T) {
	path := ward(t, "zcdp", "1e-6")
	in := filepath.Join(filepath.Dir(path), "values.txt")
	if err := os.WriteFile(in, []byte(canary+"\n"+canary+"x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	common := []string{"--ledger", path, "--domain", "ward"}
	answered := map[string]bool{}
	for _, c := range noiseCommand().Verbs {
		if !c.Private {
			continue
		}
		flags, ok := enough[c.Name()]
		if !ok {
			t.Errorf("the test knows no flags for %s", c.Name())
		}
		for _, args := range [][]string{
			{"--value", canary},
			{"--value", canary, "--json"},
			{"--value", canary + "," + canary + "x"},
			{"--value=" + canary + ".5.5"},
			{"--value", "-" + canary, "--key", "k"},
			{"--value", "nan" + canary},
			{"--value", "1", canary},
			{"--value", "1", "-" + canary},
			{"--value", "1", "-" + canary + "=" + canary},
			{"--vale=" + canary},
			{canary},
			{canary, "-"},
			{"-f", in},
			{"-f", in, "--json"},
			{"-f", in, "--value", canary},
			{"-"},
			{"--value", canary[:3]},
		} {
			for _, cost := range [][]string{
				{"--epsilon", "1e-3"}, {"--epsilon", "1e-3", "--delta", "1e-10"},
			} {
				line := slices.Concat([]string{"noise", c.Name()}, flags, cost, common, args)
				var out, talk bytes.Buffer
				if Main(t.Context(), line, strings.NewReader(canary+"\n"+canary+"y\n"), &out, &talk) == exitAnswered {
					answered[c.Name()] = true
				}
				if strings.Contains(out.String()+talk.String(), canary[:14]) {
					t.Errorf("discreet %s\n%s%s", strings.Join(line, " "), out.String(), talk.String())
				}
			}
		}
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(canary[:14])) {
			t.Errorf("%s knows a private value", f)
		}
	}
	for name := range enough {
		if !answered[name] && !strings.Contains("above-threshold sparse-vector randomized-response", name) {
			t.Errorf("%s made no release: the test shows nothing", name)
		}
	}
}

// enough are flags that make each mechanism ready but for the cost, with noise
// that hides the canary.
var enough = map[string][]string{
	"laplace":              {"--sensitivity", "1e18"},
	"gaussian":             {"--sensitivity", "1e18"},
	"geometric":            {"--sensitivity", "1e18"},
	"discrete-gaussian":    {"--sensitivity", "1e18"},
	"exponential":          {"--sensitivity", "1"},
	"permute-and-flip":     {"--sensitivity", "1"},
	"noisy-max":            {"--sensitivity", "1"},
	"top-k":                {"--sensitivity", "1", "--k", "1"},
	"above-threshold":      {"--sensitivity", "1", "--threshold", "1e30", "--gap"},
	"sparse-vector":        {"--sensitivity", "1", "--threshold", "1e30", "--count", "2", "--numeric"},
	"randomized-response":  {"--truth", "0.75"},
	"quantile":             {"--lower", "0", "--upper", "10", "--step", "1"},
	"histogram":            {"--bins", "a,b"},
	"stability-histogram":  {},
	"smooth-median":        {"--lower", "0", "--upper", "10", "--step", "1"},
	"propose-test-release": {"--lower", "0", "--upper", "10", "--step", "1", "--bound", "1"},
	"sample-and-aggregate": {"--lower", "0", "--upper", "10", "--step", "1", "--of", "mean", "--blocks", "3"},
	"mwem":                 {"--edges", "0,1,2", "--rounds", "2"},
}
