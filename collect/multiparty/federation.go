package multiparty

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/identity"
)

// A Member is a process or a person of a federation.
type Member struct {
	Name    string `toml:"name"`
	Address string `toml:"address"` // host:port; of an asker empty
	// Key is the digest of the member's public key, in hexadecimal: what it is known by.
	Key string `toml:"key"`
}

// A Federation is who takes part. Every member has a file of it, and trusts its own alone.
type Federation struct {
	// Identity is the file of who reads the federation, for commands that ask.
	Identity string   `toml:"identity"`
	Holders  []Member `toml:"holder"`
	Parties  []Member `toml:"party"`
	Askers   []Member `toml:"asker"`
	// Colluding is how many parties may collude. 0 is all but one: each party adds the whole noise.
	// With fewer, each adds a share of it, and any that are left have added the whole together.
	Colluding int `toml:"colluding"`
	// Shares says how Gaussian noise is shared then: as Gaussian draws, or as "skellam" ones.
	Shares discreet.Sharing `toml:"shares"`
}

// colluding is how many parties may collude.
func (f *Federation) colluding() int {
	if f.Colluding == 0 {
		return len(f.Parties) - 1
	}
	return f.Colluding
}

// ReadFederation reads the file of a federation. Its identity is relative to its folder.
func ReadFederation(path string) (*Federation, error) {
	refuse := func(format string, args ...any) error {
		return diagnostic.New("D242", diagnostic.Span{}, "the federation %s cannot be used: %s", path, fmt.Sprintf(format, args...)).Try("see docs/collect/multiparty.md")
	}
	if err := custody.Guard(path); err != nil {
		return nil, refuse("%v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, refuse("%v", err)
	}
	var f Federation
	meta, err := toml.Decode(string(text), &f)
	if err != nil {
		return nil, refuse("%v", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, refuse("it has an unknown key %s", unknown[0])
	}
	if f.Identity != "" && !filepath.IsAbs(f.Identity) {
		f.Identity = filepath.Join(filepath.Dir(path), f.Identity)
	}
	if err := f.check(); err != nil {
		return nil, refuse("%v", err)
	}
	return &f, nil
}

// maxParties is what a statement may be shared among.
const maxParties = 100

func (f *Federation) check() error {
	for _, m := range slices.Concat(f.Holders, f.Parties) {
		if m.Address == "" {
			return fmt.Errorf("%s has no address", m.Name)
		}
	}
	return f.members()
}

// members checks who takes part.
func (f *Federation) members() error {
	switch {
	case len(f.Holders) == 0:
		return errors.New("it names no holder")
	case len(f.Parties) < 2:
		return errors.New("it names fewer than two parties: one alone would see what all hold")
	case len(f.Parties) > maxParties:
		return fmt.Errorf("it names more than %d parties", maxParties)
	case f.Colluding < 0 || f.Colluding >= len(f.Parties):
		return errors.New("colluding is how many parties may collude: 1 to all but one, or 0 for all but one")
	case f.Shares.Check() != nil:
		return fmt.Errorf("shares is %q, or left out for shares of Gaussian draws", discreet.BySkellam)
	case f.Shares != "" && f.colluding() == len(f.Parties)-1:
		return errors.New("shares says how noise is shared, and each party adds the whole of it unless colluding is less than all but one")
	}
	var names, keys []string
	for _, m := range slices.Concat(f.Holders, f.Parties, f.Askers) {
		switch {
		case !identity.Name.MatchString(m.Name):
			return fmt.Errorf("%q cannot be a member's name", m.Name)
		case !identity.Digest.MatchString(m.Key):
			return fmt.Errorf("the key of %s is not the 64 digits of a digest", m.Name)
		case slices.Contains(names, m.Name):
			return fmt.Errorf("two members are called %s", m.Name)
		case slices.Contains(keys, m.Key):
			// A party with a holder's key would be the holder, and who is two parties sees two shares.
			return fmt.Errorf("%s has the key of another member", m.Name)
		}
		names, keys = append(names, m.Name), append(keys, m.Key)
	}
	return nil
}

func find(all []Member, name string) (Member, bool) {
	i := slices.IndexFunc(all, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, false
	}
	return all[i], true
}

func (f *Federation) holder(name string) (Member, bool) { return find(f.Holders, name) }
func (f *Federation) party(name string) (Member, bool)  { return find(f.Parties, name) }
func (f *Federation) asker(name string) (Member, bool)  { return find(f.Askers, name) }

// Find is the member of a role and a name.
func (f *Federation) Find(role, name string) (Member, bool) {
	return find(map[string][]Member{"holder": f.Holders, "party": f.Parties, "asker": f.Askers}[role], name)
}

// who is the member that has a key, and its role.
func (f *Federation) who(key string) (m Member, role string) {
	for _, of := range []struct {
		role string
		all  []Member
	}{{"holder", f.Holders}, {"party", f.Parties}, {"asker", f.Askers}} {
		for _, m := range of.all {
			if m.Key == key {
				return m, of.role
			}
		}
	}
	return Member{}, ""
}

// An Identity is a private key with a certificate for it. Others know it by the digest of its
// public key, or by its name under the authority of a cluster.
type Identity struct {
	Key         string // what others know it by
	certificate tls.Certificate
	authority   *authority // nil where keys are pinned
}

// caller is the key of who has sent a request.
func (i *Identity) caller(r *http.Request) string {
	if i.authority != nil && identity.Caller(r) != "" {
		return i.authority.key(cluster.Caller(r))
	}
	return identity.Caller(r)
}

// NewIdentity draws a key, and returns the text of a file with it and its certificate.
func NewIdentity(name string, now time.Time) ([]byte, error) { return identity.New(name, now) }

// ReadIdentity reads the file of an identity, which nobody else may be able to read.
func ReadIdentity(path string) (*Identity, error) {
	pair, key, err := identity.Read(path)
	if err != nil {
		return nil, err
	}
	return &Identity{Key: key, certificate: pair}, nil
}

// server is how a member listens: to members alone.
func (i *Identity) server(f *Federation) *tls.Config {
	return identity.Server(i.certificate, func(key string) bool {
		_, role := f.who(key)
		return role != ""
	})
}

// client is how a member speaks to another.
func (i *Identity) client(to Member) *tls.Config {
	if i.authority != nil {
		return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.certificate}, RootCAs: i.authority.pool, ServerName: to.Name}
	}
	return identity.Client(i.certificate, to.Key)
}
