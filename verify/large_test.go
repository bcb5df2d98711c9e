package verify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
)

// large are bodies of functions of x, t and eps, of which the cases double with each line.
var large = map[string]func() string{
	"Ifs": func() string {
		return "y := x\n" + repeated(400, "if y > %[1]d { y = %[1]d }\n") + "return y + src.Laplace(1/eps)"
	},
	"Noisy": func() string {
		return "y := x + src.Laplace(1/eps)\n" + repeated(200, "if y > t+%[1]d { y = y + %[1]d }\n") + "return y"
	},
	"Nest": func() string {
		return "y := 0.0\n" + repeated(150, "if t > %[1]d {\n") + "y = x\n" + repeated(150, "y = min(y, %[1]d)\n}\n") + "return y + src.Laplace(1/eps)"
	},
	"Switch": func() string {
		return "switch {\n" + repeated(800, "case t > %[1]d:\nreturn x + %[1]d + src.Laplace(1/eps)\n") + "}\nreturn 0"
	},
	"Loops": func() string {
		return "y := 0.0\n" + repeated(25, "for range n {\n") + "y += x\n" + repeated(25, "}\n") + "return y + src.Laplace(1/eps)"
	},
	"Chain": func() string { return "return half30(x) + src.Laplace(1/eps)" },
}

func repeated(n int, line string) string {
	var b strings.Builder
	for i := range n {
		if strings.Contains(line, "%") {
			fmt.Fprintf(&b, line, i)
		} else {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Functions of which the cases double with each line have a verdict too: it may be that none
// was found.
func TestLargeFunctionsEnd(t *testing.T) {
	needSolver(t)
	for name, body := range large {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("package p\n\nimport \"github.com/discreet-dp/discreet/noise\"\n\n//dp:adjacent |x| <= 1\n//dp:requires eps > 0\n//dp:cost eps\n")
			fmt.Fprintf(&b, "func %s(x, t float64, n int, eps float64, src *noise.Source) float64 {\n%s\n}\n", name, body())
			b.WriteString("func half0(x float64) float64 { return x }\n")
			for i := range 30 {
				fmt.Fprintf(&b, "func half%d(x float64) float64 { return half%d(x)/2 + half%d(x)/2 }\n", i+1, i, i)
			}
			r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": b.String()}), NoStore: true, Timeout: 300 * time.Millisecond})
			if len(r.Results) != 1 || r.Results[0].Verdict == verify.Refuted {
				t.Errorf("%+v", r.Results)
			}
		})
	}
}

// Who interrupts a run does not wait for what is under way, and hears no more of it.
func TestInterruptedRunsEnd(t *testing.T) {
	text := "package p\n\nimport \"github.com/discreet-dp/discreet/noise\"\n\n//dp:adjacent |x| <= 1\n//dp:requires eps > 0\n//dp:cost eps\n" +
		"func Noisy(x, t, eps float64, src *noise.Source) float64 {\n" + large["Noisy"]() + "\n}\n"
	ctx, cancel := context.WithCancel(t.Context())
	var told, waited atomic.Int32
	returned := make(chan struct{})
	_, err := verify.Run(ctx, verify.Options{Dir: module(t, map[string]string{"p.go": text}), Check: true, Progress: func(verify.Progress) {
		told.Add(1)
		cancel()
		select { // what is under way goes on until the run has returned
		case <-returned:
		case <-time.After(time.Minute): // which is for ever, for what waits for nothing
			waited.Add(1)
		}
	}})
	close(returned)
	if !errors.Is(err, context.Canceled) || told.Load() != 1 || waited.Load() > 0 {
		t.Errorf("%v, told %d times; it waited: %t", err, told.Load(), waited.Load() > 0)
	}
}
