package accounting

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant"
)

var peers = flag.Bool("peers", false, "compare with the libraries that bench/peers/setup installs")

// plans are the thirty of the table: the grid of training runs, and what other
// libraries find hard.
func plans() []string {
	return append(training(),
		"gaussian(1)",
		"1000 * laplace(40)",
		"100 * pure(0.1)",
		"500 * discrete_laplace(20)",
		"300 * discrete_gaussian(20)",
		"2249 * poisson(0.04, gaussian(1.5))",
		"200 * poisson(0.01, laplace(1))",
		"1000000 * poisson(0.0001, gaussian(0.8))",
		"100 * poisson(0.01, gaussian(0.25))",
		different(100),
	)
}

// A reply is what a library says, or why it says nothing.
type reply struct {
	Epsilon *float64 `json:"epsilon"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Error   string   `json:"error"`
	Seconds float64  `json:"seconds"`
}

// TestPeers prints the table of bench/RESULTS.md.
func TestPeers(t *testing.T) {
	if !*peers {
		t.Skip("a measurement, made with -peers")
	}
	const python = "../peers/venv/bin/python"
	if _, err := os.Stat(python); err != nil {
		t.Skip("bench/peers/setup has not been run, or could not install: ", err)
	}
	c := exec.Command(python, "../peers/accounting.py")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	ask := func(request map[string]any) (r reply) {
		if err := json.NewEncoder(in).Encode(request); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatal("the peers' process ended: ", lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}

	const delta = 1e-5
	libraries := []string{"dp_accounting pld", "prv_accountant", "dp_accounting rdp", "autodp"}
	ratios := map[string][]float64{}
	fmt.Printf("| plan | Discreet | %s |\n|%s\n", strings.Join(libraries, " | "), strings.Repeat("---|", len(libraries)+2))
	for _, text := range plans() {
		e := parse(t, text)
		own, took := pld(t, e, delta)
		for range 4 { // the first run warms up; the best of five is the program's own time
			_, again := pld(t, e, delta)
			took = min(took, again)
		}
		cells := []string{shorten(text), fmt.Sprintf("%.6g to %.6g, %s", own.Low, own.High, milliseconds(took))}
		for _, library := range libraries {
			r := ask(map[string]any{"library": library, "plan": json.RawMessage(mustJSON(t, e)), "delta": delta, "limit_s": 20,
				"eps_error": max(0.0005*own.Estimate, 5e-7)}) // half the width that Discreet promises
			cells = append(cells, r.text(own))
			if r.Error == "" {
				ratios[library] = append(ratios[library], r.Seconds/took.Seconds())
			}
		}
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Println()
	for _, library := range libraries {
		if r := ratios[library]; len(r) > 0 {
			slices.Sort(r)
			fmt.Printf("%s takes %.0f times as long in the median of %d plans (least %.1f, most %.0f)\n", library, r[len(r)/2], len(r), r[0], r[len(r)-1])
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// text is a cell of the table. A peer's guarantee is its upper bound where it
// has one; one below our certified lower bound promises too much.
func (r reply) text(own accountant.Bracket) string {
	if r.Error != "" {
		return r.Error
	}
	if r.Epsilon == nil {
		return fmt.Sprintf("not finite, %.3g s", r.Seconds)
	}
	bound := *r.Epsilon
	if r.High != nil {
		bound = *r.High
	}
	verdict := ""
	if bound < own.Low*(1-1e-9) { // not by rounding
		verdict = " **optimistic**"
	}
	if r.High != nil {
		return fmt.Sprintf("%.6g to %.6g%s, %.3g s", *r.Low, *r.High, verdict, r.Seconds)
	}
	return fmt.Sprintf("%.6g%s, %.3g s", bound, verdict, r.Seconds)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1e3)
}

func shorten(s string) string {
	if len(s) > 60 {
		return s[:40] + " ..."
	}
	return s
}
