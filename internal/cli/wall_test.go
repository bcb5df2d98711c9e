//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/learn"
	"github.com/discreet-dp/discreet/internal/cli/wall"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Programs that tests start beside discreet itself.
var programs = map[string]func(){"as": as, "settings": settings, "look": look, "crash": crash}

// as runs a program with a real user ID that is not the effective one, as a
// set-user-ID bit does: as UID PROGRAM [ARGUMENT...].
func as() {
	uid, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = syscall.Setreuid(uid, os.Geteuid())
	}
	path, lookErr := exec.LookPath(os.Args[2])
	if err = errors.Join(err, lookErr); err == nil {
		err = syscall.Exec(path, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// settings prints what the engine of a walled command may use: settings CATALOG.
func settings() {
	_, err := wall.Raise()
	w := workplace.Workplace{CatalogPath: os.Args[1]}
	if err == nil {
		err = w.Load()
	}
	var o engine.Owner
	if err == nil {
		o, err = w.OpenOwner(context.Background())
	}
	if err == nil {
		var rows [][]any
		_, rows, err = o.Rows(context.Background(), `SELECT current_setting('memory_limit'), current_setting('threads'),
			regexp_replace(current_setting('temp_directory'), '[0-9]+$', ''), current_setting('TimeZone')`)
		fmt.Println(rows)
	}
	w.Close()
	fmt.Println(err)
}

// look prints what a walled process sees and shows: its environment, and what its own
// library in C sees of it.
func look() {
	talk, err := wall.Raise()
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println("environment", os.Environ())
	var core syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_CORE, &core)
	fmt.Println("core", core.Cur, core.Max, dumpable(), err)
	fmt.Fprintln(talk, "talk")
	fmt.Fprintln(os.Stderr, "secret")
	if len(os.Args) > 1 {
		panic("secret")
	}
}

// everyCommand returns all commands and verbs that run.
func everyCommand(t *testing.T) []*command.Command {
	t.Helper()
	all := withVerbs(commands())
	for _, c := range all {
		if c.For == 0 {
			t.Errorf("%s: nobody has said who may be given it", c.Title())
		}
	}
	return all
}

// Every flag that names a file is here, with who names it: "owner" is opened with the
// rights of the process, "caller" never with rights that are not the caller's. A flag that
// names a file and is not here, or here and nowhere else, fails.
var fileFlags = map[string]string{
	"catalog": "owner", "ledger": "owner", "anchor": "owner", "ledger-key": "owner",

	"f": "caller", "module": "caller", "plot": "caller", "dir": "caller", "sarif": "caller", "html": "caller", "smt": "caller",
	"csv": "caller", "encoding": "caller", "spec": "caller", "out": "caller", "checkpoint": "caller", "resume": "caller",
	"model-file": "caller", "images": "caller", "labels": "caller", "train-images": "caller", "train-labels": "caller",
	"others": "caller", "other-labels": "caller", "votes": "caller", "answered": "caller", "public": "caller", "network": "caller",
	"ensemble": "caller", "save-ensemble": "caller", "private-votes": "caller", "config": "caller", "ready-file": "caller",
	"federation": "caller", "identity": "caller", "state": "caller", "codes": "caller", "member": "caller",
}

// notFiles are the names of values that are no files.
var notFiles = regexp.MustCompile(`^(|[A-Z]|[A-Z][0-9]|E,\.\.\.|A,\.\.\.|A,B,\.\.\.|A\.\.B|NAME=A,B,\.\.\.|A,B\.\.C,\.\.\.|K,\.\.\.|N,\.\.\.|Q,\.\.\.|V,\.\.\.|X,Y,\.\.\.|N,M,\.\.\.|H1,H2|` +
	`NAME|NAME=VALUE|HOST:PORT=KEY|ERROR|URL|ADDRESS|DATE|AMOUNT|DAY,\.\.\.|TIME|LONG|ZONE|NAME,\.\.\.|TEXT|KEY|DOMAIN|TABLE|COLUMN|CONDITION|LIST|WHAT|LO\.\.HI|LAW|S1|[a-z0-9|-]+|table\|csv\|json)$`)

func TestFlagsThatNameFiles(t *testing.T) {
	have := map[string]bool{}
	for _, c := range everyCommand(t) {
		c.Flags.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			if strings.Contains(usage, "`") {
				t.Errorf("%s --%s names two values: %s", c.Title(), f.Name, usage)
			}
			switch {
			case c.NamesFile(f.Name):
				have[f.Name] = true
				if who := fileFlags[f.Name]; who == "" || (who == "owner") != slices.Contains(command.OwnersFiles, f.Name) {
					t.Errorf("%s --%s names a file: whose?", c.Title(), f.Name)
				}
			case !notFiles.MatchString(value):
				t.Errorf("%s --%s %s: is that a file?", c.Title(), f.Name, value)
			case fileFlags[f.Name] != "" && f.Value.(interface{ String() string }) != nil && value != "" && f.Name != "public":
				t.Errorf("%s --%s %s should name a FILE", c.Title(), f.Name, value)
			}
		})
		if takes := regexp.MustCompile(`FILE\.\.\.|MODEL|PACKAGE`).MatchString(c.UsageLine); takes && !c.Files && c.For != command.Owner && len(c.Verbs) == 0 {
			t.Errorf("%s takes arguments that name files", c.Title())
		}
	}
	for name := range fileFlags {
		if !have[name] {
			t.Errorf("no command has --%s", name)
		}
	}
}

// sudo runs a command line here as sudo would for another user.
func sudo(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	t.Setenv("SUDO_UID", strconv.Itoa(os.Geteuid()+4321))
	var out bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader("SELECT nothing"), &out, &out)
	return out.String(), code
}

// Whoever runs an analyst's command, or anybody's, with another's rights makes it open no
// file: neither by a flag nor by an argument, and no file is made or changed.
func TestCallersFilesAreNotOpened(t *testing.T) {
	const secret = "the secret line of another's file"
	for _, c := range everyCommand(t) {
		if c.For == command.Owner {
			continue
		}
		c.Flags.VisitAll(func(f *flag.Flag) {
			if !c.NamesFile(f.Name) || slices.Contains(command.OwnersFiles, f.Name) {
				return
			}
			for _, form := range [][]string{{"--" + f.Name, "%"}, {"-" + f.Name + "=%"}} {
				path := filepath.Join(t.TempDir(), "file.svg")
				if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
					t.Fatal(err)
				}
				args := strings.Fields(c.Title())
				for _, a := range form {
					args = append(args, strings.Replace(a, "%", path, 1))
				}
				said, code := sudo(t, args...)
				if text, err := os.ReadFile(path); code != diagnostic.ExitUsage || !strings.Contains(said, "D118") || strings.Contains(said, "secret") || string(text) != secret || err != nil {
					t.Errorf("%q: %d, %q, %v\n%s", args, code, text, err, said)
				}
			}
		})
		if c.Files {
			if said, code := sudo(t, append(strings.Fields(c.Title()), "/etc/passwd")...); code != diagnostic.ExitUsage || !strings.Contains(said, "D118") || strings.Contains(said, "root") {
				t.Errorf("%s: %d\n%s", c.Title(), code, said)
			}
		}
	}
	// A plan names files too.
	secrets := filepath.Join(t.TempDir(), "curve.csv")
	if err := os.WriteFile(secrets, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"", "calibrate", "runs", "odometer", "curve"} {
		for _, event := range []string{"rdp", "pair"} {
			args := slices.DeleteFunc([]string{"account", verb, event + `("` + secrets + `")`, "--delta", "1e-6", "--epsilon", "1"}, func(s string) bool { return s == "" })
			if said, code := sudo(t, args...); code == 0 || !strings.Contains(said, "D118") || strings.Contains(said, "secret") {
				t.Errorf("%q: %d\n%s", args, code, said)
			}
		}
	}
	// What the shell opens is the caller's.
	catalog := folder(t)
	if said, _ := sudo(t, "explain", "--catalog", catalog, "--rho", "1", "-"); strings.Contains(said, "D118") {
		t.Error(said)
	}
	if said, _ := sudo(t, "explain", "--catalog", catalog, "--rho", "1", "-f", "-"); strings.Contains(said, "D118") {
		t.Error(said)
	}
	// Nor a catalog or ledger that is the caller's own.
	t.Setenv("SUDO_UID", strconv.Itoa(os.Geteuid()))
	if by := command.WhoCalls(); by.Other {
		t.Error("a caller with its own rights is another's")
	}
}

// What sudo and the like say of a caller.
func TestWhoCalls(t *testing.T) {
	me := strconv.Itoa(os.Geteuid())
	for _, tc := range []struct {
		variable, value string
		other           bool
		uid             int
	}{
		{"SUDO_UID", "", false, -1},
		{"SUDO_UID", me, false, -1},
		{"SUDO_UID", "54321", true, 54321},
		{"SUDO_UID", "-1", true, -1},
		{"SUDO_UID", "x", true, -1},
		{"PKEXEC_UID", "54321", true, 54321},
		{"DOAS_USER", "nobody that there is", true, -1},
	} {
		t.Run(tc.variable+tc.value, func(t *testing.T) {
			t.Setenv(tc.variable, tc.value)
			by := command.WhoCalls()
			if by.Other != tc.other || by.UID != tc.uid || by.User.UID != os.Geteuid() || tc.other != (by.User.Caller != nil) {
				t.Errorf("%+v %v", by, by.User)
			}
		})
	}
}

// By a set-user-ID bit no analyst's command runs, and the owner's record who called.
func TestLentRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can lend rights here")
	}
	catalog := folder(t)
	const uid = "54321"
	secret := filepath.Join(t.TempDir(), "secret.sql")
	if err := os.WriteFile(secret, []byte("root:hash SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"explain", "--catalog", catalog, "--rho", "1", "-f", secret},
		{"explain", "--catalog", secret, "--rho", "1", "SELECT 1"},
		{"query", "--catalog", catalog, "--rho", "1", "SELECT count(*) FROM visits"},
		{"map", "--catalog", catalog, "--rho", "1", "--module", secret, "--table", "visits"},
		{"budget", "--catalog", catalog},
		{"model", "inspect", secret},
		{"verify", secret},
	} {
		out, err := exec.Command("as", append([]string{uid, "discreet"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "D118") || strings.Contains(string(out), "SECRET") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	made := catalog + ".ledger"
	if out, err := exec.Command("as", uid, "discreet", "ledger", "create", "--catalog", catalog, "--ledger", made).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	history, _ := run(t, t.Context(), 0, "budget", "--json", "--catalog", catalog, "--ledger", made)
	if !strings.Contains(history, `"user":{"uid":0,"name":"root","caller":{"uid":54321}}`) {
		t.Errorf("the ledger does not say who asked: %s", history)
	}
}

// By sudo the ledger has the caller; a catalog is the owner's own, and one that is none is not
// shown; limits of the caller's shell do not hold.
func TestSudo(t *testing.T) {
	catalog := folder(t)
	query := []string{"query", "--catalog", catalog, "--rho", "0.01", "--analyst", "ada", "SELECT count(*) FROM visits"}
	if said, code := sudo(t, query...); code != 0 {
		t.Fatalf("%d: %s", code, said)
	}
	page, code := sudo(t, "budget", "--catalog", catalog)
	me := command.UserOf(os.Geteuid()).String()
	if !regexp.MustCompile(`ada +uid `+strconv.Itoa(os.Geteuid()+4321)+` as `+me+` +patient`).MatchString(page) || code != 0 {
		t.Errorf("the page does not say who asked:\n%s", page)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("root:hash SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range command.OwnersFiles {
		args := []string{"query", "--rho", "0.01", "SELECT count(*) FROM visits", "--" + name, secret}
		if name != "catalog" {
			args = append(args, "--catalog", catalog)
		}
		if said, code := sudo(t, args...); code != diagnostic.ExitRefused || strings.Contains(said, "SECRET") || strings.Contains(said, "hash") {
			t.Errorf("--%s: %d\n%s", name, code, said)
		}
		args = append([]string{"query"}, "--"+name, secret, "--"+name, secret, "SELECT 1")
		if said, code := sudo(t, args...); code != diagnostic.ExitUsage || !strings.Contains(said, "D115") {
			t.Errorf("--%s twice: %d\n%s", name, code, said)
		}
	}
	// Limits of the caller's shell that would fail the answer.
	if _, err := exec.LookPath("bash"); err == nil {
		c := exec.Command("bash", append([]string{"-c", `ulimit -f 100; exec discreet "$@"`, "bash"}, query...)...)
		c.Env = append(os.Environ(), "SUDO_UID="+strconv.Itoa(os.Geteuid()+1))
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "D119") {
			t.Errorf("a limit: %v\n%s", err, out)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	// A catalog, or a folder on the way to it, that is another's.
	for _, p := range []string{catalog, filepath.Dir(catalog), filepath.Dir(filepath.Dir(catalog))} {
		if err := os.Chown(p, 54321, -1); err != nil {
			t.Fatal(err)
		}
		if said, code := sudo(t, query...); code != diagnostic.ExitRefused || !strings.Contains(said, "D099") {
			t.Errorf("%s is another's: %d\n%s", p, code, said)
		}
		if err := os.Chown(p, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// No flag and no variable of an analyst's changes what the engine may use.
func TestResourcesAreTheOwners(t *testing.T) {
	catalog := folder(t)
	temp := filepath.Join(filepath.Dir(catalog), "spill")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	declare(t, catalog, smallCatalog+"[resources]\nmemory = \"300MB\"\nthreads = 3\ntemp = \"spill\"\n")
	measure := func(env ...string) string {
		c := exec.Command("settings", catalog)
		c.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	// What DuckDB, its libraries, SQLite, libc and Go read, or read once.
	hostile := []string{"TMPDIR=/nowhere", "TMP=/nowhere", "TEMP=/nowhere", "SQLITE_TMPDIR=/nowhere", "HOME=/nowhere", "TZ=/etc/passwd", "TZ=:/etc/passwd", "TZDIR=/nowhere",
		"SLURM_MEM_PER_NODE=1", "SLURM_MEM_PER_CPU=1", "SLURM_CPUS_ON_NODE=1", "SLURM_CPUS_PER_TASK=1", "SLURM_JOB_CPUS_PER_NODE=1", "OMP_NUM_THREADS=1",
		"DUCKDB_MEMORY_LIMIT=1KB", "DUCKDB_THREADS=1", "DUCKDB_TEMP_DIRECTORY=/nowhere", "ICU_DATA=/nowhere", "LC_ALL=de_DE", "LANG=tr_TR",
		"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=1", "GODEBUG=madvdontneed=0,cpu.avx2=off", "GOTRACEBACK=crash", "MALLOC_ARENA_MAX=1", "MALLOC_CONF=narenas:1"}
	for _, declared := range []string{"", "[resources]\nmemory = \"300MB\"\nthreads = 3\ntemp = \"spill\"\n"} {
		declare(t, catalog, smallCatalog+declared)
		want := measure()
		if declared != "" && (!strings.Contains(want, "286.1 MiB 3 "+temp+"/discreet-") || !strings.HasSuffix(want, "<nil>\n")) {
			t.Errorf("declared: %s", want)
		}
		if got := measure(hostile...); got != want {
			t.Errorf("together: %s, want %s", got, want)
		}
	}
	// Each retired flag of each command that had it, and each variable.
	for _, c := range everyCommand(t) {
		for name := range command.Resources {
			if f := c.Flags.Lookup(name); f != nil {
				t.Errorf("%s still has --%s", c.Title(), name)
			}
			if said, code := say(t, t.Context(), append(strings.Fields(c.Title()), "--"+name, "1")...); code != diagnostic.ExitUsage || !strings.Contains(said, "D119") || !strings.Contains(said, "[resources]") {
				t.Errorf("%s --%s: %d %s", c.Title(), name, code, said)
			}
			if c.For == command.Anyone {
				continue
			}
			if _, err := c.Parse(nil); err != nil {
				t.Errorf("%s: %v", c.Title(), err)
			}
			t.Setenv("DISCREET_"+strings.ToUpper(name), "1")
			if _, err := c.Parse(nil); err == nil || !strings.Contains(err.Error(), "D119") && !strings.Contains(err.Error(), "only the catalog may set") {
				t.Errorf("%s: %v", c.Title(), err)
			}
			t.Setenv("DISCREET_"+strings.ToUpper(name), "")
		}
	}
}

// Behind the wall there is nothing of the environment but what is named, no core, and
// nobody hears what the runtime prints.
func TestWall(t *testing.T) {
	for _, args := range [][]string{nil, {"panic"}} {
		c := exec.Command("look", args...)
		c.Env = []string{"A_VARIABLE=1", "GOTRACEBACK=crash", "GODEBUG=madvdontneed=1", "TZ=Europe/Berlin", "NO_COLOR=1", "DISCREET_ACCOUNT_TIMEOUT=1h", "BASH_FUNC_x%%=() { :; }"}
		var out, talk bytes.Buffer
		c.Stdout, c.Stderr = &out, &talk
		err := c.Run()
		if (err != nil) != (args != nil) {
			t.Errorf("%q: %v", args, err)
		}
		if want := "environment [TZ=Europe/Berlin NO_COLOR=1 DISCREET_ACCOUNT_TIMEOUT=1h]\ncore 0 0 false <nil>\n"; out.String() != want {
			t.Errorf("it sees %s, want %s", out.String(), want)
		}
		if talk.String() != "talk\n" {
			t.Errorf("it shows %q", talk.String())
		}
	}
}

// No signal makes a command show goroutines or registers, whatever the environment asks
// for; a quit ends it as an interrupt does.
func TestSignalsShowNothing(t *testing.T) {
	catalog := folder(t)
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGFPE} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel() // a dump of all threads waits for some that do not come
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			c := exec.CommandContext(t.Context(), "discreet", "query", "--catalog", catalog, "--rho", "0.01", "-")
			c.Env = append(os.Environ(), "GOTRACEBACK=system")
			if sig == syscall.SIGABRT {
				c.Env = append(c.Env, "GOTRACEBACK=crash") // takes ten seconds, and once is enough
			}
			var talk bytes.Buffer
			c.Stdin, c.Stdout, c.Stderr = r, &talk, &talk
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			// More than a pipe holds: it is written when the command reads.
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<18)); err != nil {
				t.Fatal(err)
			}
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err = c.Wait(); err == nil || c.ProcessState.Sys().(syscall.WaitStatus).CoreDump() {
				t.Errorf("ended with %v", err)
			}
			quit := sig == syscall.SIGQUIT
			if quit != strings.Contains(talk.String(), "D102") || quit && c.ProcessState.ExitCode() != diagnostic.ExitEngine || !quit && talk.Len() > 0 {
				t.Errorf("%v, shows %q", err, talk.String())
			}
		})
	}
}

// While a command holds private data nobody but root reads its memory, not even another
// process of the same user; and a crash is in the owner's log.
func TestCrashIsTheOwners(t *testing.T) {
	catalog := folder(t)
	w := workplace.Workplace{CatalogPath: catalog}
	w.Resolve()
	c := exec.Command("crash", catalog)
	c.Env = append(os.Environ(), "GOTRACEBACK=none")
	out, err := c.CombinedOutput()
	if err == nil || len(out) > 0 {
		t.Errorf("%v: %q", err, out)
	}
	log := w.LedgerPath + workplace.LogSuffix
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "a value of somebody's") || !strings.Contains(string(text), "goroutine") {
		t.Errorf("the owner's log: %v\n%s", err, text)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the owner's log: %v, %v", info.Mode(), err)
	}
}

// crash panics while the ledger is open: crash CATALOG.
func crash() {
	_, err := wall.Raise()
	w := workplace.Workplace{CatalogPath: os.Args[1]}
	w.Resolve()
	if err == nil {
		err = w.OpenLedger(context.Background())
	}
	if err == nil {
		panic("a value of somebody's")
	}
}

// The owner's log and what owners' commands write follow no link, and are the owner's
// alone whatever was there and whatever the umask.
func TestOwnersOutputs(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	plot := filepath.Join(dir, "attack.svg")
	if err := os.WriteFile(plot, []byte("<svg"), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, t.Context(), 0, "audit", "difference", "--runs", "2", "--units", "2", "--plot", plot)
	if info, err := os.Stat(plot); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("plot: %v, %v", info.Mode(), err)
	}
	victim := filepath.Join(dir, "victim.svg")
	if err := errors.Join(os.WriteFile(victim, []byte("<svg kept"), 0o600), os.Remove(plot), os.Symlink(victim, plot)); err != nil {
		t.Fatal(err)
	}
	run(t, t.Context(), diagnostic.ExitUsage, "audit", "difference", "--runs", "2", "--units", "2", "--plot", plot)
	l := workplace.OwnerLog{Path: plot}
	if _, err := l.Write([]byte("x")); err == nil {
		t.Error("the log follows a link")
	}
	if err := learn.KeepVotes(plot, nil); err == nil {
		t.Error("votes follow a link")
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "<svg kept" {
		t.Errorf("behind the link: %q, %v", text, err)
	}
	if workplace.EngineName == workplace.NoEngine {
		return
	}
	demo := filepath.Join(dir, "demo")
	run(t, t.Context(), 0, "demo", "--dir", demo)
	if err := filepath.WalkDir(demo, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Who may be given which command is told on two pages, and is what the table of commands
// says.
func TestWhoseCommandIsWhat(t *testing.T) {
	named := func(page, from, to string) (names []string) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, part, ok := strings.Cut(string(text), from)
		part, _, ends := strings.Cut(part, to)
		if !ok || !ends {
			t.Fatalf("%s does not say %q ... %q", page, from, to)
		}
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(part, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}
	have := map[command.Audience][]string{}
	for _, c := range commands() {
		have[c.For] = append(have[c.For], c.Name())
	}
	for _, tc := range []struct {
		page, from, to string
		who            command.Audience
	}{
		{"../../docs/promise.md", "runs the owner's commands ", " |\n", command.Owner},
		{"../../docs/cli.md", "The **owner's** commands are ", ".", command.Owner},
		{"../../docs/cli.md", "**Analysts'** commands are ", ".", command.Analyst},
		{"../../docs/cli.md", "**Anybody's** commands are ", ".", command.Anyone},
	} {
		slices.Sort(have[tc.who])
		if got := named(tc.page, tc.from, tc.to); !slices.Equal(got, have[tc.who]) {
			t.Errorf("%s names %v, the commands are %v", tc.page, got, have[tc.who])
		}
	}
}
