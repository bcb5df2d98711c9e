package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func entry(program string) *Entry {
	return &Entry{Program: program, Claim: "cost eps", Verdict: "proved", Over: "reals", Kind: "alignment", Proof: json.RawMessage(`{"shift": "1", "holds": "a <= b && <c>"}`)}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range entries {
		all = append(all, name+"="+e.Program)
	}
	slices.Sort(all)
	return all
}

// What a run found replaces what was stored; what it did not look at stays; what
// has no claim any more goes.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	for _, step := range []struct {
		found   map[string]*Entry
		all     []string
		changed bool
		want    []string
	}{
		{nil, nil, false, nil},
		{map[string]*Entry{"A": entry("1"), "B": entry("2")}, []string{"A", "B"}, true, []string{"A=1", "B=2"}},
		{map[string]*Entry{"A": entry("1")}, []string{"A", "B"}, false, []string{"A=1", "B=2"}},
		{map[string]*Entry{"A": entry("3")}, []string{"A", "B"}, true, []string{"A=3", "B=2"}},
		{map[string]*Entry{"C": entry("4"), "A": nil}, []string{"A", "B", "C"}, true, []string{"B=2", "C=4"}},
		{nil, []string{"C"}, true, []string{"C=4"}},
		{map[string]*Entry{"D": entry("5")}, []string{"C"}, false, []string{"C=4"}}, // D is no function with a claim
		{nil, nil, true, nil},
	} {
		changed, err := Update(dir, step.found, step.all)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, dir); changed != step.changed || !slices.Equal(got, step.want) {
			t.Errorf("%v: %v, changed %v; want %v, %v", step.found, got, changed, step.want, step.changed)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// An unchanged file is not touched: it lies under version control, and build caches
// look at its time.
func TestUnchangedIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	if _, err := Update(dir, map[string]*Entry{"A": entry("1")}, []string{"A"}); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := Update(dir, map[string]*Entry{"A": entry("1")}, []string{"A"}); changed || err != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	after, err := os.Stat(filepath.Join(dir, Name))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it is another file (%v)", err)
	}
}

func TestFormatIsReadable(t *testing.T) {
	text, err := format(map[string]*Entry{"B": entry("2"), "A": entry("1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a <= b && <c>", "\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if a, b := bytes.Index(text, []byte(`"A"`)), bytes.Index(text, []byte(`"B"`)); a > b {
		t.Error("functions are not in order")
	}
}

func TestFormatAndParseAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é]*`)
		made := rapid.MapOf(text, rapid.Custom(func(t *rapid.T) *Entry {
			e := entry("p" + text.Draw(t, "program"))
			e.Claim, e.Note = text.Draw(t, "claim"), text.Draw(t, "note")
			proof, err := json.Marshal(text.Draw(t, "proof"))
			if err != nil {
				t.Fatal(err)
			}
			e.Proof = proof
			return e
		})).Draw(t, "entries")
		once, err := format(made)
		if err != nil {
			t.Fatal(err)
		}
		read, err := parse(once)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range read {
			var a, b string
			if json.Unmarshal(e.Proof, &a) != nil || json.Unmarshal(made[name].Proof, &b) != nil || a != b {
				t.Fatalf("%s became %s", made[name].Proof, e.Proof)
			}
			e.Proof = made[name].Proof
		}
		if d := cmp.Diff(made, read); d != "" {
			t.Fatal(d)
		}
		if twice, err := format(read); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s\nis then\n%s", once, twice)
		}
	})
}

func TestMalformed(t *testing.T) {
	good, err := format(map[string]*Entry{"A": entry("1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"", "EOF"},
		{"null", "version 0"},
		{"[]", "cannot unmarshal array"},
		{`{"version": 1`, "unexpected EOF"},
		{`{"version": 2, "functions": {}}`, "version 2, this program reads 1"},
		{`{"version": 2, "sections": []}`, "version 2, this program reads 1"},
		{`{"version": 1, "sections": []}`, "unknown field"},
		{`{"version": 1, "functions": {"A": null}}`, `nothing is stored for "A"`},
		{`{"version": 1, "functions": {"A": {"program": "x", "kind": "y"}}}`, `"A" lacks`},
		{`{"version": 1, "functions": {"A": 7}}`, "cannot unmarshal number"},
		{string(good) + "{}", "text after its end"},
		{"\xff\xfe" + string(good), "invalid character"},
		{strings.Repeat("[", 100_000), "exceeded max depth"},
	} {
		_, err := parse([]byte(test.text))
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, want %q", test.text, err, test.want)
		}
	}
}

// A damaged file is refused by Update too, and left as it is: it may hold what
// somebody merged by hand.
func TestDamagedIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	const conflict = "<<<<<<< HEAD\n{}\n"
	if err := os.WriteFile(path, []byte(conflict), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Update(dir, map[string]*Entry{"A": entry("1")}, []string{"A"})
	if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != conflict {
		t.Errorf("it became %q (%v)", text, err)
	}
}

// What is no file is refused and does not hang.
func TestOddFiles(t *testing.T) {
	for name, create := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"large": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, maxSize+1))
		},
	} {
		dir := t.TempDir()
		if err := create(filepath.Join(dir, Name)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	good, err := format(map[string]*Entry{"A": entry("1")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version": 1, "functions": {}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parse(text)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%v", err)
			}
			return
		}
		once, err := format(entries)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parse(once); err != nil || len(again) != len(entries) {
			t.Errorf("%s: %v", once, err)
		}
	})
}
