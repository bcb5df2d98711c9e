package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// What cannot be scattered is refused before anything is read or charged. DP-FTRL
// learns from coefficients as DP-SGD does.
func TestScatterFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	images, labels := scribbles(120, 3)
	writeFiles(t, dir, map[string]string{
		"images": images, "labels": labels, "small": idxFile(make([]byte, 49*3), 3, 7, 7), "three": idxFile(make([]byte, 3), 3), "people.csv": clitest.PeopleCSV(20, 1),
		"discreet.toml": "[domains.person]\nmeasure = \"zcdp\"\nepsilon = 3\ndelta = 1e-5\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	pays := []string{"--catalog", at("discreet.toml"), "--domain", "person", "--target-epsilon", "2", "--model", "scatter", "--out", at("m")}
	run(t, t.Context(), 0, "ledger", "create", "--catalog", at("discreet.toml"))
	for _, wrong := range [][]string{
		{"--train-images", at("small"), "--train-labels", at("three")},
		{"--train-images", at("images"), "--train-labels", at("labels"), "--hidden", "8"},
		{"--csv", at("people.csv"), "--columns", "age=18..90", "--target", "income=low|high"},
	} {
		_, talk := run(t, t.Context(), diagnostic.ExitRefused, append(append([]string{"train"}, wrong...), pays...)...)
		if !strings.Contains(talk, "D163") || !strings.HasPrefix(spent(t, dir), "0 ") {
			t.Errorf("%v: spent %s: %s", wrong, spent(t, dir), talk)
		}
	}
	train := append([]string{"train", "--train-images", at("images"), "--train-labels", at("labels"), "--classes", "3", "--method", "dp-ftrl", "-n", "120"}, pays...)
	run(t, t.Context(), 0, train...)
	if text, _ := run(t, t.Context(), 0, "model", "inspect", at("m")); !strings.Contains(text, "normalized image by image in 27 groups") {
		t.Errorf("%s", text)
	}
	text, _ := run(t, t.Context(), 0, "predict", "--model-file", at("m"), "--images", at("images"))
	if lines := strings.Count(text, "\n"); lines != 121 {
		t.Errorf("%d lines: %s", lines, text)
	}
	// The features of an image depend on no other: alone it is predicted as among all.
	writeFiles(t, dir, map[string]string{"one": idxFile([]byte(images[16+64*7:16+64*8]), 1, 8, 8)})
	one, _ := run(t, t.Context(), 0, "predict", "--model-file", at("m"), "--images", at("one"))
	alone, among := strings.TrimPrefix(strings.Split(one, "\n")[1], "0,"), strings.TrimPrefix(strings.Split(text, "\n")[8], "7,")
	if alone != among {
		t.Errorf("alone %s, among others %s", alone, among)
	}
}
