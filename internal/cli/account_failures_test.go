package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// What other libraries' users reported as failures, tried here: each answers, with
// a figure between two bounds. bench/RESULTS.md lists the outcomes.
func TestFailuresOfOthers(t *testing.T) {
	for _, tc := range []struct {
		reported string
		args     []string
		path     string
		lo, hi   float64
	}{
		{"dpsynth#71: 75 GB and 45 min to calibrate at a small epsilon", []string{"calibrate", "gaussian(?)", "--epsilon", "0.01", "--delta", "1e-9"}, "value", 458.508, 458.509},
		{"dpsynth#71, subsampled", []string{"calibrate", "1000*poisson(0.01, gaussian(?))", "--epsilon", "0.01", "--delta", "1e-9"}, "value", 145.06, 145.07},
		{"opacus#602: overflow, then out of memory", []string{"gaussian(0.05)", "--delta", "1e-6"}, "best.epsilon.high", 294.17, 294.18},
		{"Safe-Synthesizer#351: hangs for little noise", []string{"100*poisson(0.01, gaussian(0.2))", "--delta", "1e-5"}, "best.epsilon.high", 50, 120},
		{"prv_accountant#36: means differ above epsilon 7", []string{"10000*poisson(0.01, gaussian(0.7))", "--delta", "1e-5"}, "best.epsilon.high", 14.3347, 14.3349},
		{"prv_accountant#17: a jump at delta 1.1e-18", []string{"1000*poisson(0.001, gaussian(1))", "--delta", "1.1e-18"}, "best.epsilon.high", 2.205, 2.206},
		{"prv_accountant#17: and beyond", []string{"1000*poisson(0.001, gaussian(1))", "--delta", "1.13e-18"}, "best.epsilon.high", 2.203, 2.206},
		{"opacus#604: epsilon above 10 not reachable", []string{"calibrate", "1000*poisson(0.01, gaussian(?))", "--epsilon", "50", "--delta", "1e-5"}, "value", 0.3333, 0.3335},
		{"tensorflow/privacy#166: epsilon 0 at an order near 1", []string{"100*poisson(0.01, gaussian(1))", "--delta", "1e-5", "--accountant", "rdp", "--orders", "1.00000001"}, "best.epsilon.high", 1e9, 2e9},
		{"dp_accounting: the fractional series does not converge", []string{"100*poisson(0.5, gaussian(0.3))", "--delta", "1e-5", "--accountant", "rdp", "--orders", "1.1,1.5"}, "best.epsilon.high", 380, 403},
		{"dp_accounting: 6.7058e-4, terms added without their signs", []string{"curve", "50*poisson(0.01, gaussian(2.5))", "--over", "order", "--orders", "1.5"}, "lines.0.points.0.1", 6.5007e-4, 6.5008e-4},
		{"autodp#34: composed subsampled Laplace breaks", []string{"500*poisson(0.01, laplace(1))", "--delta", "1e-6"}, "best.epsilon.high", 0.8921, 0.8926},
		{"opacus, tensorflow: the central limit theorem's 6.5998 for a truth of 6.7670", []string{"2249*poisson(0.04, gaussian(1.5))", "--delta", "1e-5"}, "best.epsilon.low", 6.7670, 6.7671},
		{"dpcreator#473: eight eighths exceed one", []string{"runs", "pure(1/8)", "--filter", "pure", "--epsilon", "1"}, "admitted", 8, 8},
		{"opendp#2911: permute-and-flip as if its range were bounded", []string{"permute_and_flip(1)", "--delta", "1e-6", "--accountant", "zcdp"}, "best.epsilon.high", 1, 6},
		{"opendp#2909: filters as slow as their past is long", []string{"runs", "pure(1e-9)", "--filter", "whitehouse", "--epsilon", "1", "--delta", "1e-6"}, "admitted", 3e16, 4e16},
		{"an endless search near a heavy tail, ours", []string{"3*poisson(0.0582, discrete_gaussian(3.93))", "--epsilon", "0.00871"}, "best.delta.high", 0.0067, 0.0069},
		{"an endless search between two lattices, ours", []string{"poisson(0.0401, discrete_gaussian(2.6)) + poisson(0.00132, gaussian(0.614))", "--delta", "3.47e-8"}, "best.epsilon.high", 0.1, 3},
		{"gigabytes for fractional orders of little noise, ours", []string{"3*poisson(0.5, gaussian(0.001))", "--delta", "1e-8"}, "best.epsilon.high", 1e6, 1e7},
		{"smartnoise-sdk#621: advanced composition without its logarithm", []string{"350*pure(0.5)", "--delta", "0.1", "--accountant", "advanced"}, "best.epsilon.high", 62.9344, 62.9345},
	} {
		t.Run(tc.reported, func(t *testing.T) {
			t.Parallel()
			out, code := runAccount(t, append(tc.args, "--json")...)
			if code != diagnostic.ExitAnswered {
				t.Fatal(out)
			}
			var got any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			for step := range strings.SplitSeq(tc.path, ".") {
				if i, err := strconv.Atoi(step); err == nil {
					got = got.([]any)[i]
				} else {
					got = got.(map[string]any)[step]
				}
			}
			if x, ok := got.(float64); !ok || x < tc.lo || x > tc.hi {
				t.Errorf("%v: got %v, want %v to %v", tc.args, got, tc.lo, tc.hi)
			}
		})
	}
}
