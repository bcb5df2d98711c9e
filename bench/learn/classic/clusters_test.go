package classic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/kmeans"
	"github.com/discreet-dp/discreet/noise"
)

// BenchmarkAdultClusters looks for 8 centers of six numbers of Adult under a pure
// epsilon, 15 times, and reports the mean share of the variance that they explain; and
// that of diffprivlib on the same (`bench/peers/setup clusters`), where it is installed.
//
// An encoded number has a second feature, which says that it is missing: points have
// twelve coordinates here, six of them 0, and six for diffprivlib.
func BenchmarkAdultClusters(b *testing.B) {
	number := func(name string, lower, upper float64) example.Column {
		return example.Column{Name: name, Type: "integer", Lower: lower, Upper: upper}
	}
	e := &example.Encoding{Columns: []example.Column{
		number("age", 17, 90), number("fnlwgt", 10_000, 1_500_000), number("education_num", 1, 16),
		number("capital_gain", 0, 99_999), number("capital_loss", 0, 4_356), number("hours_per_week", 1, 99),
	}}
	set, _ := data(b, e)
	lower, upper := make([]float64, set.Width), make([]float64, set.Width)
	for j := range lower {
		if lower[j], upper[j] = -1, 1; j%2 == 1 {
			lower[j] = 0
		}
	}
	const runs = 15
	for b.Loop() {
		for _, asked := range []float64{1, 0.1} {
			var shares []float64
			for range runs {
				m, err := kmeans.Train(b.Context(), noise.System(), purse(b, filter.Pure), set, kmeans.Options{
					Options: cost.Options{Epsilon: epsilon(b, asked)}, Clusters: 8, Norm: norm(e), Lower: lower, Upper: upper})
				if err != nil {
					b.Fatal(err)
				}
				shares = append(shares, apart(set, m.Centers))
			}
			mean, deviation := moments(shares)
			b.Logf("epsilon %v: %.3f ± %.3f", asked, mean, deviation)
		}
		peers := filepath.Join("..", "..", "peers")
		python := filepath.Join(peers, "venv-clusters", "bin", "python")
		if _, err := os.Stat(python); err != nil {
			b.Log("skip: diffprivlib is not installed (bench/peers/setup clusters)")
			continue
		}
		out, err := exec.Command(python, filepath.Join(peers, "clusters.py"), "--data", filepath.Join(os.Getenv("DISCREET_DATA"), "adult-train.csv")).Output()
		if err != nil {
			b.Fatalf("clusters.py: %v", err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			var row struct {
				Epsilon float64
				Shares  []float64
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				b.Fatal(err)
			}
			if row.Epsilon == 0 {
				b.Logf("scikit-learn, not private: %.3f", row.Shares[0])
				continue
			}
			mean, deviation := moments(row.Shares)
			b.Logf("diffprivlib, epsilon %v: %.3f ± %.3f", row.Epsilon, mean, deviation)
		}
	}
}

// apart is the share of the points' variance that centers leave nothing of.
func apart(set *example.Set, centers [][]float64) float64 {
	middle, left, total := average(set), 0.0, 0.0
	for i := range set.Len() {
		x := set.Features[i*set.Width : (i+1)*set.Width]
		least := math.Inf(1)
		for _, c := range centers {
			d := 0.0
			for j, v := range x {
				d += (float64(v) - c[j]) * (float64(v) - c[j])
			}
			least = min(least, d)
		}
		left, total = left+least, total+distance(x, middle)
	}
	return 1 - left/total
}
