//go:build cgo

package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/web"
)

// asked is the address of a page with a form filled in: names and values in turn.
func asked(path string, fields ...string) string {
	q := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		q.Set(fields[i], fields[i+1])
	}
	return path + "?" + q.Encode()
}

// plans asks for epsilon at 1e-6.
func plans(text string, more ...string) string {
	return asked("/accountant", append([]string{"plans", text, "of", "epsilon", "delta", "1e-6", "epsilon", "1", "relation", "add-remove"}, more...)...)
}

// TestAccountant: the figures are those of discreet account, of every plan, in both
// directions; what is wrong with a plan is shown at its place.
func TestAccountant(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "anna")
	if r := s.client(t).get(t, "/accountant"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("a stranger: %s", r.Status)
	}
	for _, test := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/accountant", 200, []string{"reads no data", "Examples", "/accountant?"}},
		// As discreet account prints them.
		{plans("10 * gaussian(3)"), 200, []string{"at most 5.18", ">gdp</th>", "μ = 1.05409", "<svg", "δ against ε, by each accountant", "The numbers of the curve", "How often a filter admits it", ">zcdp</th>"}},
		{plans("10 * gaussian(3)", "of", "delta"), 200, []string{"δ at ε = 1", "at most 0.146343"}},
		{plans("100 * laplace(10)\n\n 100 * gaussian(10)\r\n"), 200, []string{"4.6927", "4.88656", "1: 100 * laplace(10)", "Plan 2"}},
		{plans("100 * gaussian(?)"), 200, []string{"sigma = 42.2467888932", "keeps to ε 1 at δ 1e-6"}},
		{plans("?*pure(0.25)", "delta", "0"), 200, []string{"count = 4"}},
		{plans("14063 * poisson(256/60000, gaussian(1.1))"), 200, []string{"Poisson samples", "Instead:", "61*gaussian(1.1"}},
		{plans("randomized_response(0.75)"), 403, []string{"choose the relation replace-one", "D121"}},
		{plans("randomized_response(0.75)", "relation", "replace-one"), 200, []string{"at most 1.0986"}},
		// Places.
		{plans("100 * gausian(10)"), 400, []string{"100 * <mark>gausian</mark>(10)", "D120", "did you mean"}},
		{plans("pure(1)\n<b>(1)"), 200, []string{"<mark>&lt;</mark>", "refused"}},
		// Numbers that are none.
		{plans("pure(1)", "delta", "NaN"), 400, []string{"delta: "}},
		{plans("pure(1)", "delta", "1"), 400, []string{"delta is not below 1"}},
		{plans("pure(1)", "delta", "-1e-6"), 400, []string{"delta: "}},
		{plans("pure(1)", "epsilon", "Inf"), 400, []string{"epsilon: "}},
		{plans("pure(1)", "epsilon", "1e999999999"), 400, []string{"epsilon: "}},
		{plans("pure(1)", "epsilon", ""), 400, []string{"epsilon: "}},
		{plans("pure(1)", "of", "rho"), 400, []string{"what is asked for"}},
		{plans("pure(1)", "relation", "swap"), 400, []string{"no such relation"}},
		{plans(" \n\t\n"), 400, []string{"there is no plan"}},
		{plans(strings.Repeat("pure(1)\n", 7)), 400, []string{"7 plans, more than 6"}},
		{plans(strings.Repeat("pure(1) + ", 1000) + "pure(1)"), 400, []string{"longer than 8192 bytes"}},
		{plans(`rdp("/etc/passwd")`), 400, []string{"D120"}},
		{plans("gaussian(?)", "delta", "0"), 403, []string{"D12"}},
		{plans("pure(1) \u202E\x1b[2J"), 400, []string{`\u{202E}`}},
	} {
		r := c.get(t, test.path)
		if r.StatusCode != test.status {
			t.Errorf("%s: %s", test.path, r.Status)
		}
		for _, want := range test.want {
			if !strings.Contains(r.body, want) {
				t.Errorf("%s lacks %q", test.path, want)
			}
		}
		for _, never := range []string{"NaN<", "Inf<", "root:", "<b>", "style=\"", "\x1b[2J</pre>", "--relation", "ZgotmplZ"} {
			if strings.Contains(r.body, never) {
				t.Errorf("%s has %q", test.path, never)
			}
		}
	}
}

// hurried is a stand whose accountants have little time.
func hurried(t *testing.T) *stand {
	s := &stand{World: gatewaytest.Open(t, t.TempDir(), func(c *gateway.Config) { c.Thinking = 500 * time.Millisecond }), clock: &clock{now: gatewaytest.Noon}, log: &locked{}}
	h, err := web.New(web.Options{Gateway: s.Gateway, People: s.People, Now: s.Now, Log: slog.New(slog.NewJSONHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// TestHostilePlans: whatever is entered, the page is there within the time that it has, and
// the server goes on.
func TestHostilePlans(t *testing.T) {
	s := hurried(t)
	c := s.signIn(t, "anna")
	deep := strings.Repeat("poisson(0.5, ", 15) + "gaussian(1)" + strings.Repeat(")", 15)
	for _, plan := range []string{
		"1e300 * gaussian(1e-300)", "1e12 * gaussian(1e6)", "1e12*laplace(1e12) + 1e12*discrete_gaussian(1e9)", "gaussian(0)", "gaussian(-1)", "gaussian(1e-400)",
		strings.Repeat("(", 3000), strings.Repeat("(", 150) + "pure(1)" + strings.Repeat(")", 150), strings.Repeat("-", 4000) + "1*pure(1)", deep,
		"exp(exp(exp(exp(9))))*pure(1)", "sqrt(" + strings.Repeat("9", 990) + ")*pure(1)", "pure(1/3) + " + strings.Repeat("pure(1/7)+", 700) + "pure(1)",
		"shuffled(1e12, randomized_response(0.75, 1000000))", "without_replacement(1e6, 1e9, discrete_gaussian(0.001))", "parallel(" + strings.Repeat("gaussian(1),", 600) + "pure(1))",
		"rdp(" + strings.Repeat("2:1,", 1000) + "3:1)", "?*1e300", "?*poisson(1e-300, gaussian(1e-300))", "{" + strings.Repeat(`"sum":[{`, 500), `{"repeat":{"count":1e400,"event":{}}}`, "pure(\x00)",
	} {
		for _, of := range []string{"epsilon", "delta"} {
			r := c.get(t, plans(plan, "of", of))
			if r.StatusCode >= 500 && r.StatusCode != http.StatusServiceUnavailable || strings.Contains(r.body, "D109") || !strings.Contains(r.body, "<h1>Accountant</h1>") && !strings.Contains(r.body, "D213") {
				t.Errorf("%.60s: %s", plan, r.Status)
			}
		}
	}
	if r := c.get(t, "/mechanism"); r.StatusCode != http.StatusOK {
		t.Errorf("after all that: %s", r.Status)
	}
	if log := s.log.String(); strings.Contains(log, "panic") {
		t.Error("something panicked")
	}
}

// TestMechanism: the figures are those of packages mechanism and accountant.
func TestMechanism(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "anna")
	at := func(fields ...string) string { return asked("/mechanism", fields...) }
	for _, test := range []struct {
		path   string
		status int
		want   []string
	}{
		// ln(1/0.05) = 2.9957 (LaplaceAccuracy); the overlap is e^(-1/2) = 0.6065.
		{"/mechanism", 200, []string{"reads no data", "±2.996", "60.6 %", "69.7 %", "laplace(1, sensitivity=1)", `class="area`, "The numbers of the picture"}},
		{at("mechanism", "laplace", "sensitivity", "10", "epsilon", "0.5", "confidence", "0.9"), 200, []string{"±46.06", "scale 20", "0.125", "sensitivity=10)"}},
		// P(|K| > 3) = 2p⁴/(1+p) < 0.05 with p = 1/e; the overlap is 1 - P(0) = 1 - tanh(1/2).
		{at("mechanism", "geometric"), 200, []string{"±3", "53.7 %", "discrete_laplace(1, sensitivity=1)"}},
		// σ = √(1/2ρ) = 1: 1.96, and Φ(-1/2)·2 = 0.617.
		{at("mechanism", "gaussian", "rho", "0.5"), 200, []string{"deviation 1<", "±1.96", "61.7 %", "ρ 0.5, which is ε 4.8", "at δ 1e-6"}},
		{at("mechanism", "gaussian", "by", "epsilon", "epsilon", "1", "delta", "1e-6"), 200, []string{"at δ 1e-6", "ε 0.9", `value="epsilon" selected`}},
		{at("mechanism", "discrete-gaussian", "rho", "0.5", "sensitivity", "3"), 200, []string{"±6", "discrete_gaussian(3, sensitivity=3)"}},
		// p = e/(1+e) = 0.7311; √(ln(40)/2000)/(2p-1) = 0.0929.
		{at("mechanism", "randomized-response", "epsilon", "1"), 200, []string{"0.7311", "±0.09294", "53.7 %", "randomized_response(", "replace-one"}},
		{at("mechanism", "randomized-response", "answers", "1000"), 200, []string{"the first 12 of 1000 answers"}},
		{at("mechanism", "median"), 400, []string{"no such mechanism"}},
		{at("mechanism", "geometric", "sensitivity", "1.5"), 400, []string{"whole numbers change"}},
		{at("mechanism", "laplace", "epsilon", "NaN"), 400, []string{"epsilon: want a number such as 1", `aria-invalid`}},
		{at("mechanism", "laplace", "epsilon", "0"), 400, []string{"from 0.001 to 100"}},
		{at("mechanism", "laplace", "epsilon", "1e99999"), 400, []string{"epsilon: "}},
		{at("mechanism", "laplace", "sensitivity", "-1"), 400, []string{"sensitivity: "}},
		{at("mechanism", "laplace", "confidence", "1"), 400, []string{"confidence: "}},
		{at("mechanism", "laplace", "epsilon", "<script>"), 400, []string{"&lt;script&gt;"}},
		{at("mechanism", "laplace", "epsilon", strings.Repeat("9", 5000)), 400, []string{"epsilon: "}},
		{at("mechanism", "laplace", "rho", "x"), 200, []string{"±2.996"}}, // a field of another form
		{at("mechanism", "randomized-response", "respondents", "10.5"), 400, []string{"whole number"}},
		// The ends of the ranges.
		{at("mechanism", "laplace", "epsilon", "0.001", "sensitivity", "1e-9"), 200, nil},
		{at("mechanism", "laplace", "epsilon", "100", "sensitivity", "1e9"), 200, nil},
		{at("mechanism", "geometric", "epsilon", "0.001", "sensitivity", "1000000000"), 200, nil},
		{at("mechanism", "geometric", "epsilon", "100"), 200, nil},
		{at("mechanism", "gaussian", "rho", "0.000001", "sensitivity", "1e9"), 200, nil},
		{at("mechanism", "gaussian", "rho", "100", "sensitivity", "1e-9"), 200, nil},
		{at("mechanism", "discrete-gaussian", "rho", "0.000001", "sensitivity", "1e9"), 200, nil},
		{at("mechanism", "discrete-gaussian", "rho", "100"), 200, nil},
		{at("mechanism", "gaussian", "by", "epsilon", "epsilon", "100", "delta", "0.5"), 200, nil},
		{at("mechanism", "gaussian", "by", "epsilon", "epsilon", "0.001", "delta", "1e-15"), 200, nil},
		{at("mechanism", "randomized-response", "epsilon", "100", "respondents", "1e12", "answers", "1000"), 200, nil},
		{at("mechanism", "randomized-response", "epsilon", "0.001", "respondents", "1"), 200, nil},
		{at("mechanism", "laplace", "epsilon", "1/3", "confidence", "0.9999"), 200, []string{"1/3"}},
	} {
		r := c.get(t, test.path)
		if r.StatusCode != test.status {
			t.Errorf("%.100s: %s", test.path, r.Status)
		}
		for _, want := range test.want {
			if !strings.Contains(r.body, want) {
				t.Errorf("%.100s lacks %q", test.path, want)
			}
		}
		for _, never := range []string{"NaN<", "Inf<", "<script>", "style=\"", "ZgotmplZ", "D109"} {
			if strings.Contains(r.body, never) {
				t.Errorf("%.100s has %q", test.path, never)
			}
		}
	}
}
