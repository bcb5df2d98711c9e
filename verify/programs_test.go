package verify_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
)

// folders hold the programs whose verdicts are known: see their package comments.
var folders = []string{"right", "wrong", "lyu", "more", "scaled", "fresh", "panics", "hidden", "delta", "open"}

var wantLine = regexp.MustCompile(`(?m)^want: ([a-z-]+)`)

// wanted are the verdicts that the comments of the functions of a folder ask for.
func wanted(t *testing.T, dir string) map[string]verify.Verdict {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	want := map[string]verify.Verdict{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Doc == nil {
				continue
			}
			if m := wantLine.FindStringSubmatch(decl.Doc.Text()); m != nil {
				want[decl.Name.Name] = verify.Verdict(m[1])
			}
		}
	}
	return want
}

func needSolver(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("z3"); err != nil {
		t.Skip("skip: missing tool z3 (apt-get install z3)")
	}
}

// unreached are programs whose wanted verdict the search does not reach, and why.
var unreached = map[string]string{
	"EvensOdds":       "two sums of which a changed item is in one",
	"StructsReuse":    "a value among many answers",
	"StableSelection": "a distance between two loop variables that the branches exchange",
	"ThreeLevels":     "two counters that begin anew",
	"Retries":         "a loop within a loop, left at the first answer",
	"GaussianTwice":   "Gaussian noise in two results: the half-plane that tells is no product of intervals",
	"Categories":      "scores at a private index",
	"GapWhole":        "five queries, of which three are far above the others",
	"Gumbel":          "a logarithm of noise",
	"Median":          "a count of comparisons of private rows",
	"BlockSums":       "rows that are added where their index says, and cut then",
}

// sampled says whether a program is run where one in share is, chosen by its name: with
// DISCREET_SOAK all are.
func sampled(name string, share uint32) bool {
	return os.Getenv("DISCREET_SOAK") != "" || crc32.ChecksumIEEE([]byte(name))%share == 0
}

// declared is a function of testdata with its comment.
var declared = regexp.MustCompile(`(?m)(?:^//.*\n)+func (\w+)`)

// claiming makes a module with a copy p of a folder, in which functions that are not chosen claim
// nothing, unless others call them.
func claiming(t *testing.T, dir string, chosen func(name string) bool) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	texts, all := map[string]string{}, ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts["p/"+filepath.Base(file)] = string(text)
		all += string(text)
	}
	for file, text := range texts {
		texts[file] = declared.ReplaceAllStringFunc(text, func(f string) string {
			name := declared.FindStringSubmatch(f)[1]
			if chosen(name) || strings.Count(all, name+"(") > 1 {
				return f
			}
			return strings.ReplaceAll(f, "//dp:", "// ")
		})
	}
	return module(t, texts)
}

// shares are the parts of large folders that are run, of which one program in so many is chosen.
// TestStoredProofs checks the proofs of all that is right there. TestGallery of package exact
// refutes a tenth of all that is wrong there, but for scaled.
var shares = map[string]uint32{"delta": 8, "fresh": 96, "hidden": 8, "lyu": 4, "more": 16, "open": 8, "panics": 6, "right": 8, "scaled": 8, "wrong": 8}

// limits are the times for one claim of folders with claims that are searched for in vain.
var limits = map[string]time.Duration{"more": 40 * time.Second, "fresh": 40 * time.Second, "delta": 40 * time.Second, "hidden": 4 * time.Second, "open": 2 * time.Second}

// Every program gets its verdict, from its source alone: nothing that is stored is
// used. A wrong one that is proved, or a right one that is refuted, is a fault of the
// theory; one that stays unknown, of the search. What has not the verdict that is wanted is
// judged once more with ten times as much time, and without the others: a machine with much to
// do changes no verdict.
func TestPrograms(t *testing.T) {
	needSolver(t)
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			want := wanted(t, filepath.Join("testdata", folder))
			o := verify.Options{Patterns: []string{"./testdata/" + folder}, Timeout: limits[folder], Fresh: true, NoStore: true, Now: time.Now}
			chosen := func(name string) bool { return sampled(name, max(1, shares[folder])) }
			if shares[folder] > 0 {
				o.Dir, o.Patterns = claiming(t, filepath.Join("testdata", folder), chosen), []string{"./p"}
			}
			asked := maps.Clone(want)
			maps.DeleteFunc(asked, func(name string, _ verify.Verdict) bool { return !chosen(name) })
			if 2*len(asked)*int(max(1, shares[folder])) < len(want) {
				t.Errorf("%d programs are run, of %d", len(asked), len(want))
			}
			late := misjudged(t, run(t, o), want, asked)
			if len(late) == 0 {
				return
			}
			chosen = func(name string) bool { return late[name] != "" }
			o.Dir, o.Patterns = claiming(t, filepath.Join("testdata", folder), chosen), []string{"./p"}
			o.Timeout = 10 * cmp.Or(o.Timeout, verify.DefaultTimeout)
			maps.DeleteFunc(asked, func(name string, _ verify.Verdict) bool { return !chosen(name) })
			for _, why := range late {
				t.Log("once more:", why)
			}
			for _, why := range misjudged(t, run(t, o), want, asked) {
				t.Error(why)
			}
		})
	}
}

// misjudged are the programs of a report that have not the verdicts that are wanted, or of those
// asked no result, and how.
func misjudged(t *testing.T, report *verify.Report, want, asked map[string]verify.Verdict) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name := range asked {
		out[name] = name + ": no result"
	}
	for _, r := range report.Results {
		w, ok := want[r.Function]
		delete(out, r.Function)
		line := fmt.Sprintf("%-24s %5.2fs %-10s %s", r.Function, r.Seconds, r.Verdict, r.LeastCost)
		switch why, listed := unreached[r.Function]; {
		case !ok:
			out[r.Function] = fmt.Sprintf("%s: no verdict is wanted: %s", line, r.Note)
		case r.Verdict == w:
			t.Log(line)
		case r.Verdict == verify.Unknown && listed:
			t.Logf("%s: %s is not reached: %s", line, w, why)
			for _, by := range []string{"couplings", "rules of sensitivity and cost", "counterexamples: "} {
				if !strings.Contains(r.Note, by) {
					out[r.Function] = fmt.Sprintf("%s: that %s were tried is not said: %s", line, by, r.Note)
				}
			}
		default:
			out[r.Function] = fmt.Sprintf("%s: want %s; %s", line, w, r.Note)
		}
	}
	return out
}

// What is stored beside the shipped sources and the programs proves them without a
// solver: discreet verify --check, as the CI has it.
func TestStoredProofs(t *testing.T) {
	r := run(t, verify.Options{Patterns: []string{"../mechanism", "../collect/local", "../examples/kmeans"}, Check: true})
	for _, result := range r.Results {
		if result.Verdict != verify.Proved {
			t.Errorf("%s.%s: %s: %s", result.Package, result.Function, result.Verdict, result.Note)
		}
	}
	for _, folder := range []string{"right", "lyu", "more", "scaled", "fresh", "delta"} {
		want := wanted(t, filepath.Join("testdata", folder))
		for _, result := range run(t, verify.Options{Patterns: []string{"./testdata/" + folder}, Check: true, Now: time.Now}).Results {
			_, listed := unreached[result.Function]
			if result.Verdict == verify.Vacuous {
				t.Errorf("%s.%s: %s", result.Package, result.Function, result.Note)
			}
			if proved := result.Verdict == verify.Proved; proved != (want[result.Function] == verify.Proved && !listed) {
				t.Errorf("%s: %s (%.2fs): %s", result.Function, result.Verdict, result.Seconds, result.Note)
			}
		}
	}
}
