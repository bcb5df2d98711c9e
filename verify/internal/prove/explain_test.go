package prove_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/prove"
)

// A proof reads statement by statement, in the words of the literature.
func TestExplain(t *testing.T) {
	u := units(t, "./right")["SVT"]
	steps, err := prove.Explain(u.Function, u.Claim, svt(u))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&got, "%s: %s\n", s.Kind, s.Text)
	}
	want := `coupling: laplace1 ~ Laplace(2 / eps): shift coupling by 1, at cost |1|*2 * n*eps/(4*n)
lockstep: lockstep: both runs stay in the loop while (i < len(q)) && (count < n)
invariant: invariant: cost <= 4*n; (cost - 2*count) <= 2*n
coupling: laplace2 ~ Laplace((4 * real(n)) / eps): if (q[i] + laplace2) >= t: shift coupling by 1 - diff(q[i]), at cost |1 - diff(q[i])|*eps/(4*n)
coupling: laplace2 ~ Laplace((4 * real(n)) / eps): if not (q[i] + laplace2) >= t: identity coupling: the same sample in both runs, at no cost
lockstep: lockstep: both runs decide (q[i] + laplace2) >= t alike, by the couplings above
conclusion: pointwise equality: above receives the same true in both runs
conclusion: pointwise equality: above receives the same false in both runs
conclusion: pointwise equality: both runs return the same above
conclusion: in all: cost <= 4 * n in units of eps/(4*n), which is the claim
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

// Any solver may check the obligations, and cvc5 checks the certificate.
func TestSolversCheck(t *testing.T) {
	u := units(t, "./right")["SVT"]
	c := svt(u)
	obligations, err := prove.Obligations(u.Function, u.Claim, c)
	if err != nil || len(obligations) == 0 {
		t.Fatal(len(obligations), err)
	}
	for _, s := range []smt.Solver{smt.Z3, smt.CVC5} {
		t.Run(string(s), func(t *testing.T) {
			if _, err := exec.LookPath(string(s)); err != nil {
				t.Skipf("skip: missing tool %s", s)
			}
			for _, o := range obligations {
				if a, rest, err := smt.Solve(t.Context(), s, smt.Options{}, o.SMT); a != smt.Unsat || err != nil {
					t.Errorf("%s: %v %v %s", o.Name, a, err, rest)
				}
			}
			if err := prove.CheckWith(t.Context(), s, smt.Options{}, u.Function, u.Claim, c); err != nil {
				t.Error(err)
			}
			none := svt(u)
			none.Orientations[0].Invariants = nil
			if err := prove.CheckWith(t.Context(), s, smt.Options{}, u.Function, u.Claim, none); err == nil {
				t.Error("a certificate without its invariants is accepted")
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	u := units(b, "./right")["SVT"]
	c := svt(u)
	for b.Loop() {
		if err := prove.Check(b.Context(), u.Function, u.Claim, c); err != nil {
			b.Fatal(err)
		}
	}
}
