package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// idxFile is an IDX file of bytes.
func idxFile(data []byte, dims ...int) string {
	head := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		head = binary.BigEndian.AppendUint32(head, uint32(d))
	}
	return string(append(head, data...))
}

// scribbles are n images of 8 by 8, of three classes that differ by a bar under much
// noise, and their labels.
func scribbles(n int, draw int64) (images, labels string) {
	r := rand.New(rand.NewSource(draw))
	var pixels, classes []byte
	for range n {
		class := r.Intn(3)
		for i := range 64 {
			p := r.Intn(200)
			if i/8 == 2*class+1 {
				p += 55
			}
			pixels = append(pixels, byte(p))
		}
		classes = append(classes, byte(class))
	}
	return idxFile(pixels, n, 8, 8), idxFile(classes, n)
}

// part cuts some images or labels out of a file of MNIST.
func part(t *testing.T, name string, from, n int) string {
	t.Helper()
	f, err := os.Open(filepath.Join(os.Getenv("DISCREET_DATA"), "mnist", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dims, size := []int{n}, 1
	head := make([]byte, 8)
	if strings.Contains(name, "images") {
		head, dims, size = make([]byte, 16), []int{n, 28, 28}, 28*28
	}
	if _, err := io.ReadFull(z, head); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, (from+n)*size)
	if _, err := io.ReadFull(z, data); err != nil {
		t.Fatal(err)
	}
	return idxFile(data[from*size:], dims...)
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// auditImages trains on images, by files alone, and attacks the model. Each step takes all of
// them: what a run of samples claims at eleven epsilons would take most of the time, and
// audit_model.txtar has one.
func auditImages(t *testing.T, members, others int, files map[string]string, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	at := func(name string) string { return filepath.Join(dir, name) }
	model := at("images.model")
	run(t, t.Context(), 0, append([]string{"train", "--train-images", at("images"), "--train-labels", at("labels"), "--out", model, "--steps", "20", "--target-epsilon", "4", "--sampling", "1"}, flags...)...)
	audit := []string{"audit", "model", "--model-file", model, "--images", at("images"), "--labels", at("labels"), "--others", at("others"), "--other-labels", at("other-labels")}
	out, _ := run(t, t.Context(), 0, append(audit, "--shadows", "4", "--json", "--plot", at("roc.svg"))...)
	var r struct {
		Private         bool
		Members, Others int
		Shadows         int
		Guarantee       struct{ Epsilon float64 }
		Bound           *struct{}
		Attacks         []struct {
			Attack  string
			AUC     float64
			Allowed []float64
			Rates   []struct{ TPR float64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !r.Private || r.Members != members || r.Others != others || r.Shadows != 4 || !(r.Guarantee.Epsilon > 3 && r.Guarantee.Epsilon <= 4) || r.Bound != nil {
		t.Errorf("%+v", r)
	}
	var names []string
	for _, a := range r.Attacks {
		names = append(names, a.Attack)
		if !(a.AUC >= 0 && a.AUC <= 1) || len(a.Rates) != 2 || len(a.Allowed) != 2 {
			t.Errorf("%+v", a)
		}
	}
	if got := strings.Join(names, " "); got != "loss calibrated lira-offline lira-online" {
		t.Errorf("attacks %q", got)
	}
	if drawn, err := os.ReadFile(at("roc.svg")); err != nil || !bytes.Contains(drawn, []byte("<svg")) {
		t.Errorf("no drawing: %v", err)
	}
	// The plain form, and figures of the model on images that nobody is in.
	out, _ = run(t, t.Context(), 0, audit...)
	if !strings.Contains(out, "not private") || !strings.Contains(out, " members, ") {
		t.Errorf("%s", out)
	}
	run(t, t.Context(), 0, "evaluate", "--model-file", model, "--images", at("others"), "--labels", at("other-labels"), "--public-data")
	// Sides that are not of one form, or are nobody, are refused, whatever is in them.
	for name, text := range map[string]string{
		"half": files["others"][:len(files["others"])/2], "empty": "", "none": idxFile(nil, 0, 8, 8), "narrow": idxFile(make([]byte, 20), 5, 2, 2), "no gzip": "\x1f\x8b\x08",
	} {
		writeFiles(t, dir, map[string]string{"odd": text, "odd-labels": idxFile(nil, 0)})
		_, said := run(t, t.Context(), diagnostic.ExitRefused, "audit", "model", "--model-file", model, "--images", at("images"), "--labels", at("labels"), "--others", at("odd"), "--other-labels", at("odd-labels"))
		if !strings.Contains(said, "D161") && !strings.Contains(said, "D132") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// audit model on IDX files, from the command line to the drawing.
func TestAuditModelOfImages(t *testing.T) {
	t.Parallel()
	images, labels := scribbles(300, 1)
	others, otherLabels := scribbles(150, 2)
	auditImages(t, 300, 150, map[string]string{"images": images, "labels": labels, "others": gzipped(t, others), "other-labels": gzipped(t, otherLabels)},
		"--classes", "3", "--model", "mlp", "--hidden", "8", "-n", "300")
}

// A linear model of scattering coefficients is trained, attacked and evaluated as any
// other, by both ways to it.
func TestAuditModelOfScatteredImages(t *testing.T) {
	t.Parallel()
	images, labels := scribbles(300, 1)
	others, otherLabels := scribbles(150, 2)
	files := map[string]string{"images": images, "labels": labels, "others": others, "other-labels": otherLabels}
	auditImages(t, 300, 150, files, "--classes", "3", "--model", "scatter", "-n", "300")
}

// The same on a part of MNIST, with DISCREET_SOAK.
func TestAuditModelOfMNIST(t *testing.T) {
	t.Parallel()
	if os.Getenv("DISCREET_SOAK") == "" {
		t.Skip("skip: TestAuditModelOfImages looks at drawn ones; DISCREET_SOAK=1 makes it")
	}
	if os.Getenv("DISCREET_DATA") == "" {
		t.Skip("skip: DISCREET_DATA is not set")
	}
	images, labels := "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
	auditImages(t, 300, 200, map[string]string{"images": part(t, images, 0, 300), "labels": part(t, labels, 0, 300),
		"others": part(t, images, 300, 200), "other-labels": part(t, labels, 300, 200)}, "--model", "logistic", "-n", "300")
}
