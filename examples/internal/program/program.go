// Package program is what the example programs share: they print tables of known
// numbers, then answers drawn now, and draw a plot on request.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"time"

	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Drawn stands between what an example always prints and what it draws.
const Drawn = "drawn now:"

// A Run prints an example's numbers and returns its plot, which is always the same.
type Run func(ctx context.Context, out io.Writer) (plot.Plot, error)

// Main runs an example as a command.
func Main(run Run) {
	if err := command(run); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(run Run) (err error) {
	file := flag.String("o", "", "`FILE` for the plot, .svg")
	flag.Parse()
	p, err := run(context.Background(), os.Stdout)
	if err != nil || *file == "" {
		return err
	}
	if err := plot.CheckName(*file); err != nil {
		return err
	}
	f, err := os.Create(*file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return p.WriteSVG(f)
}

// Node returns a node that holds x under the name "x", for rows that are replaced.
func Node(x []float64) (*datanode.Node, error) {
	n, err := datanode.New(noise.System(), datanode.Options{
		Name: "example", Neighbours: privacy.ReplaceOne, Log: datanode.NewMemoryLog(), Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	return n, n.Set("x", datanode.Vector(x))
}

// Rat reads a number such as 0.05 or 1/3.
func Rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s) // written in the program
	}
	return r
}

// Epsilon reads one.
func Epsilon(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }

// Delta reads one.
func Delta(s string) privacy.Delta { return must(privacy.ParseDelta(s)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // written in the program
	}
	return v
}

// Majority returns the probability that more than half of n answers are true, and half
// of it that just half are, if each is true with probability p.
func Majority(n int, p float64) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for k := (n + 1) / 2; k <= n; k++ {
		yes, _ := math.Lgamma(float64(k + 1))
		no, _ := math.Lgamma(float64(n - k + 1))
		term := math.Exp(all - yes - no + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		if 2*k == n {
			term /= 2
		}
		sum += term
	}
	return sum
}

// Ceiling returns the probability with which an attacker can be right at most about one
// bit that is as likely 0 as 1, from what is (epsilon, delta)-DP: (e^ε+δ)/(1+e^ε).
//
// Proof: with p and q the probabilities of guessing 1 when it is 1 and 0, he is right
// with S/2, S = p + 1−q. Add p <= e^ε·q + δ and 1−q <= e^ε·(1−p) + δ: S <= e^ε·(2−S) + 2δ.
func Ceiling(epsilon, delta float64) float64 {
	return (1 + delta*math.Exp(-epsilon)) / (1 + math.Exp(-epsilon))
}
