package ledger

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func newKey(t *testing.T) *Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := CreateKey(path); err != nil {
		t.Fatal(err)
	}
	return must(ReadKey(path))
}

// recompute does what somebody can do who writes the ledger's file and knows the format:
// it takes back all charges with all that came after them, and computes all hashes anew,
// with the key that is known or without one.
func recompute(k *Key, unkeyed bool) func(*sql.DB) error {
	return func(db *sql.DB) error {
		var first int64
		if err := db.QueryRow("SELECT min(seq) FROM records WHERE kind = 'reserve'").Scan(&first); err != nil {
			return err
		}
		if _, err := db.Exec("DELETE FROM records WHERE seq >= ?", first); err != nil {
			return err
		}
		rows, err := db.Query("SELECT seq, kind, domain, key, coalesce(ref, 0), body FROM records ORDER BY seq")
		if err != nil {
			return err
		}
		defer rows.Close()
		var all []*record
		for rows.Next() {
			r := &record{}
			if err := rows.Scan(&r.seq, &r.kind, &r.domain, &r.key, &r.ref, &r.body); err != nil {
				return err
			}
			all = append(all, r)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		var prev digest
		for _, r := range all {
			if e := must(r.entry()); unkeyed && e.KeyID != nil {
				e.KeyID = nil
				r.body = must(json.Marshal(e))
			}
			prev = chain{k}.sum(r, prev)
			if _, err := db.Exec("UPDATE records SET hash = ?, body = ? WHERE seq = ?", prev[:], r.body, r.seq); err != nil {
				return err
			}
		}
		return nil
	}
}

// What the chain shows of a ledger that was computed anew: without a key nothing, and with
// one everything.
func TestRecomputedChain(t *testing.T) {
	key, other := newKey(t), newKey(t)
	for _, tc := range []struct {
		name    string
		key     *Key
		edit    func(*sql.DB) error
		noticed error
	}{
		{"no key", nil, recompute(nil, false), nil},
		{"computed without the key", key, recompute(nil, false), ErrTampered},
		{"computed as if there were no key", key, recompute(nil, true), ErrKey},
		{"computed with another key", key, recompute(other, false), ErrTampered},
		{"computed by who has the key", key, recompute(key, false), nil},
	} {
		l, path := create(t, Options{Key: tc.key})
		spend(t, l)
		if err := errors.Join(l.Verify(ctx), l.Close()); err != nil {
			t.Fatal(err)
		}
		forge(t, path, tc.edit)
		l, err := Open(ctx, path, Options{Key: tc.key})
		if err == nil {
			err = errors.Join(l.Verify(ctx), l.Close())
		}
		if !errors.Is(err, tc.noticed) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.noticed)
		}
	}
}

// An anchor that is out of reach shows a chain that was computed anew without a key too;
// with a key nobody writes an anchor's line who does not have it.
func TestRecomputedAnchor(t *testing.T) {
	key := newKey(t)
	for _, k := range []*Key{nil, key} {
		dir := t.TempDir()
		o := Options{Key: k, Anchor: filepath.Join(dir, "anchor")}
		l, path := create(t, o)
		spend(t, l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		forge(t, path, recompute(k, false))
		if _, err := Open(ctx, path, o); !errors.Is(err, ErrRolledBack) && !errors.Is(err, ErrTampered) {
			t.Errorf("key %t: an anchor out of reach: %v", k != nil, err)
		}
		// Somebody who can write the anchor as well, but does not have the key.
		var head record
		forge(t, path, func(db *sql.DB) error {
			var hash []byte
			err := db.QueryRow("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1").Scan(&head.seq, &hash)
			head.hash = digest(hash)
			return err
		})
		if err := os.Remove(o.Anchor); err != nil {
			t.Fatal(err)
		}
		if err := (&anchor{path: o.Anchor, genesis: l.genesis}).create(head); err != nil {
			t.Fatal(err)
		}
		want := error(nil)
		if k != nil {
			want = ErrTampered
		}
		l, err := Open(ctx, path, o)
		if !errors.Is(err, want) {
			t.Errorf("key %t: a written anchor: %v, want %v", k != nil, err, want)
		}
		if err == nil {
			l.Close()
		}
	}
}

// Keyed and unkeyed do not mix, whoever opens.
func TestKeysDoNotMix(t *testing.T) {
	key, other := newKey(t), newKey(t)
	for _, made := range []*Key{nil, key} {
		for _, opened := range []*Key{nil, key, other} {
			l, path := create(t, Options{Key: made})
			l.Close()
			l, err := Open(ctx, path, Options{Key: opened})
			if same := made == opened; same != (err == nil) || err != nil && !errors.Is(err, ErrKey) {
				t.Errorf("made %t, opened %t: %v", made != nil, opened != nil, err)
			}
			if err == nil {
				l.Close()
			}
			if err := Anchor(ctx, path, Options{Key: opened, Anchor: filepath.Join(t.TempDir(), "anchor"), Now: now}); (err == nil) != (made == opened) {
				t.Errorf("made %t, anchored %t: %v", made != nil, opened != nil, err)
			}
		}
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := CreateKey(path); err != nil {
		t.Fatal(err)
	}
	if err := CreateKey(path); !errors.Is(err, ErrExists) {
		t.Errorf("made again: %v", err)
	}
	if info := must(os.Stat(path)); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	key := must(ReadKey(path))
	text := must(os.ReadFile(path))
	secret := strings.TrimSpace(strings.TrimPrefix(string(text), keyPrefix))
	for _, said := range []string{fmt.Sprint(key), fmt.Sprintf("%#v %+v %x %s", key, key, key, key), fmt.Sprint(Options{Key: key})} {
		if strings.Contains(said, secret[:8]) || strings.Contains(said, fmt.Sprint(key.secret[:4])[1:]) {
			t.Errorf("the key shows in %q", said)
		}
	}
	for name, text := range map[string][]byte{"empty": nil, "short": text[:len(text)-9], "long": append(bytes.TrimSpace(text), "00\n"...), "no prefix": []byte(secret), "two": append(bytes.Clone(text), text...)} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(p); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadKey(filepath.Join(dir, "missing")); !errors.Is(err, ErrKey) {
		t.Errorf("missing: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for mode := range os.FileMode(0o1000) {
		if mode&0o400 == 0 {
			continue
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(path); errors.Is(err, ErrExposed) != (mode&0o066 != 0) {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}

// A ledger, an anchor or a folder of theirs that others can write to is refused, and
// nothing else about modes is.
func TestExposedLedgers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	witness := t.TempDir()
	o := Options{Anchor: filepath.Join(witness, "anchor")}
	l, path := create(t, o)
	l.Close()
	for _, p := range []string{path, o.Anchor, filepath.Dir(path), witness} {
		info := must(os.Stat(p))
		for _, mode := range []os.FileMode{0o700, 0o744, 0o755, 0o722, 0o720, 0o702, 0o777, 0o770, os.ModeSticky | 0o777} {
			if err := os.Chmod(p, mode); err != nil {
				t.Fatal(err)
			}
			l, err := Open(ctx, path, o)
			if exposed := mode&0o022 != 0 && !(info.IsDir() && mode&os.ModeSticky != 0); errors.Is(err, ErrExposed) != exposed || !exposed && err != nil {
				t.Errorf("%s of mode %v: %v", filepath.Base(p), mode, err)
			}
			if err == nil {
				l.Close()
			}
		}
		if err := os.Chmod(p, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// Every record says which user of the system wrote it.
func TestUsersAreRecorded(t *testing.T) {
	u := &User{UID: 998, Name: "discreet", Caller: &User{UID: 1000, Name: "ada"}}
	l, _ := create(t, Options{User: u})
	spend(t, l)
	if err := errors.Join(l.Suspend(ctx, "patient", 0, "x", now), l.Acknowledge(ctx, "patient", "y", now), l.Access(ctx, "patient", "owner", "audit", now)); err != nil {
		t.Fatal(err)
	}
	l.verifyOrFail(t)
	for _, h := range must(l.History(ctx)) {
		if h.User.String() != "ada as discreet" {
			t.Errorf("record %d, %s: by %v", h.Seq, h.Kind, h.User)
		}
	}
}
