package people

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A clinic is a ledger with accounts, and a clock that the test moves.
type clinic struct {
	*Accounts
	ledger *ledger.Ledger
	path   string
	mu     sync.Mutex
	at     time.Time
	waited []time.Duration
	// derived are the passwords that were hashed, with how often.
	derived []int
}

func (c *clinic) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clinic) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// open opens the accounts once more, as another process would.
func (c *clinic) open(t testing.TB) *Accounts {
	t.Helper()
	a, err := Open(t.Context(), Options{Path: c.path + Suffix, Ledger: c.ledger, Now: c.now, Iterations: 4096, Wait: func(_ context.Context, d time.Duration) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waited, c.at = append(c.waited, d), c.at.Add(d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	a.derive = func(password string, f scram.KeyFactors) (scram.StoredCredentials, error) {
		c.mu.Lock()
		c.derived = append(c.derived, f.Iters)
		c.mu.Unlock()
		return derive(password, f)
	}
	return a
}

func newClinic(t testing.TB) *clinic {
	t.Helper()
	c := &clinic{path: filepath.Join(t.TempDir(), "discreet.ledger"), at: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)} // a Monday
	patient := ledger.DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: must(privacy.ParseEpsilon("1"))}
	c.ledger = must(ledger.Create(t.Context(), c.path, ledger.Options{Domains: []ledger.DomainBudget{patient}, Now: c.at}))
	t.Cleanup(func() { c.ledger.Close() })
	c.Accounts = c.open(t)
	for _, who := range []struct {
		name string
		role Role
	}{{"olga", Owner}, {"anna", Analyst}, {"dora", Analyst}, {"xena", Analyst}, {"tina", Analyst}} {
		password := who.name + "'s"
		if who.name == "tina" { // a program, with tokens alone
			password = ""
		}
		if err := c.Add(t.Context(), "shell", who.name, who.role, password); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Disable(t.Context(), "shell", "dora"), c.Expire(t.Context(), "shell", "xena", c.at)); err != nil {
		t.Fatal(err)
	}
	return c
}

// converse signs in by SCRAM as a client does, and returns the server's first message.
func converse(t testing.TB, a *Accounts, name, password string) (first string, _ Account, _ error) {
	t.Helper()
	server, err := a.Scram(t.Context(), name, "192.0.2.1:5000", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := must(scram.SHA256.NewClient("", password, "")).NewConversation()
	message := must(client.Step(""))
	for !server.Done() {
		reply, err := server.Step(message)
		if first == "" {
			first = reply
		}
		if err != nil {
			break
		}
		if message, err = client.Step(reply); err != nil {
			t.Fatal(err)
		}
	}
	who, err := server.Account()
	return first, who, err
}

func TestSignIn(t *testing.T) {
	c := newClinic(t)
	ctx := t.Context()
	anna, err := c.SignIn(ctx, "anna", "anna's", "192.0.2.1:5000")
	if err != nil || anna.Name != "anna" || anna.Role != Analyst || anna.Valid(ctx) != nil {
		t.Errorf("anna: %+v, %v", anna, err)
	}
	if _, olga, err := converse(t, c.Accounts, "olga", "olga's"); err != nil || olga.Role != Owner || olga.Valid(ctx) != nil {
		t.Errorf("olga by SCRAM: %+v, %v", olga, err)
	}
	token := must(c.AddToken(ctx, "shell", "tina", "nightly", c.now().AddDate(0, 3, 0)))
	if tina, err := c.SignInToken(ctx, token, ""); err != nil || tina.Name != "tina" || tina.Valid(ctx) != nil {
		t.Errorf("tina by token: %+v, %v", tina, err)
	}
	for name, password := range map[string]string{"anna": "olga's", "olga": "", "nobody": "anna's", "dora": "dora's", "xena": "xena's", "tina": "", "": "", "anna ": "anna's", "ANNA": "anna's", "ａｎｎａ": "anna's"} {
		if who, err := c.SignIn(ctx, name, password, "192.0.2.2"); err != ErrSignIn || who != (Account{}) {
			t.Errorf("%q with %q: %+v, %v", name, password, who, err)
		}
		if _, who, err := converse(t, c.Accounts, name, password+"x"); err != ErrSignIn || who != (Account{}) {
			t.Errorf("%q by SCRAM: %+v, %v", name, who, err)
		}
	}
	if _, _, err := converse(t, c.Accounts, "dora", "dora's"); err != ErrSignIn {
		t.Errorf("dora, who is disabled, by SCRAM: %v", err)
	}
	other := must(c.AddToken(ctx, "shell", "anna", "x", c.now().Add(time.Hour)))
	for name, text := range map[string]string{"none": "", "no token": "discreet_", "another's secret": token[:26] + other[26:], "cut": token[:len(token)-1],
		"longer": token + "A", "upper case": strings.ToUpper(token), "unknown": "discreet_0000000000000000" + token[25:]} {
		if who, err := c.SignInToken(ctx, text, "192.0.2.3"); err != ErrSignIn || who != (Account{}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	c.pass(2 * time.Hour)
	if _, err := c.SignInToken(ctx, other, ""); err != ErrSignIn {
		t.Errorf("a token that has ended: %v", err)
	}
}

// A name without an account, a wrong password, and accounts that nobody may sign in to are
// one to a stranger: the same error, as much hashing, the same form of SCRAM's messages,
// and salts that stay as they are, whatever happens to the account.
func TestNamesAreNotToldApart(t *testing.T) {
	c := newClinic(t)
	salts := map[string]string{}
	look := func(name string) {
		t.Helper()
		c.derived = nil
		if _, err := c.SignIn(t.Context(), name, "wrong", ""); err != ErrSignIn {
			t.Errorf("%s: %v", name, err)
		}
		if len(c.derived) != 1 || c.derived[0] != 4096 {
			t.Errorf("%s: passwords were hashed %v times", name, c.derived)
		}
		first, _, err := converse(t, c.Accounts, name, "wrong")
		if err != ErrSignIn {
			t.Errorf("%s: %v", name, err)
		}
		parts := strings.Split(first, ",")
		if len(parts) != 3 || len(parts[1]) != len("s=")+24 || parts[2] != "i=4096" {
			t.Errorf("%s: the first message is %s", name, first)
		}
		if before, ok := salts[name]; ok && before != parts[1] {
			t.Errorf("%s: the salt has changed", name)
		}
		salts[name] = parts[1]
	}
	names := []string{"anna", "dora", "xena", "tina", "newly", "nobody", "no body", "\x00", strings.Repeat("x", 10_000)}
	for _, n := range names {
		look(n)
	}
	if err := errors.Join(c.Add(t.Context(), "shell", "newly", Analyst, "x"), c.Rotate(t.Context(), "shell", "anna", "other"), c.Enable(t.Context(), "shell", "dora")); err != nil {
		t.Fatal(err)
	}
	c.Accounts = c.open(t) // the secret is the file's
	for _, n := range names {
		look(n)
	}
	seen := map[string]bool{}
	for _, s := range salts {
		seen[s] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%d salts of %d names", len(seen), len(names))
	}
}

// A session ends when the account is disabled, expires or gets another password, or its
// token is revoked, and does not begin again by itself.
func TestSessionsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		act   func(context.Context, *clinic, string) error
		token bool // whose session it is, too
	}{
		"disabled": {func(ctx context.Context, c *clinic, _ string) error { return c.Disable(ctx, "shell", "anna") }, true},
		"disabled and enabled": {func(ctx context.Context, c *clinic, _ string) error {
			return errors.Join(c.Disable(ctx, "shell", "anna"), c.Enable(ctx, "shell", "anna"))
		}, true},
		"expired": {func(ctx context.Context, c *clinic, _ string) error {
			defer c.pass(time.Hour)
			return c.Expire(ctx, "shell", "anna", c.now().Add(time.Minute))
		}, true},
		"rotated":       {func(ctx context.Context, c *clinic, _ string) error { return c.Rotate(ctx, "shell", "anna", "other") }, true},
		"token revoked": {func(ctx context.Context, c *clinic, id string) error { return c.RevokeToken(ctx, "shell", "anna", id) }, true},
		"token expired": {func(_ context.Context, c *clinic, _ string) error { c.pass(25 * time.Hour); return nil }, true},
		"another group": {func(ctx context.Context, c *clinic, _ string) error {
			return c.Join(ctx, "shell", "anna", "nurses", true)
		}, false},
	} {
		c := newClinic(t)
		ctx := t.Context()
		text := must(c.AddToken(ctx, "shell", "anna", "x", c.now().AddDate(0, 0, 1)))
		byToken := must(c.SignInToken(ctx, text, ""))
		byPassword := must(c.SignIn(ctx, "anna", "anna's", ""))
		olga := must(c.SignIn(ctx, "olga", "olga's", ""))
		here := c.Accounts
		c.Accounts = c.open(t) // another process
		id, _ := parseToken(text)
		if err := tc.act(ctx, c, id); err != nil {
			t.Fatal(err)
		}
		c.Accounts = here
		if err := byToken.Valid(ctx); tc.token != errors.Is(err, ErrEnded) {
			t.Errorf("%s: the token's session: %v", name, err)
		}
		if err := byPassword.Valid(ctx); (tc.token && !strings.HasPrefix(name, "token")) != errors.Is(err, ErrEnded) {
			t.Errorf("%s: the password's session: %v", name, err)
		}
		if err := olga.Valid(ctx); err != nil {
			t.Errorf("%s: another's session: %v", name, err)
		}
	}
}

// What was taken away stays away when an older copy of the accounts' file is put back, or
// when somebody writes into it: the chain says what counts.
func TestOlderAccountsFileBringsNothingBack(t *testing.T) {
	c := newClinic(t)
	ctx := t.Context()
	text := must(c.AddToken(ctx, "shell", "anna", "x", c.now().AddDate(1, 0, 0)))
	id, _ := parseToken(text)
	c.Accounts.Close()
	backup := must(os.ReadFile(c.path + Suffix))
	c.Accounts = c.open(t)
	if err := errors.Join(c.Rotate(ctx, "shell", "anna", "new"), c.RevokeToken(ctx, "shell", "anna", id), c.Disable(ctx, "shell", "olga")); err != nil {
		t.Fatal(err)
	}
	c.Accounts.Close()
	for _, suffix := range []string{"-wal", "-shm"} {
		os.Remove(c.path + Suffix + suffix)
	}
	if err := os.WriteFile(c.path+Suffix, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Accounts = c.open(t)
	for name, try := range map[string]func() (Account, error){
		"the password before": func() (Account, error) { return c.SignIn(ctx, "anna", "anna's", "") },
		"the revoked token":   func() (Account, error) { return c.SignInToken(ctx, text, "") },
		"a disabled owner":    func() (Account, error) { return c.SignIn(ctx, "olga", "olga's", "") },
	} {
		if who, err := try(); err != ErrSignIn {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	if err := c.Rotate(ctx, "shell", "anna", "newer"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SignIn(ctx, "anna", "newer", ""); err != nil {
		t.Errorf("after another password: %v", err)
	}

	// A verifier of the intruder's, and a token.
	f := c.factors("anna")
	mine := must(derive("mine", f))
	secret := []byte("0123456789abcdef0123456789abcdef")
	hash := sha256.Sum256(secret)
	must(c.db.Exec("INSERT INTO passwords VALUES (?, 'anna', ?, ?, ?, ?)", c.digest("anna", mine), []byte(f.Salt), f.Iters, mine.StoredKey, mine.ServerKey))
	must(c.db.Exec("UPDATE passwords SET stored = ?, server = ? WHERE account = 'olga'", mine.StoredKey, mine.ServerKey))
	must(c.db.Exec("INSERT INTO tokens VALUES ('0000000000000000', 'anna', ?)", hash[:]))
	kept, _ := parseToken(must(c.AddToken(ctx, "shell", "anna", "y", c.now().AddDate(1, 0, 0))))
	must(c.db.Exec("UPDATE tokens SET hash = ? WHERE id = ?", hash[:], kept))
	for _, id := range []string{"0000000000000000", kept} {
		if _, err := c.SignInToken(ctx, "discreet_"+id+"_"+base64.RawURLEncoding.EncodeToString(secret), ""); err != ErrSignIn {
			t.Errorf("the intruder's token %s: %v", id, err)
		}
	}
	for _, name := range []string{"anna", "olga"} {
		if _, err := c.SignIn(ctx, name, "mine", ""); err != ErrSignIn {
			t.Errorf("%s with the intruder's password: %v", name, err)
		}
	}
}

// Whatever stops a change between the file and the chain, a password of the account works.
func TestHalfARotation(t *testing.T) {
	c := newClinic(t)
	ctx := t.Context()
	must(c.store(ctx, "anna", "never said to the chain"))
	if _, err := c.SignIn(ctx, "anna", "never said to the chain", ""); err != ErrSignIn {
		t.Errorf("the new one: %v", err)
	}
	if _, err := c.SignIn(ctx, "anna", "anna's", ""); err != nil {
		t.Errorf("the old one: %v", err)
	}
	if err := c.Rotate(ctx, "shell", "anna", "other"); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := c.db.QueryRow("SELECT count(*) FROM passwords WHERE account = 'anna'").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d verifiers are left, %v", rows, err)
	}
}

// Names that look alike, fold into one another, do not show or are long are refused.
func TestHostileNames(t *testing.T) {
	c := newClinic(t)
	for _, name := range []string{"", "ANNA", "Anna", "ａｎｎａ", "аnna", "anna\u0301", "añna", "an na", " anna", "anna ", "anna\n", "an\x00na", "anna\u202e", "\u2066anna", "anna\u00ad",
		"-anna", ".anna", "@anna", "anna:x", "group:x", "account:anna", "anna/x", "anna'", strings.Repeat("a", 64), "\xff"} {
		if err := c.Add(t.Context(), "shell", name, Analyst, "x"); !errors.Is(err, ErrName) {
			t.Errorf("%q was added: %v", name, err)
		}
		if err := c.Join(t.Context(), "shell", "anna", name, true); !errors.Is(err, ErrName) {
			t.Errorf("group %q: %v", name, err)
		}
	}
	for _, name := range []string{"a", "7", "anna.b_c-d@clinic.example", strings.Repeat("a", 63)} {
		if err := c.Add(t.Context(), "shell", name, Analyst, "x"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := c.Add(t.Context(), "shell", "anna", Owner, "mine"); !errors.Is(err, ErrExists) {
		t.Errorf("anna again: %v", err)
	}
	if _, err := c.SignIn(t.Context(), "anna", "anna's", ""); err != nil {
		t.Errorf("anna's password after it: %v", err)
	}
	if err := c.Add(t.Context(), "shell", "ruth", "root", "x"); err == nil {
		t.Error("a role that there is not")
	}
}

// Of many processes that add a name at once, one does, and its password is the account's.
func TestAddedOnce(t *testing.T) {
	c := newClinic(t)
	var wg sync.WaitGroup
	won := make(chan string, 8)
	for i := range 8 {
		other, password := c.open(t), strings.Repeat("p", i+1)
		wg.Go(func() {
			if err := other.Add(t.Context(), "shell", "nora", Analyst, password); err == nil {
				won <- password
			} else if !errors.Is(err, ErrExists) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(won)
	var winners []string
	for w := range won {
		winners = append(winners, w)
	}
	if len(winners) != 1 {
		t.Fatalf("%d added her", len(winners))
	}
	for i := range 8 {
		password := strings.Repeat("p", i+1)
		if _, err := c.SignIn(t.Context(), "nora", password, ""); (err == nil) != (password == winners[0]) {
			t.Errorf("%s of %s: %v", password, winners[0], err)
		}
	}
}

// Passwords are prepared as libpq prepares them: by SASLprep, and not at all where that
// refuses them.
func TestPasswordsArePrepared(t *testing.T) {
	f := scram.KeyFactors{Salt: "0123456789abcdef", Iters: 4096}
	key := func(p string) string { return string(must(derive(p, f)).StoredKey) }
	for _, same := range [][2]string{{"I\u00adX", "IX"}, {"\u00aa", "a"}, {"\u2168", "IX"}, {"a\u00a0b", "a b"}, {"e\u0301", "\u00e9"}} {
		if key(same[0]) != key(same[1]) {
			t.Errorf("%q and %q are two passwords", same[0], same[1])
		}
	}
	for _, two := range [][2]string{{"user", "USER"}, {"\u0007", ""}, {"a\u0007\u00adb", "a\u0007b"}, {"\xff", "\ufffd"}, {"\xffI\u00adX", "\xffIX"}, {" a", "a"}} {
		if key(two[0]) == key(two[1]) {
			t.Errorf("%q and %q are one password", two[0], two[1])
		}
	}
}

// The file is its owner's alone, and one that is not is refused.
func TestFileIsItsOwnersAlone(t *testing.T) {
	c := newClinic(t)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(c.path + Suffix + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", suffix, info.Mode(), err)
		}
	}
	c.Accounts.Close()
	if err := os.Chmod(c.path+Suffix, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: c.path + Suffix, Ledger: c.ledger, Now: c.now}); !errors.Is(err, ledger.ErrExposed) {
		t.Errorf("a file that others can read: %v", err)
	}
	bad := c.path + ".bad"
	if err := os.WriteFile(bad, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: bad, Ledger: c.ledger, Now: c.now}); err == nil {
		t.Error("a file of something else was opened")
	}
	if _, err := Open(t.Context(), Options{Path: bad + "2", Ledger: c.ledger, Now: c.now, Iterations: 4095}); err == nil {
		t.Error("4095 iterations were taken")
	}
}

// Neither the file, nor the chain, nor what is listed has a password or a token.
func TestSecretsAreNotKept(t *testing.T) {
	c := newClinic(t)
	ctx := t.Context()
	const password = "correct horse battery staple"
	if err := c.Rotate(ctx, "shell", "anna", password); err != nil {
		t.Fatal(err)
	}
	text := must(c.AddToken(ctx, "shell", "anna", "x", c.now().AddDate(1, 0, 0)))
	listed := must(json.Marshal(must(c.List(ctx))))
	if strings.Contains(string(listed), "igest") {
		t.Errorf("a digest is listed: %s", listed)
	}
	_, secret := parseToken(text)
	c.Accounts.Close()
	all := string(listed)
	for _, name := range must(filepath.Glob(c.path + "*")) {
		all += string(must(os.ReadFile(name)))
	}
	for _, s := range []string{password, text, text[len(text)-43:], string(secret)} {
		if strings.Contains(all, s) {
			t.Errorf("%q is kept", s)
		}
	}
}
