package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/noise"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
)

// ward makes a ledger with a domain whose budget is large.
func ward(t *testing.T, measure, delta string) (path string) {
	t.Helper()
	return domain(t, measure, delta, "100000.0")
}

// domain makes a ledger with the domain ward and returns its path.
func domain(t *testing.T, measure, delta, epsilon string) (path string) {
	t.Helper()
	dir := t.TempDir()
	text := "[domains.ward]\nmeasure = \"" + measure + "\"\nepsilon = " + epsilon + "\n"
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

// Ten times a tenth is one, whoever asks, and an eleventh tenth is refused: a
// budget is not overspent by scripts that run at the same time.
func TestNoiseTogether(t *testing.T) {
	path := domain(t, "pure", "", "1.0")
	var answered, refused atomic.Int32
	var all sync.WaitGroup
	for range 14 {
		all.Go(func() {
			var out, talk bytes.Buffer
			code := Main(context.Background(), []string{"noise", "geometric", "--ledger", path, "--domain", "ward",
				"--sensitivity", "1", "--epsilon", "0.1", "--value", "42"}, nil, &out, &talk)
			switch {
			case code == diagnostic.ExitAnswered:
				answered.Add(1)
			case code == diagnostic.ExitBudget && out.Len() == 0 && strings.Contains(talk.String(), "epsilon 0.1, and epsilon 0 is left"):
				refused.Add(1)
			default:
				t.Errorf("exit code %d: %s%s", code, out.String(), talk.String())
			}
		})
	}
	all.Wait()
	if answered.Load() != 10 || refused.Load() != 4 {
		t.Errorf("%d answered and %d refused", answered.Load(), refused.Load())
	}
}

// A suspended domain releases nothing until its owner acknowledges it.
func TestNoiseSuspended(t *testing.T) {
	path := ward(t, "pure", "")
	l, err := ledger.Open(t.Context(), path, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Suspend(t.Context(), "ward", 0, "out of memory", time.Now()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	release := []string{"noise", "geometric", "--ledger", path, "--domain", "ward", "--sensitivity", "1", "--epsilon", "1", "--value", "42"}
	if out, talk := run(t, t.Context(), diagnostic.ExitRefused, release...); out != "" || !strings.Contains(talk, "error[D077]") {
		t.Errorf("said %q, %q", out, talk)
	}
	run(t, t.Context(), 0, "ledger", "acknowledge", "ward", "--ledger", path)
	run(t, t.Context(), 0, release...)
}

// Each answer of a run is there before the next query is given, so that a query
// may depend on it; the charge and that the run has begun are in the ledger by then.
func TestNoiseAnswersAsQueriesCome(t *testing.T) {
	path := ward(t, "pure", "")
	in, queries := io.Pipe()
	answers, out := io.Pipe()
	var talk bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- Main(t.Context(), []string{"noise", "sparse-vector", "--ledger", path, "--domain", "ward", "--count", "1",
			"--threshold", "1000", "--sensitivity", "1", "--epsilon", "1"}, in, out, &talk)
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	for i, test := range []struct{ query, want string }{{"0", "below"}, {"-1e9", "below"}, {"1e9", "above"}} {
		if _, err := io.WriteString(queries, test.query+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || lines.Text() != test.want {
			t.Fatalf("query %d: answered %q", i+1, lines.Text())
		}
		if out, _ := run(t, t.Context(), 0, "budget", "--ledger", path); !strings.Contains(out, "spent   epsilon 1\n") || strings.Contains(out, "no answer") {
			t.Errorf("after query %d the ledger says\n%s", i+1, out)
		}
	}
	if lines.Scan() {
		t.Errorf("after the last answer came %q", lines.Text())
	}
	if got := <-code; got != diagnostic.ExitAnswered {
		t.Errorf("exit code %d: %s", got, talk.String())
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
	for _, c := range noise.Command().Verbs {
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
				if Main(t.Context(), line, strings.NewReader(canary+"\n"+canary+"y\n"), &out, &talk) == diagnostic.ExitAnswered {
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
