package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/entropy"
)

// clusterFile says what was made.
const clusterFile = "cluster.json"

// Options are how clusters are made and started.
type Options struct {
	Profiles []Profile
	Command  []string // starts a role; the folder of the role is its last argument
	Env      []string // all that a role sees of the environment
	Now      func() time.Time
	// Route may lead the connections of one member to another by another address, such as
	// a proxy's. nil leads them straight.
	Route func(from, to, address string) (string, error)
}

// A Cluster is a folder of members.
type Cluster struct {
	Dir     string
	options Options
	made    made
}

// made is what clusterFile holds.
type made struct {
	Profile  string   `json:"profile"`
	Settings Settings `json:"settings"`
	Members  []who    `json:"members"`
}

type who struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
}

// Up makes a cluster in a folder, unless one of the same profile and settings is there, and
// starts all roles that do not run. What the roles have stored stays.
func Up(ctx context.Context, dir, profile string, given Settings, o Options) (*Cluster, error) {
	i := slices.IndexFunc(o.Profiles, func(p Profile) bool { return p.Name == profile })
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no profile %q", ErrUsage, profile)
	}
	c, err := Load(dir, o)
	held := map[string]*net.TCPListener{} // the ports that were chosen, until their roles have them
	defer release(held)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(ctx, dir, o.Profiles[i], given, o, held); err != nil {
			return nil, fmt.Errorf("make %s: %w", dir, err)
		}
		c, err = Load(dir, o)
	}
	if err != nil {
		return nil, err
	}
	if c.made.Profile != profile {
		return nil, fmt.Errorf("%w: %s holds the profile %s", ErrUsage, dir, c.made.Profile)
	}
	for name, value := range given {
		if c.made.Settings[name] != value {
			return nil, fmt.Errorf("%w: %s was made with %s=%s, which stays", ErrUsage, dir, name, c.made.Settings[name])
		}
	}
	for _, m := range c.made.Members {
		if m.Kind == "" {
			continue
		}
		if err := c.start(ctx, m.Name, held[m.Name]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// release closes what this process has of listeners. A role that has one too goes on listening.
func release(held map[string]*net.TCPListener) {
	for _, l := range held {
		l.Close() //nolint:errcheck // nobody was answered
	}
}

// Load reads a cluster's folder.
func Load(dir string, o Options) (*Cluster, error) {
	c := &Cluster{Dir: dir, options: o}
	text, err := os.ReadFile(filepath.Join(dir, clusterFile))
	if err != nil {
		return nil, err
	}
	if err := custody.Guard(filepath.Join(dir, clusterFile)); err != nil {
		return nil, err
	}
	if err := decodeStrict(text, &c.made); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, clusterFile), err)
	}
	for _, m := range c.made.Members {
		if !memberName.MatchString(m.Name) {
			return nil, fmt.Errorf("read %s: %q is not a name", filepath.Join(dir, clusterFile), m.Name)
		}
	}
	return c, nil
}

// Profile is the name of the cluster's profile.
func (c *Cluster) Profile() string { return c.made.Profile }

// Folder is where a member stands.
func (c *Cluster) Folder(member string) string { return filepath.Join(c.Dir, member) }

// create makes the folder of a cluster whole: beside its place, then renamed to it. The ports of its
// roles are held.
func create(ctx context.Context, dir string, p Profile, given Settings, o Options, held map[string]*net.TCPListener) (err error) {
	members, settings, err := p.members(given)
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if err := custody.Folder(filepath.Dir(dir)); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	at, err := addresses(ctx, members, held)
	if err != nil {
		return err
	}
	ca, err := newAuthority(o.Now())
	if err != nil {
		return err
	}
	all := made{Profile: p.Name, Settings: settings}
	for _, m := range members {
		a := assignment{Profile: p.Name, Name: m.Name, Kind: m.Kind, Listen: at[m.Name], Peers: map[string]string{}}
		for _, peer := range m.Peers {
			a.Peers[peer] = at[peer]
			if o.Route != nil {
				if a.Peers[peer], err = o.Route(m.Name, peer, at[peer]); err != nil {
					return err
				}
			}
		}
		if a.Config, err = json.Marshal(m.Config); err != nil {
			return err
		}
		folder := filepath.Join(part, m.Name)
		if err := custody.Folder(folder); err != nil {
			return err
		}
		if err := ca.issue(folder, m.Name); err != nil {
			return err
		}
		if err := writeJSON(filepath.Join(folder, roleFile), a); err != nil {
			return err
		}
		all.Members = append(all.Members, who{m.Name, m.Kind})
	}
	if err := writeJSON(filepath.Join(part, clusterFile), all); err != nil {
		return err
	}
	return os.Rename(part, dir) // fails where something is
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return custody.Write(path, append(text, '\n'))
}

// addresses chooses a port for each role, and listens there. It is theirs for good: a role that is started
// again is found where it was.
func addresses(ctx context.Context, members []Member, held map[string]*net.TCPListener) (map[string]string, error) {
	at := map[string]string{}
	for _, m := range members {
		if m.Kind == "" {
			continue
		}
		l, err := listen(ctx)
		if err != nil {
			return nil, fmt.Errorf("choose a port: %w", err)
		}
		held[m.Name], at[m.Name] = l, l.Addr().String()
	}
	return at, nil
}

// Ports of roles are below those that systems give to connections (from 32768 on Linux, from
// 49152 elsewhere), so that no connection has the port of a role that is down.
const firstPort, ports, portTries = 15000, 17000, 100

// listen takes a free port of those.
func listen(ctx context.Context) (*net.TCPListener, error) {
	random := entropy.New()
	for try := 1; ; try++ {
		word, err := random.Uint64()
		if err != nil {
			return nil, err
		}
		var listening net.ListenConfig
		l, err := listening.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+word%ports))
		if l, ok := l.(*net.TCPListener); ok {
			return l, nil
		}
		if try == portTries {
			return nil, err
		}
	}
}
