// Command testreport reads the events of `go test -json` on standard input and
// prints what a reader wants: a line for each package, the whole output of what
// failed, the reason of what was skipped, where the time went, and the numbers last.
//
// It fails when a test or a build failed, when no test ran, and when the events
// are not events. Skips are printed aloud and are not failures: .ci/run looks
// for the phrase "skip: missing tool" among them.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// An event is one of `go doc test2json`, or of `go help buildjson`.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

func main() {
	if err := report(os.Stdin, os.Stdout); err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
}

func report(in io.Reader, out io.Writer) error {
	type key struct{ pkg, test string }
	said := map[key]*strings.Builder{} // the output of what still runs
	var passed, failed, skipped, broken int
	tests, wings := map[string]float64{}, map[string]float64{} // seconds

	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("read test event: %w: %q", err, lines.Text())
		}
		k := key{e.Package, e.Test}
		if e.Action == "output" {
			if said[k] == nil {
				said[k] = new(strings.Builder)
			}
			said[k].WriteString(e.Output)
			continue
		}
		if e.Action == "build-output" {
			io.WriteString(out, e.Output)
			continue
		}

		text := ""
		if b := said[k]; b != nil && e.Action != "start" && e.Action != "run" && e.Action != "pause" && e.Action != "cont" {
			text = b.String()
			delete(said, k)
		}
		if e.Elapsed > 0 && e.Test == "" {
			wings[wing(e.Package)] += e.Elapsed
		} else if e.Elapsed > 0 && !strings.Contains(e.Test, "/") {
			tests[path.Base(e.Package)+" "+e.Test] += e.Elapsed
		}
		switch {
		case e.Action == "pass" && e.Test != "":
			passed++
		case e.Action == "fail" && e.Test != "":
			failed++
			fmt.Fprintf(out, "--- %s %s\n%s", e.Package, e.Test, text)
		case e.Action == "skip" && e.Test != "":
			skipped++
			fmt.Fprintf(out, "SKIP %s %s: %s\n", e.Package, e.Test, reason(text))
		case e.Action == "pass":
			fmt.Fprintf(out, "ok   %s %.1fs\n", e.Package, e.Elapsed)
		case e.Action == "fail":
			broken++
			fmt.Fprintf(out, "FAIL %s %.1fs\n%s", e.Package, e.Elapsed, text)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read test events: %w", err)
	}
	for k, b := range said { // a test that was running when its process died
		if k.test != "" && broken > 0 {
			fmt.Fprintf(out, "--- %s %s did not end\n%s", k.pkg, k.test, b)
		}
	}
	fmt.Fprintf(out, "seconds by wing: %s\n", most(wings, len(wings)))
	fmt.Fprintf(out, "seconds by test: %s\n", most(tests, 40))
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, max(failed, broken), skipped)
	switch {
	case failed+broken > 0:
		return fmt.Errorf("%d tests failed in %d packages", failed, broken)
	case passed == 0:
		return fmt.Errorf("no test ran")
	}
	return nil
}

// wing is the folder of a package in its module.
func wing(pkg string) string {
	rest := strings.SplitN(pkg, "/", 5) // host, owner, module, folder, ...
	switch {
	case len(rest) < 4:
		return "root"
	case rest[3] == "internal" && len(rest) > 4:
		return "internal/" + strings.Split(rest[4], "/")[0]
	}
	return rest[3]
}

// most are the n greatest, with their names.
func most(seconds map[string]float64, n int) string {
	names := slices.SortedFunc(maps.Keys(seconds), func(a, b string) int {
		return cmp.Or(cmp.Compare(seconds[b], seconds[a]), cmp.Compare(a, b))
	})
	said := make([]string, min(n, len(names)))
	for i := range said {
		said[i] = fmt.Sprintf("%s %.0f", names[i], seconds[names[i]])
	}
	return strings.Join(said, ", ")
}

// reason is what a skipped test said: its output without the framework's lines.
func reason(text string) string {
	var said []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}
