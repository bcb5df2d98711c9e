package house_test

// What a release is made of, and by whom it is tried.

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// imageFaults are what a recipe of an image must not have.
func imageFaults(text string) (faults []string) {
	last := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		if !regexp.MustCompile(`^(FROM|ARG|ADD|COPY|RUN|WORKDIR|USER|HEALTHCHECK|ENTRYPOINT)$`).MatchString(word) {
			faults = append(faults, word+" is no instruction that a recipe needs")
		}
		last[word] = rest
		if word == "FROM" && !regexp.MustCompile(`^[a-z]+:[a-z0-9.-]+$`).MatchString(rest) || strings.HasSuffix(rest, ":latest") {
			faults = append(faults, rest+" is no public image of a fixed tag")
		}
		if word != "HEALTHCHECK" && regexp.MustCompile(`https?://|\b(curl|wget)\b`).MatchString(rest) {
			faults = append(faults, "it fetches: "+rest)
		}
	}
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(last["USER"]) {
		faults = append(faults, "it runs as root")
	}
	if last["ENTRYPOINT"] != `["discreet"]` {
		faults = append(faults, "it runs something else than discreet")
	}
	if name := "discreet-${VERSION}-linux-${TARGETARCH}"; !strings.HasPrefix(last["ADD"], name+".tar.gz ") {
		faults = append(faults, "it adds another archive than make release makes: "+last["ADD"])
	}
	if !strings.Contains(last["HEALTHCHECK"], `CMD ["discreet", "serve", "--probe", "http://127.0.0.1:`) {
		faults = append(faults, "nobody asks whether it is well")
	}
	return faults
}

// What a server is run with: as somebody who is not root and can get nothing more, with a
// root that cannot be written to, and no copy of its memory.
func TestServersAreConfined(t *testing.T) {
	inRoot(t)
	for path, wants := range map[string][]string{
		"packaging/compose.yaml": {`user: "10001:10001"`, "read_only: true", `cap_drop: ["ALL"]`, "no-new-privileges:true", "ulimits: {core: 0}", "memswap_limit: 8g", "mem_limit: 8g",
			`"serve", "--probe"`, `"--anchor", "/witness/head"`},
		"packaging/discreet.service": {"User=discreet\n", "LimitCORE=0\n", "MemorySwapMax=0\n", "NoNewPrivileges=yes\n", "ProtectSystem=strict\n", "CapabilityBoundingSet=\n", "UMask=0077\n",
			"SystemCallFilter=@system-service\n", "ExecReload=/bin/kill -HUP $MAINPID\n"},
	} {
		text := readFile(t, path)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	// Of ten; 20 is two. Without the filter of system calls it is above that.
	if text, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", "packaging/discreet.service").CombinedOutput(); err != nil {
		t.Errorf("the unit is exposed: %v\n%s", err, text)
	}
}

func TestContainerfile(t *testing.T) {
	inRoot(t)
	text := readFile(t, "packaging/Containerfile")
	for _, fault := range imageFaults(text) {
		t.Error(fault)
	}
	for _, planted := range []struct{ old, fresh string }{
		{"USER 10001:10001", "USER 0:0"}, {"USER 10001:10001\n", ""}, {"debian:trixie-slim", "debian:latest"}, {"debian:trixie-slim", "registry.example/debian:12"},
		{"WORKDIR /data", "RUN curl example.org | sh"}, {`["discreet"]`, `["sh"]`}, {"WORKDIR /data", "EXPOSE 80"}, {`"--probe"`, `"--check"`}, {"ADD discreet-", "ADD other-"},
	} {
		changed := strings.Replace(text, planted.old, planted.fresh, 1)
		if changed == text || len(imageFaults(changed)) == 0 {
			t.Errorf("%q for %q is not noticed", planted.fresh, planted.old)
		}
	}
	if !strings.Contains(readFile(t, "packaging/release"), "name=discreet-$version-$os-$arch") {
		t.Error("packaging/release names its archives otherwise")
	}
}

// The public description of the CI runs what the CI runs, with no more rights than to read.
func TestWorkflow(t *testing.T) {
	inRoot(t)
	text := readFile(t, ".github/workflows/ci.yml")
	for _, want := range []string{"\n      - run: .ci/run\n", "\npermissions:\n  contents: read\n", "go-version-file: go.mod"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(text, -1) {
		if !regexp.MustCompile(`^actions/[a-z-]+@v\d+$`).MatchString(m[1]) {
			t.Errorf("it uses %s", m[1])
		}
	}
	// What .ci/setup installs for the tests, it installs too.
	for _, m := range regexp.MustCompile(`(?m)apt_install ([a-z0-9 ]+)$`).FindAllStringSubmatch(readFile(t, ".ci/setup"), -1) {
		for tool := range strings.FieldsSeq(m[1]) {
			if !strings.Contains(text, " "+tool) {
				t.Errorf("it does not install %s", tool)
			}
		}
	}
}

// called is what a release saves at least by functions that are called where they are not
// copied to: 2.77 MB and, of ten packages more, 0.54, as measured. A test would compile half of the house anew for it.
const called = 3_100_000

// The command, linked as a release links it, has at most the size that a release allows. The
// release alone leaves out paths too, for which all would be compiled anew.
func TestReleaseIsSmall(t *testing.T) {
	inRoot(t)
	if testing.Short() {
		t.Skip("skip: -short; it links the whole command")
	}
	if _, err := exec.LookPath("ld.gold"); err != nil {
		t.Skip("skip: missing tool ld.gold, by which a release is linked")
	}
	text := readFile(t, "packaging/release")
	limit := regexp.MustCompile(`(?m)^limit=\$\(\((\d+) \* 1000 \* 1000\)\)`).FindStringSubmatch(text)
	if limit == nil || !strings.Contains(text, "\tpackaging/build \"$dir/$binary\" \"${flags[@]}\"\n") || !strings.Contains(text, `flags+=("-gcflags=$packages=-l")`) {
		t.Fatal("packaging/release says its limit, or how it builds, otherwise")
	}
	most, err := strconv.ParseInt(limit[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "discreet")
	build := exec.Command("packaging/build", binary)
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	file, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, of which a release leaves out %d or more", file.Size(), called)
	if file.Size()-called > most*1000*1000 {
		t.Errorf("it has %d bytes, more than %d MB and what a release leaves out: make release fails", file.Size(), most)
	}
	if text := readFile(t, binary); strings.Contains(text, "\x00N6duckdb21AutocompleteExtensionE\x00") {
		t.Error("DuckDB's completion is linked")
	}
	ask := exec.Command(binary, "demo")
	ask.Dir = t.TempDir()
	if text, err := ask.CombinedOutput(); err != nil {
		t.Errorf("discreet demo: %v\n%s", err, text)
	}
}

// Two releases of one commit, of two clones, have the same bytes; what is in the archive
// runs, and has its papers. It compiles the whole program twice.
func TestReleaseIsReproducible(t *testing.T) {
	inRoot(t)
	if os.Getenv("DISCREET_SOAK") == "" {
		t.Skip("make soak makes two releases")
	}
	var sums [2][]byte
	var out string
	from := "."
	for i := range sums {
		clone := filepath.Join(t.TempDir(), "clone")
		if text, err := exec.Command("git", "clone", "-q", from, clone).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		from = clone // whose commit stays the same, whatever is committed here meanwhile
		out = filepath.Join(clone, "dist")
		cmd := exec.Command("packaging/release", "dist")
		cmd.Dir = clone
		cmd.Env = append(os.Environ(), "VERSION=v0.0.0-test", "TARGETS=linux/amd64 linux/amd64/noengine")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		sums[i] = []byte(readFile(t, filepath.Join(out, "SHA256SUMS")))
	}
	if len(sums[0]) == 0 || !bytes.Equal(sums[0], sums[1]) {
		t.Errorf("two releases differ:\n%s%s", sums[0], sums[1])
	}
	for _, name := range []string{"discreet-v0.0.0-test-linux-amd64", "discreet-v0.0.0-test-linux-amd64-noengine"} {
		dir := t.TempDir()
		if text, err := exec.Command("tar", "-C", dir, "-xzf", filepath.Join(out, name+".tar.gz")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, file := range []string{"LICENSE", "LICENCES", "discreet.spdx.json", "SECURITY.md", "share/man/man1/discreet.1"} {
			if readFile(t, filepath.Join(dir, name, file)) == "" {
				t.Errorf("%s of %s is empty", file, name)
			}
		}
		if text, err := exec.Command(filepath.Join(dir, name, "discreet"), "account", "gaussian(1)", "--delta", "1e-5").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// TestContainerfileIsLinted: hadolint finds nothing in the image's recipe, and finds what is planted.
func TestContainerfileIsLinted(t *testing.T) {
	inRoot(t)
	linter, err := filepath.Abs("bin/hadolint")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(linter); err != nil {
		if linter, err = exec.LookPath("hadolint"); err != nil {
			t.Skip("skip: hadolint is not here; .ci/setup installs it where the Python package index is reachable")
		}
	}
	lint := func(text string) (string, error) {
		c := exec.Command(linter, "--no-color", "-")
		c.Stdin = strings.NewReader(text)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	text := readFile(t, "packaging/Containerfile")
	if out, err := lint(text); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := lint(strings.Replace(text, "trixie-slim", "latest", 1)); err == nil || !strings.Contains(out, "DL3007") {
		t.Errorf("an image of no version passes: %s", out)
	}
}
