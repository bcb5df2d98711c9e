package verify_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// mutantTable holds the verdict on every mutant of the right programs, and why those
// that are proved keep their claims.
const mutantTable = "testdata/mutants.txt"

// A row is a line of the table: folder.Function, the change, the verdict, and a reason
// for what is proved, and some that is unknown, separated by tabs.
type row struct {
	function, change string
	verdict          verify.Verdict
	reason           string
}

func (r row) key() string { return r.function + "\t" + r.change }

func (r row) String() string {
	return strings.TrimSuffix(r.key()+"\t"+string(r.verdict)+"\t"+r.reason, "\t")
}

func readTable(t *testing.T, path string) (all []row, hash uint64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "")
		if len(f) < 4 {
			t.Fatalf("%s: %q", path, line)
		}
		all = append(all, row{f[0], f[1], verify.Verdict(f[2]), f[3]})
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	return all, h.Sum64()
}

// mutated are the folders whose right programs are altered, and the package whose
// mechanisms are.
var mutated = []string{"right", "lyu", "more", shipped}

const shipped = "mechanism"

// mutantsOf are the mutants of the right programs of a folder that are proved.
func mutantsOf(t *testing.T, folder string) *folderOfMutants {
	t.Helper()
	if folder == shipped {
		all := mutate(t, "../"+shipped, func(string) bool { return true })
		all.path = "github.com/discreet-dp/discreet/private"
		return all
	}
	dir := filepath.Join("testdata", folder)
	want := wanted(t, dir)
	return mutate(t, dir, func(name string) bool {
		_, open := unreached[name]
		return want[name] == verify.Proved && !open
	})
}

// refute looks for counterexamples to mutants, by exact evaluation alone.
func (all *folderOfMutants) refute(t *testing.T, chosen func(file string, m mutant) bool, budget int) map[string]*exact.Counterexample {
	t.Helper()
	a := all.added(chosen, "one")
	dir := all.module(t, a)
	loaded, err := source.Load(t.Context(), dir, "./one")
	if err != nil {
		t.Fatal(err)
	}
	refuted := map[string]*exact.Counterexample{}
	for _, p := range loaded {
		for _, u := range p.Units {
			if u.Claim == nil || u.Function == nil || u.Claim.Cost == nil {
				continue
			}
			x, _, err := exact.Refute(t.Context(), u.Function, u.Claim, nil, exact.Search{Budget: budget, Workers: 2})
			if err != nil {
				t.Logf("%v: %v", a.names[u.Name], err)
			}
			if x != nil {
				refuted[u.Name] = x
			}
		}
	}
	return refuted
}

// judge gives the verdicts on mutants of a folder, by two judges who know nothing of
// each other: one looks for counterexamples, and one for proofs.
func (all *folderOfMutants) judge(t *testing.T, limit time.Duration, chosen func(file string, m mutant) bool) []row {
	t.Helper()
	refuted := all.refute(t, chosen, 300)
	var rows []row
	for _, wrong := range []bool{true, false} {
		b := all.added(func(file string, m mutant) bool {
			return chosen(file, m) && (refuted[m.result(file)] != nil) == wrong
		}, "two")
		limit := limit
		if wrong {
			limit = min(limit, 3*time.Second)
		}
		if len(b.names) == 0 {
			continue
		}
		for _, r := range run(t, verify.Options{Dir: all.module(t, b), Patterns: []string{"./two"}, Fresh: true, NoStore: true, Timeout: limit}).Results {
			x := refuted[r.Function]
			switch {
			case b.names[r.Function].Name == "":
				t.Errorf("%s: %s", r.Function, r.Note)
				continue
			case r.Verdict == verify.Proved && x != nil:
				t.Errorf("%v is proved, and refuted: %v and %v, %s", b.names[r.Function], x.First, x.Second, x.Event)
			case x != nil:
				r.Verdict = verify.Refuted
			case slices.ContainsFunc(r.Problems, func(p verify.Problem) bool { return p.Kind == verify.Directive }):
				r.Verdict = refused
			}
			m := b.names[r.Function]
			rows = append(rows, row{function: m.Function, change: m.Change, verdict: r.Verdict})
		}
	}
	return rows
}

// module is one with the files: of a path from which it may import what they do.
func (all *folderOfMutants) module(t *testing.T, a added) string {
	t.Helper()
	dir := module(t, a.files)
	if all.path != "" {
		mod := filepath.Join(dir, "go.mod")
		text, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		write(t, mod, strings.Replace(string(text), "module example.com/private", "module "+all.path, 1))
	}
	return dir
}

// in is the name of a mutant that was made of a function of a file.
func (m mutant) in(file string) string { return m.Name + strings.TrimSuffix(file, ".go") }

// result is the name of the result of that.
func (m mutant) result(file string) string { return m.receiver + m.in(file) }

type added struct {
	files map[string]string
	names map[string]mutant
}

// added is the package with those mutants that are chosen.
func (all *folderOfMutants) added(chosen func(string, mutant) bool, dir string) added {
	a := added{map[string]string{}, map[string]mutant{}}
	for file, text := range all.files {
		var b strings.Builder
		b.WriteString(text)
		for _, m := range all.mutants[file] {
			if chosen(file, m) {
				a.names[m.result(file)] = m
				b.WriteString("\n" + strings.ReplaceAll(m.source, m.Name, m.in(file)) + "\n")
			}
		}
		a.files[dir+"/"+file] = b.String()
	}
	return a
}

// Every constant and comparison of the right programs is altered, one at a time. What
// became of each mutant is in the table, which is shown to be complete and each of its
// proofs to have a reason; a part of them, which the table itself chooses, is judged
// here by both judges, and neither contradicts the other or the table.
func TestMutants(t *testing.T) {
	rows, hash := readTable(t, mutantTable)
	table := map[string]row{}
	for _, r := range rows {
		table[r.key()] = r
		if r.verdict == verify.Proved && r.reason == "" {
			t.Errorf("%s %s is proved for no reason", r.function, r.change)
		}
	}
	n := 0
	for _, folder := range mutated {
		all := mutantsOf(t, folder)
		sample := map[string]bool{}
		for _, m := range all.list() {
			key := folder + "." + m.Function + "\t" + m.Change
			if _, listed := table[key]; !listed {
				t.Errorf("%s is not in the table: DISCREET_MUTANTS=none go test ./verify -run TestMutantTable adds it unjudged", key)
			}
			sample[m.Function+m.Change] = (uint64(n)+hash)%mutantShare == 0
			n++
		}
		needSolver(t)
		for _, r := range all.judge(t, 10*time.Second, func(_ string, m mutant) bool { return sample[m.Function+m.Change] }) {
			r.function = folder + "." + r.function
			w := table[r.key()]
			if r.verdict == verify.Proved && w.verdict == verify.Refuted || r.verdict == verify.Refuted && w.verdict == verify.Proved {
				t.Errorf("%s, and the table says %s", r, w.verdict)
			}
			t.Logf("%s; the table says %s", r, w.verdict)
		}
	}
	if n != len(rows) {
		t.Errorf("%d mutants, and the table has %d", n, len(rows))
	}
}

// mutantShare is one over the part of the mutants that are judged in a run.
const mutantShare = 400

// refused is the verdict in the table on a mutant whose directives make no claim.
const refused verify.Verdict = "refused"

// unjudged is the verdict in the table on a mutant that TestMutantTable has not come to.
const unjudged verify.Verdict = "unjudged"

// list are the mutants, in the order of their files.
func (all *folderOfMutants) list() (list []mutant) {
	for _, file := range slices.Sorted(func(yield func(string) bool) {
		for file := range all.mutants {
			if !yield(file) {
				return
			}
		}
	}) {
		list = append(list, all.mutants[file]...)
	}
	return list
}

// TestMutantTable judges the mutants of whose rows DISCREET_MUTANTS, a regular
// expression, matches something ("^right", "Lyu4", "unjudged$" for those that the table
// has no verdict on), a few hours for all, and writes the table anew. A row that is there
// keeps its reason.
func TestMutantTable(t *testing.T) {
	which, ok := os.LookupEnv("DISCREET_MUTANTS")
	if !ok {
		t.Skip("skip: DISCREET_MUTANTS does not name mutants to judge")
	}
	only, err := regexp.Compile(which)
	if err != nil {
		t.Fatal(err)
	}
	needSolver(t)
	old, _ := readTable(t, mutantTable)
	table := map[string]row{}
	for _, folder := range mutated {
		for _, m := range mutantsOf(t, folder).list() {
			r := row{folder + "." + m.Function, m.Change, unjudged, ""}
			table[r.key()] = r
		}
	}
	for _, r := range old {
		if _, still := table[r.key()]; still {
			table[r.key()] = r
		}
	}
	defer func() { writeTable(t, table) }()
	for _, folder := range mutated {
		all := mutantsOf(t, folder)
		chosen := slices.DeleteFunc(all.list(), func(m mutant) bool {
			return !only.MatchString(table[folder+"."+m.Function+"\t"+m.Change].String())
		})
		for part := range slices.Chunk(chosen, 16) {
			within := map[string]bool{}
			for _, m := range part {
				within[m.Function+m.Change] = true
			}
			for _, r := range all.judge(t, time.Minute, func(_ string, m mutant) bool { return within[m.Function+m.Change] }) {
				r.function = folder + "." + r.function
				if was := table[r.key()]; was.verdict == r.verdict {
					r.reason = was.reason
				}
				table[r.key()] = r
			}
			writeTable(t, table)
		}
	}
}

// Every mutant that is proved, of those whose rows DISCREET_PROVED matches, is searched
// for counterexamples once more, ten times as far: for all of them about an hour.
func TestProvedMutants(t *testing.T) {
	which, ok := os.LookupEnv("DISCREET_PROVED")
	if !ok {
		t.Skip("skip: DISCREET_PROVED does not name mutants to refute")
	}
	only, err := regexp.Compile(which)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := readTable(t, mutantTable)
	for _, folder := range mutated {
		proved := map[string]bool{}
		for _, r := range rows {
			proved[r.key()] = r.verdict == verify.Proved && only.MatchString(r.String())
		}
		all := mutantsOf(t, folder)
		list := slices.DeleteFunc(all.list(), func(m mutant) bool { return !proved[folder+"."+m.Function+"\t"+m.Change] })
		for part := range slices.Chunk(list, 32) {
			within := map[string]bool{}
			for _, m := range part {
				within[m.Function+m.Change] = true
			}
			for name, x := range all.refute(t, func(_ string, m mutant) bool { return within[m.Function+m.Change] }, 3000) {
				t.Errorf("%s.%s is proved, and refuted: %v and %v, %s", folder, name, x.First, x.Second, x.Event)
			}
			t.Logf("%s: %d more stand", folder, len(part))
		}
	}
}

func writeTable(t *testing.T, table map[string]row) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Mutants of the right programs: function, change (line, column), verdict, and why what is proved holds,\n# what is refused claims nothing, or what is unknown is not decided.\n")
	count := map[verify.Verdict]int{}
	var rows []row
	for _, r := range table {
		count[r.verdict]++
		rows = append(rows, r)
	}
	fmt.Fprintf(&b, "# proved: %d; refuted: %d; refused: %d; unknown: %d; unjudged: %d\n", count[verify.Proved], count[verify.Refuted], count[refused], count[verify.Unknown], count[unjudged])
	slices.SortFunc(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(x.function, y.function), cmp.Compare(x.change, y.change))
	})
	for _, r := range rows {
		fmt.Fprintln(&b, r)
	}
	if err := os.WriteFile(mutantTable, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
