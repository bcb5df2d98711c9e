package shuffle_test

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/privacy"
)

// A certificate claims no more than its assumptions carry.
func TestCertificates(t *testing.T) {
	certify := func(change func(q *shuffle.Question)) *shuffle.Certificate {
		t.Helper()
		q := histogram(4, 0, 5000, "3")
		change(&q)
		return must(must(shuffle.New(q)).Certify(context.Background()))
	}
	plain := certify(func(*shuffle.Question) {})
	if len(plain.Claims) != 1 || plain.Honest != 5000 || plain.Without != "" || plain.Claims[0].If != "the issuer, whoever enrols respondents and any one shuffler are honest" {
		t.Fatalf("%+v", plain)
	}
	if c := plain.Claims[0]; !(c.AtLeast > 0 && c.AtLeast < c.Epsilon && c.Epsilon < 1) || c.Theorem == "" {
		t.Errorf("%+v", c)
	}
	if c := certify(func(q *shuffle.Question) { q.Tokens = false }); len(c.Claims) != 0 || c.Honest != 0 || !strings.Contains(c.Without, "token") || !c.Local.Equal(plain.Local) {
		t.Errorf("without tokens: %+v", c)
	}
	if c := certify(func(q *shuffle.Question) { q.Colluders = 4000 }); c.Honest != 1000 || !(c.Claims[0].Epsilon > plain.Claims[0].Epsilon) {
		t.Errorf("with colluders: %+v", c)
	}
	// Fakes are claimed for the last shuffler alone: the first sees which messages belong together.
	fakes := certify(func(q *shuffle.Question) { q.Fakes = 2 })
	if len(fakes.Claims) != 2 || !(fakes.Claims[0].Epsilon < plain.Claims[0].Epsilon) || fakes.Claims[0].If != "the issuer, whoever enrols respondents and the last shuffler are honest" ||
		!(fakes.Claims[1].Epsilon > plain.Claims[0].Epsilon) || fakes.Claims[1].If != "the issuer, whoever enrols respondents and the first shuffler are honest" {
		t.Errorf("with fakes: %+v", fakes)
	}
	crowds := certify(func(q *shuffle.Question) {
		q.Fakes, q.Colluders = 1, 1000
		q.Crowds = &shuffle.Crowd{Epsilon: must(privacy.ParseEpsilon("0.5")), Delta: must(privacy.ParseDelta("1e-7")), Threshold: 10}
	})
	// A last shuffler who reads crowds knows a respondent by a crowd that nobody else has, so that
	// nothing is claimed for the first one alone; the crowd's theorem is for no colluders.
	for _, c := range crowds.Claims {
		if !strings.Contains(c.If, "the last shuffler") {
			t.Errorf("with crowds it is claimed if %s", c.If)
		}
	}
	if len(crowds.Claims) != 2 || !strings.Contains(crowds.Claims[0].If, "the crowd does not depend on the answer") || crowds.Claims[0].Honest != 4000 || crowds.Claims[1].Honest != 5000 {
		t.Errorf("with crowds: %+v", crowds)
	}
	if c := crowds.Claims[len(crowds.Claims)-1]; c.Epsilon < 2*(plain.Local.Float64()+0.5) || c.Delta.String() != "2e-7" {
		t.Errorf("with crowds: %+v", c)
	}
}

// A message that cannot be read may have been any answer: intervals hold whichever it was.
func TestMessagesThatAreMissing(t *testing.T) {
	p := must(shuffle.New(histogram(2, 1, 10, "2")))
	got := must(p.Estimate([]int64{90, 104}, 100, 0.05))
	for _, told := range [][]int64{{96, 104}, {90, 110}, {93, 107}} {
		whole := must(p.Estimate(told, 100, 0.05))
		for v := range told {
			if got.Low[v] > whole.Low[v] || got.High[v] < whole.High[v] {
				t.Errorf("answer %d: [%v, %v] does not hold [%v, %v] of %v", v, got.Low[v], got.High[v], whole.Low[v], whole.High[v], told)
			}
		}
	}
	if _, err := p.Estimate([]int64{100, 101}, 100, 0.05); err == nil {
		t.Error("more messages than respondents send are taken")
	}
}
