package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/report"
	"pgregory.net/rapid"
)

const source = `package p

// Héllo, Leak reveals. <b>bold</b>
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func Leak(q []float64, eps float64) float64 {
	/* ä */ x := q[0]
	return x
}

func other() {}
`

func read(file string) ([]byte, error) {
	if file != "/src/p/a b.go" {
		return nil, errors.New("there is no such file")
	}
	return []byte(source), nil
}

// sample has a result of each verdict, with names that no Go source has and that
// would do harm in a page.
func sample() *verify.Report {
	const file = "/src/p/a b.go"
	return &verify.Report{Results: []verify.Result{
		{Package: "example.org/p", Function: "Good", Claim: "adjacent |x| <= 1\ncost eps", Verdict: verify.Proved, Over: verify.Grid, LeastCost: "eps/2", File: "/elsewhere/good.go", Line: 3, Column: 1,
			Proof: []verify.Step{{Kind: verify.Coupling, Line: 4, Text: "t moves by 1"}}},
		{Package: "example.org/p", Function: "Leak", Claim: "adjacent each(q) <= 1\ncost eps", Verdict: verify.Refuted, Over: verify.Reals, File: file, Line: 7, Column: 1,
			Counterexample: &verify.Counterexample{
				Inputs:    map[string]any{"q": []float64{0, 1}, "eps": 1.0},
				Neighbour: map[string]any{"q": []float64{1, 1}, "eps": 1.0},
				Event:     "returns 0 </script><script>alert(1)</script>", P: [2]float64{1, 1}, Q: [2]float64{0, 0},
				Epsilon: verify.Number(math.Inf(1)), Claimed: 1, Parameter: "eps", Fails: &[2]float64{0.5, 2},
			},
			Alignment: []verify.Shift{{Draw: "x", Line: 8, Shift: "diff(q[0])"}, {Draw: "y", File: "/src/q.go", Line: 8, Shift: "0"}},
			Proof:     []verify.Step{{Kind: verify.Invariant, Line: 9, Text: "0 <= cost && cost <= eps"}},
			Problems:  []verify.Problem{{Kind: verify.Unproved, File: file, Line: 8, Column: 11, Text: "x differs", Hint: "add noise"}}},
		{Package: "example.org/p", Function: "Sampled", Verdict: verify.RefutedStatistical, File: file, Line: 12, Column: 1, Note: "confidence 0.999999999"},
		{Package: "example.org/p", Function: "Short", Verdict: verify.ProvedBounded, File: file, Line: 12, Column: 1, Note: "up to size 5"},
		{Package: "example.org/p", Function: `<img src="http://evil" onerror=x>`, Claim: "cost \"'><i>", Verdict: verify.Unknown, Note: "<script>", File: file, Line: 12, Column: 1,
			Problems: []verify.Problem{
				{Kind: verify.Outside, File: "/src/p/a b.go", Line: 12, Column: 1, Text: "goroutines"},
				{Kind: verify.Directive, Line: 12, Column: 1, Text: "cots"},
				{Kind: verify.Certificate, File: "/src/p/discreet.proofs.json", Text: "stale"},
				{Kind: "new", Text: "of a kind that no rule has"},
			}},
	}}
}

// TestSARIF holds a log against what the schema of SARIF 2.1.0 requires of the
// objects that are used, and against what they say.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := report.SARIF(&b, sample(), "/src", read); err != nil {
		t.Fatal(err)
	}
	type region struct{ StartLine, StartColumn int }
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, InformationURI string
					Rules                []struct {
						ID                                string
						ShortDescription, FullDescription struct{ Text string }
						DefaultConfiguration              struct{ Level string }
					}
				}
			}
			ColumnKind string
			Results    []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
						Region           *region
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "sarif-2.1.0.json") || len(log.Runs) != 1 {
		t.Fatalf("version %q, schema %q, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name == "" || run.ColumnKind != "unicodeCodePoints" {
		t.Errorf("tool %q, columns in %q", run.Tool.Driver.Name, run.ColumnKind)
	}
	levels := regexp.MustCompile(`^(none|note|warning|error)$`)
	for _, rule := range run.Tool.Driver.Rules {
		if rule.ID == "" || rule.ShortDescription.Text == "" || rule.FullDescription.Text == "" || !levels.MatchString(rule.DefaultConfiguration.Level) {
			t.Errorf("rule %+v says too little", rule)
		}
	}
	var got []string
	fingerprints := map[string]bool{}
	for _, r := range run.Results {
		if r.Message.Text == "" || len(r.Locations) != 1 || !levels.MatchString(r.Level) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Fatalf("result %+v", r)
		}
		for _, print := range r.PartialFingerprints {
			fingerprints[print] = true
		}
		at := r.Locations[0].PhysicalLocation
		place := at.ArtifactLocation.URIBaseID + " " + at.ArtifactLocation.URI
		if at.Region != nil {
			place += " " + strings.Trim(strings.Join(strings.Fields(strings.Trim(mustJSON(t, *at.Region), "{}")), ""), " ")
		}
		got = append(got, r.RuleID+" "+place)
	}
	want := []string{
		`privacy/refuted %SRCROOT% p/a%20b.go "StartLine":7,"StartColumn":1`,
		`privacy/unproved %SRCROOT% p/a%20b.go "StartLine":8,"StartColumn":10`, // byte 11: ä has two
		`privacy/refuted-statistical %SRCROOT% p/a%20b.go "StartLine":12,"StartColumn":1`,
		`privacy/proved-bounded %SRCROOT% p/a%20b.go "StartLine":12,"StartColumn":1`,
		`privacy/unknown %SRCROOT% p/a%20b.go "StartLine":12,"StartColumn":1`,
		`privacy/outside %SRCROOT% p/a%20b.go "StartLine":12,"StartColumn":1`,
		`privacy/directive %SRCROOT% p/a%20b.go "StartLine":12,"StartColumn":1`,
		`privacy/certificate %SRCROOT% p/discreet.proofs.json`,
		`privacy/unknown %SRCROOT% p/a%20b.go`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if len(fingerprints) != len(want) {
		t.Errorf("%d fingerprints of %d results", len(fingerprints), len(want))
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A log without results has a list of none: null would be "not computed".
func TestSARIFOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := report.SARIF(&b, &verify.Report{}, "/src", read); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"results": []`) {
		t.Error(b.String())
	}
}

// A page loads nothing, and what names and notes hold is text.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := report.HTML(&b, sample(), "/src", read); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, tag := range regexp.MustCompile(`<[a-zA-Z][^>]*>`).FindAllString(page, -1) {
		if regexp.MustCompile(`(?i)^<(script|img|link|iframe|object|i|b)\b.*\S|\s(src|on\w+)=|url\(`).MatchString(tag) && tag != "<b>" {
			t.Errorf("the page has %s", tag)
		}
	}
	if strings.Contains(page, "@import") || strings.Contains(page, "url(") {
		t.Error("the style sheet loads something")
	}
	for _, want := range []string{
		`&lt;img src=`, `&lt;script&gt;`, `// Héllo, Leak reveals. &lt;b&gt;bold&lt;/b&gt;`,
		`p/a b.go:7`, `/elsewhere/good.go:3`, `<span class="badge refuted">1 refuted</span>`,
		`infinity`, `eps from 0.5 to 2`, `<span class="place">q.go:8</span> y moves by 0`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	// What is said of a line stands in its row.
	for n, want := range map[string]string{"8": "x moves by diff(q[0])", "9": "0 &lt;= cost &amp;&amp; cost &lt;= eps"} {
		_, row, _ := strings.Cut(page, `<td class="n">`+n+`</td>`)
		row, _, _ = strings.Cut(row, "</tr>")
		if !strings.Contains(row, want) {
			t.Errorf("line %s has no %q: %s", n, want, row)
		}
	}
	if strings.Contains(page, "func other") == strings.Contains(page, "package p") {
		t.Error("functions are shown whole, and nothing else")
	}
}

// What is shown of an interval holds it, and where a claim fails lies in what is.
func TestRoundedOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-300), rapid.Float64()).Draw(t, "x")
		low, err1 := strconv.ParseFloat(report.Lower(x), 64)
		high, err2 := strconv.ParseFloat(report.Upper(x), 64)
		if errors.Join(err1, err2) != nil || low > x || high < x || high-low > 1e-4*math.Abs(x) {
			t.Fatalf("%v is shown in [%v, %v]", x, low, high)
		}
	})
	for x, want := range map[float64]string{0.5: "0.5", 1.0 / 3: "[0.333333, 0.333334]", 0: "0", 1: "1", 0.9999999: "[0.99999, 1]", 1.2345678e-9: "[1.23456e-09, 1.23457e-09]", math.Inf(1): "infinity"} {
		if got := report.Interval([2]float64{x, x}); got != want {
			t.Errorf("%v is shown as %s, want %s", x, got, want)
		}
	}
	if got := report.Fails(&verify.Counterexample{Parameter: "sigma", Fails: &[2]float64{1.0 / 3, 2.0 / 3}}); got != "sigma from 0.333334 to 0.666666, tried at each factor of 2" {
		t.Error(got)
	}
}

// What is forced is named after the measure, and what is claimed is said also where it is nothing.
func TestForced(t *testing.T) {
	for measure, want := range map[string]string{
		"pure":   "epsilon is at least 0.5; claimed is 0",
		"approx": "epsilon is at least 0.5 beside the claim's delta; claimed is 0",
		"zcdp":   "rho is at least 0.5; claimed is 0",
	} {
		c := &verify.Counterexample{Measure: measure, Epsilon: 0.5}
		if got := report.Unit(c) + " is " + report.Forced(c); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMessage(t *testing.T) {
	const want = `Leak claims cost eps: refuted. For eps = 1, q = [0, 1] and the neighbour q = [1, 1], the event "returns 0 </script><script>alert(1)</script>" ` +
		`has probability 1 against 0; epsilon is at least infinity; claimed is 1`
	if got := report.Message(&sample().Results[1]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A sensitivity is refuted by how far results lie apart, and nobody is told of an epsilon.
func TestDistance(t *testing.T) {
	r := &verify.Report{Results: []verify.Result{{
		Package: "example.org/p", Function: "Root", Claim: "sensitivity x = 1", Verdict: verify.Refuted, Over: verify.Reals, File: "/elsewhere/root.go", Line: 3, Column: 1,
		Counterexample: &verify.Counterexample{
			Inputs: map[string]any{"x": 0.0, "n": 2}, Neighbour: map[string]any{"x": 0.25, "n": 2}, Event: "returns 0", P: [2]float64{1, 1},
			Epsilon: verify.Number(math.Inf(1)), Claimed: 0.25,
			Distance: &verify.Distance{Input: "x", Moved: 0.25, Norm: "l2", Neighbour: "returns [1/2 1/3]", Results: 0.6009252125773316},
		},
	}}}
	want := "Root claims sensitivity x = 1: refuted. It returns 0 for n = 2, x = 0, and for the neighbour x = 0.25 it returns [1/2 1/3]: " +
		"0.600925 apart in l2, where x moves by 0.25; claimed is at most 0.25"
	if got := report.Message(&r.Results[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var b bytes.Buffer
	if err := report.HTML(&b, r, "/src", read); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<td>returns 0</td><td>returns [1/2 1/3]</td>", "The results lie 0.600925 apart in l2"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(b.String(), "epsilon of at least") {
		t.Error("the page tells of an epsilon")
	}
}
