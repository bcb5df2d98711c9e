package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// A model whose scores are nearly all the same, at one limit or the other, proves
// nothing of its training, though members are read before the others. The audit is wrong
// with probability 1e-10, and the test with it; ties by place had an epsilon above 0
// with probability all but 1 (600 free guesses of 1,400). Each step takes all records: of a
// run of samples the claim would take most of the time.
func TestAuditModelOfTies(t *testing.T) {
	t.Parallel()
	const records = 800
	random := rand.New(rand.NewPCG(1, 2))
	var csv strings.Builder
	csv.WriteString("x,y\n")
	for i := range records {
		fmt.Fprintf(&csv, "%d,%c\n", i, "ab"[max(0, random.IntN(50)-48)])
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"ties.csv": csv.String()})
	data, model := filepath.Join(dir, "ties.csv"), filepath.Join(dir, "ties.model")
	run(t, t.Context(), 0, "train", "--csv", data, "--columns", fmt.Sprintf("x=0..%d", records), "--target", "y=a|b", "--model", "logistic", "--bins", "0",
		"--target-epsilon", "0.1", "--holdout", "0.5", "-n", "400", "--steps", "20", "--sampling", "1", "--rate", "1e30", "--optimizer", "sgd", "--out", model)
	out, _ := run(t, t.Context(), 0, "audit", "model", "--model-file", model, "--csv", data, "--confidence", "0.9999999999", "--json")
	var r struct {
		Bound *struct {
			Guesses, Correct int
			Epsilon, Mu      float64
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Bound == nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r.Bound.Guesses < records/2 || r.Bound.Epsilon > 0 || r.Bound.Mu > 0 {
		t.Errorf("%+v", *r.Bound)
	}
}
