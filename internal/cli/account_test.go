package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/account"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// account runs discreet account and returns its standard output, and its exit code.
func runAccount(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, talk bytes.Buffer
	code := Main(context.Background(), append([]string{"account"}, args...), strings.NewReader(""), &out, &talk)
	if code == diagnostic.ExitAnswered {
		return out.String(), code
	}
	return out.String() + talk.String(), code
}

// Figures that others published or that were computed independently, each with its
// source, come out of the command.
func TestAccountVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/account.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		ID        string   `json:"id"`
		Args      []string `json:"args"`
		Path      string   `json:"path"` // of the figure in the output
		Expected  *float64 `json:"expected"`
		Tolerance float64  `json:"tolerance"` // absolute
		Source    string   `json:"source"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			out, code := runAccount(t, v.Args...)
			if code != diagnostic.ExitAnswered {
				t.Fatalf("exit code %d: %s", code, out)
			}
			var got any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			for step := range strings.SplitSeq(v.Path, ".") {
				switch at := got.(type) {
				case map[string]any:
					got = at[step]
				case []any:
					i, err := strconv.Atoi(step)
					if err != nil || i >= len(at) {
						t.Fatalf("no %s in %s", v.Path, out)
					}
					got = at[i]
				}
			}
			x, finite := got.(float64)
			switch {
			case v.Expected == nil && got != nil:
				t.Errorf("%v: got %v, want null: impossible", v.Args, got)
			case v.Expected != nil && (!finite || math.Abs(x-*v.Expected) > v.Tolerance):
				t.Errorf("%v: got %v, want %v within %v (%s)", v.Args, got, *v.Expected, v.Tolerance, v.Source)
			}
		})
	}
}

// What is asked wrongly is refused with the way out.
func TestAccountRefusals(t *testing.T) {
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "no plan"},
		{"gaussian(1)", 2, "--delta"},
		{"gaussian(1) --delta 1e-6 --epsilon 1", 2, "exclude"},
		{"gaussian(1) --delta 1", 2, "--delta 1"},
		{"gaussian(1) --delta NaN", 2, "--delta NaN"},
		{"gaussian(1) --delta 1e-6 --relation swap", 2, "add-remove"},
		{"gaussian(1) laplace(1) --delta 1e-6", 2, "compare"},
		{"calibrat gaussian(1)", 2, "calibrate"},
		{"gausian(1) --delta 1e-6", 1, "gaussian"},
		{"gaussian(-1) --delta 1e-6", 1, "D120"},
		{"1.5*gaussian(1) --delta 1e-6", 1, "whole"},
		{"gaussian(?) --delta 1e-6", 1, "calibrate"},
		{"calibrate gaussian(1) --epsilon 1 --delta 1e-6", 1, "?"},
		{"calibrate gaussian(?) --epsilon 1", 2, "--delta"},
		{"calibrate gaussian(?)+pure(2) --epsilon 1 --delta 1e-6", 1, "D123"},
		{"randomized_response(0.75) --delta 0", 1, "replace-one"},
		{"runs gaussian(10) --filter pure --epsilon 1", 1, "D124"},
		{"runs pure(1) --filter fourier --epsilon 1", 2, "whitehouse"},
		{"runs pure(1) --filter pure", 2, "--epsilon"},
		{"compare pure(1) --delta 0", 2, "two plans"},
		{"curve gaussian(1) --over count", 2, "--delta"},
		{"curve gaussian(1) --plot a.gif", 2, ".svg"},
		{"curve gaussian(1) --from 1 --to 0.5", 2, "--from"},
		{"gaussian(1) --delta 1e-6 --orders 0.5", 2, "above 1"},
		{"gaussian(1) --delta 1e-6 --orders 1e16", 2, "orders"},
		{"gaussian(1) --delta 1e-6 --accountant renyi", 2, "rdp"},
	} {
		got, code := runAccount(t, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(got, tc.want) {
			t.Errorf("account %s: exit code %d, want %d with %q:\n%s", tc.args, code, tc.code, tc.want, got)
		}
	}
}

// JSON holds the plan as an event, every number finite or null, the best first.
func TestAccountJSON(t *testing.T) {
	out, code := runAccount(t, "10*gaussian(5) + zcdp(0.01)", "--delta", "1e-6", "--json")
	if code != diagnostic.ExitAnswered {
		t.Fatal(out)
	}
	var r struct {
		Plan     string          `json:"plan"`
		Event    json.RawMessage `json:"event"`
		Relation string          `json:"relation"`
		Delta    float64         `json:"delta"`
		Bounds   []struct {
			Accountant string
			Epsilon    struct{ Low, Estimate, High *float64 }
			Direction  string
		}
		Best struct{ Accountant string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	e, err := plan.UnmarshalEvent(r.Event)
	if err != nil || e.String() != r.Plan || r.Relation != "add-remove" || r.Delta != 1e-6 {
		t.Errorf("%s: event %v, %v", out, e, err)
	}
	if len(r.Bounds) < 2 || r.Best.Accountant != r.Bounds[0].Accountant {
		t.Fatalf("bounds %s", out)
	}
	last := 0.0
	for _, b := range r.Bounds {
		if b.Epsilon.High == nil {
			continue
		}
		if *b.Epsilon.High < last || *b.Epsilon.Low > *b.Epsilon.High {
			t.Errorf("%s: bounds are not in order, or a bracket is empty", b.Accountant)
		}
		last = *b.Epsilon.High
	}
}

// Every curve draws, in the terminal, as SVG, and as numbers.
func TestAccountCurves(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, over := range account.Curves {
		plan := "gaussian(3)"
		if over == "runs" {
			plan = "pure(0.01)"
		}
		args := []string{"curve", plan, "--over", over}
		if over == "count" || over == "runs" {
			args = append(args, "--delta", "1e-5")
		}
		if out, code := runAccount(t, args...); code != diagnostic.ExitAnswered || len(strings.Split(out, "\n")) < 24 {
			t.Errorf("over %s: exit code %d:\n%s", over, code, out)
		}
		var lines struct {
			Lines []struct{ Points [][2]*float64 }
		}
		out, code := runAccount(t, append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), &lines); err != nil || code != diagnostic.ExitAnswered || len(lines.Lines) == 0 {
			t.Errorf("over %s: exit code %d, %v", over, code, err)
		}
		if out, code := runAccount(t, append(args, "--plot", "a.svg")...); code != diagnostic.ExitAnswered {
			t.Errorf("over %s: %s", over, out)
		}
		if info, err := os.Stat("a.svg"); err != nil || info.Size() < 1000 {
			t.Errorf("over %s: a.svg is missing or empty", over)
		}
		for _, file := range []string{"a.png", "a.pdf", "svg"} {
			if out, code := runAccount(t, append(args, "--plot", file)...); code != diagnostic.ExitUsage || !strings.Contains(out, ".svg") {
				t.Errorf("over %s into %s: exit code %d:\n%s", over, file, code, out)
			}
		}
	}
}
