//go:build unix

package local

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

var peers = flag.Bool("peers", false, "compare with the libraries that bench/peers/setup local installs")

// processor is the processor time of this process so far.
func processor(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestPeers prints the table of bench/RESULTS.md: microseconds of processor time a report, and
// to count one, at epsilon 1, and how many times as long others take. The estimates, which are
// made once, are timed apart: others' counts are without them, but for multi-freq-ldpy's.
func TestPeers(t *testing.T) {
	if !*peers {
		t.Skip("a measurement, made with -peers")
	}
	const python = "../peers/venv-local/bin/python"
	if _, err := os.Stat(python); err != nil {
		t.Skip("bench/peers/setup local has not been run, or could not install: ", err)
	}
	c := exec.Command(python, "../peers/local.py")
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]float64{}
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	libraries := []string{"multi-freq-ldpy", "pure-LDP", "OpenDP"}
	fmt.Println("| | discreet | multi-freq-ldpy | pure-LDP | OpenDP |\n|---|---|---|---|---|")
	for _, o := range []local.FrequencyOptions{
		{Protocol: local.GRR, Values: 100}, {Protocol: local.OUE, Values: 1000}, {Protocol: local.SUE, Values: 1000},
		{Protocol: local.OLH, Values: 1000}, {Protocol: local.Hadamard, Values: 1000},
	} {
		o.Epsilon = epsilon
		f, err := local.NewFrequency(o)
		if err != nil {
			t.Fatal(err)
		}
		const n = 200_000
		reports := make([]local.Report, n)
		bits := noise.NewStream(noise.System())
		start := processor(t)
		for i := range reports {
			if reports[i], err = f.Randomize(bits, i%o.Values); err != nil {
				t.Fatal(err)
			}
		}
		reported := processor(t)
		tally := f.NewTally()
		for _, r := range reports {
			if err := tally.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		counted := processor(t)
		if _, err := tally.Estimate(local.EstimateOptions{}); err != nil {
			t.Fatal(err)
		}
		estimated := processor(t) - counted
		for i, what := range []string{"report", "count"} {
			took := []time.Duration{reported - start, counted - reported}[i]
			ours := took.Seconds() / n * 1e6
			line := fmt.Sprintf("| `%s`, %d values, a %s | %s |", o.Protocol, o.Values, what, short(ours))
			for _, library := range libraries {
				x, ok := theirs[library+" "+string(o.Protocol)+" "+what]
				if !ok {
					line += " |"
					continue
				}
				line += fmt.Sprintf(" %s (%s times) |", short(x), short(x/ours))
			}
			fmt.Println(line)
		}
		fmt.Printf("estimates of %d values with intervals, once: %v\n", o.Values, estimated)
	}
}

// short has two digits, and no exponent.
func short(x float64) string {
	decimals := 0
	if x < 10 {
		decimals = 1
	}
	if x < 1 {
		decimals = 2
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
