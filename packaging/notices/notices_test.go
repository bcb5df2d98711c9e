package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// For each machine that a release is made for, every module that is linked has its
// licence's text, and stands in the parts list.
func TestNotices(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	for _, target := range []string{"linux amd64 1", "linux arm64 1", "linux amd64 0", "darwin arm64 0", "windows amd64 0"} {
		t.Run(target, func(t *testing.T) {
			words := strings.Fields(target)
			t.Setenv("GOOS", words[0])
			t.Setenv("GOARCH", words[1])
			t.Setenv("CGO_ENABLED", words[2])
			var licences, list, again bytes.Buffer
			parts, err := linked("./cmd/discreet")
			if err != nil {
				t.Fatal(err)
			}
			if err := write("licences", parts, &licences); err != nil {
				t.Fatal(err)
			}
			if err := write("spdx", parts, &list); err != nil {
				t.Fatal(err)
			}
			if err := run([]string{"spdx"}, &again); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(list.Bytes(), again.Bytes()) {
				t.Error("two lists differ")
			}
			var d spdx
			if err := json.Unmarshal(list.Bytes(), &d); err != nil {
				t.Fatal(err)
			}
			ids := map[string]bool{}
			for _, p := range d.Packages {
				if ids[p.ID] || !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.ID) {
					t.Errorf("the name %s is taken or malformed", p.ID)
				}
				ids[p.ID] = true
			}
			for _, r := range d.Relationships {
				if !ids[r.To] || r.From != documentID && !ids[r.From] {
					t.Errorf("%v names what there is not", r)
				}
			}
			out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/discreet").Output()
			if err != nil {
				t.Fatal(err)
			}
			for module := range strings.FieldsSeq(string(out)) {
				_, rest, found := strings.Cut(licences.String(), rule+"\n"+module+" ")
				here, _, _ := strings.Cut(rest, rule)
				if !found || len(here) < 500 {
					t.Errorf("%s has no licence's text", module)
				}
				if !strings.Contains(list.String(), `"pkg:golang/`+strings.ToLower(module)) {
					t.Errorf("%s is not in the parts list", module)
				}
			}
			for name, version := range bundledScripts(t) {
				if !strings.Contains(licences.String(), rule+"\nnpm "+name+" "+version) || !strings.Contains(list.String(), `"pkg:npm/`+strings.ReplaceAll(name, "@", "%40")+"@"+version+`"`) {
					t.Errorf("%s %s, which the pages' scripts hold, has no licence's text or is not in the parts list", name, version)
				}
			}
			if duckdb := strings.Contains(licences.String(), "DuckDB's zstd"); duckdb != (words[2] == "1") {
				t.Errorf("DuckDB's libraries are named: %v", duckdb)
			}
		})
	}
}

// bundledScripts are the packages of npm that the scripts of the pages are bundled of, by the lock
// file: all but the bundler.
func bundledScripts(t *testing.T) map[string]string {
	t.Helper()
	words, err := os.ReadFile("serve/web/script/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(words, &lock); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for path, p := range lock.Packages {
		name, is := strings.CutPrefix(path, "node_modules/")
		if is && name != "esbuild" && !strings.HasPrefix(name, "@esbuild/") && !p.Dev {
			all[name] = p.Version
		}
	}
	if len(all) < 10 {
		t.Fatalf("the lock file names %v", all)
	}
	return all
}

// What is linked has been looked up among known vulnerabilities, at the versions that go.mod
// has: packaging/vulnerabilities writes what it found.
func TestModulesWereLookedUp(t *testing.T) {
	words, err := os.ReadFile("packaging/modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	head, recorded, _ := strings.Cut(string(words), "\n\n")
	if !regexp.MustCompile(`(?m)^# Looked up on 20[0-9]{2}-[0-9]{2}-[0-9]{2} by govulncheck v[0-9.]+ with go[0-9.]+ in the Go vulnerability database of 20[0-9]{2}-[0-9]{2}-[0-9]{2}`).MatchString(head) {
		t.Errorf("it does not say when and in what was looked up:\n%s", head)
	}
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, m := range mod.Require {
		required = append(required, m.Path+" "+m.Version)
	}
	slices.Sort(required)
	var listed []string
	for line := range strings.SplitSeq(strings.TrimSpace(recorded), "\n") {
		module, found, _ := strings.Cut(line, ": ")
		listed = append(listed, module)
		if found != "none known" && !strings.HasPrefix(found, "GO-") {
			t.Errorf("%q says neither that nothing is known nor what is", line)
		}
	}
	if !slices.Equal(listed, required) {
		t.Errorf("go.mod has other modules or versions than were looked up: packaging/vulnerabilities looks them up again\n%s", strings.Join(append(missing(listed, required), missing(required, listed)...), "\n"))
	}
}

// missing are those of the second list that the first lacks.
func missing(from, of []string) (all []string) {
	for _, one := range of {
		if !slices.Contains(from, one) {
			all = append(all, one)
		}
	}
	return all
}

// Each library that DuckDB brings has its text, and each text its library.
func TestLibrariesHaveTheirTexts(t *testing.T) {
	used := map[string]bool{}
	for archive, inside := range archives {
		for _, name := range inside {
			used[name] = true
			l, known := libraries[name]
			words, err := licences.ReadFile("licences/" + name + ".txt")
			if !known || l.licence == "" || l.source == "" || err != nil || !bytes.Contains(bytes.ToLower(words), []byte("copyright")) && !bytes.Contains(words, []byte("Permission is hereby granted")) {
				t.Errorf("%s of %s: %+v, %d bytes, %v", name, archive, l, len(words), err)
			}
		}
	}
	entries, err := licences.ReadDir("licences")
	if err != nil || len(entries) != len(used) || len(libraries) != len(used) {
		t.Errorf("%d texts and %d licences of %d libraries: %v", len(entries), len(libraries), len(used), err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/libduckdb_zstd.a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if parts, err := bundled(dir, built+"0"); err != nil || len(parts) != 1 || len(parts[0].texts) != 1 {
		t.Errorf("zstd: %v, %v", parts, err)
	}
	if _, err := bundled(dir, "v0.10600.0"); err == nil {
		t.Error("texts of one version are given out as those of another")
	}
}

// A folder without a licence, or with one that nobody knows, is refused.
func TestNoLicence(t *testing.T) {
	dir := t.TempDir()
	if _, err := read("m", "v1", dir, false); err == nil {
		t.Error("no licence is accepted")
	}
	if err := os.WriteFile(dir+"/LICENSE", []byte("All rights reserved."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read("m", "v1", dir, false); err == nil {
		t.Error("an unknown licence is accepted")
	}
}
