package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
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

// role refuses a name that has no process.
func (c *Cluster) role(name string) error {
	if !slices.ContainsFunc(c.made.Members, func(m who) bool { return m.Name == name && m.Kind != "" }) {
		return fmt.Errorf("%w: %s has no role %q", ErrUsage, c.Dir, name)
	}
	return nil
}

// step is how often what another process does is looked at.
const step = 20 * time.Millisecond

// Start starts a role, unless it runs, and returns when it is ready. The role survives
// this process.
func (c *Cluster) Start(ctx context.Context, role string) error { return c.start(ctx, role, nil) }

// start starts a role, with its port, if it is given one.
func (c *Cluster) start(ctx context.Context, role string, l *net.TCPListener) error {
	if err := c.role(role); err != nil {
		return err
	}
	pid, err := holder(filepath.Join(c.Folder(role), lockFile))
	if err != nil {
		return err
	}
	var began int64
	ended := make(chan struct{})
	own := pid == 0
	var cmd *exec.Cmd
	if own {
		if cmd, began, err = c.spawn(role, l); err != nil {
			return err
		}
		pid = cmd.Process.Pid
		go func() {
			cmd.Wait() //nolint:errcheck // the log says why it ended
			close(ended)
		}()
	}
	look := time.NewTicker(step)
	defer look.Stop()
	for {
		if r, err := c.ready(role); err == nil && r.PID == pid {
			return nil
		}
		if !own { // somebody else started it
			if now, err := holder(filepath.Join(c.Folder(role), lockFile)); err != nil || now != pid {
				return errors.Join(fmt.Errorf("start %s: %w: it ended", role, ErrStart), err)
			}
		}
		select {
		case <-ended:
			return fmt.Errorf("start %s: %w: %s", role, ErrStart, c.lastWords(role, began))
		case <-ctx.Done():
			if own { // nobody waits for it any more
				cmd.Process.Kill() //nolint:errcheck // it has ended
				<-ended
			}
			return fmt.Errorf("start %s: %w", role, ctx.Err())
		case <-look.C:
		}
	}
}

// spawn starts the process of a role, and says where its words begin in the log. It
// outlives who starts it. Its standard input is the listener, if there is one, so that nobody else
// has the port meanwhile (Station.listen).
func (c *Cluster) spawn(role string, l *net.TCPListener) (_ *exec.Cmd, began int64, err error) {
	log, err := custody.Append(filepath.Join(c.Folder(role), logFile))
	if err != nil {
		return nil, 0, err
	}
	defer log.Close()
	if began, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, 0, err
	}
	folder, err := filepath.Abs(c.Folder(role))
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.Command(c.options.Command[0], slices.Concat(c.options.Command[1:], []string{folder})...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = slices.Concat([]string{"LC_ALL=C"}, c.options.Env), folder, log, log, apart()
	if l != nil {
		in, err := l.File()
		if err != nil {
			return nil, 0, fmt.Errorf("start %s: %w", role, err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, fmt.Errorf("start %s: %w", role, err)
	}
	return cmd, began, nil
}

// lastWords is what a role's log has from an offset on, a kilobyte of it at most.
func (c *Cluster) lastWords(role string, from int64) string {
	text, err := os.ReadFile(filepath.Join(c.Folder(role), logFile))
	if err != nil || int64(len(text)) < from {
		return "its log cannot be read"
	}
	text = text[from:]
	return cmp.Or(strings.TrimSpace(string(text[max(0, len(text)-1024):])), "its log is empty")
}

func (c *Cluster) ready(role string) (r Ready, err error) {
	text, err := os.ReadFile(filepath.Join(c.Folder(role), readyFile))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// A State is how a role is.
type State string

const (
	Running  State = "ready"    // its health page says so
	Starting State = "starting" // it runs and is not ready
	Unwell   State = "unwell"   // it runs and its health page does not answer
	Ended    State = "down"
)

// A Status is one role's.
type Status struct {
	Role  string `json:"role"`
	Kind  string `json:"kind"`
	State State  `json:"state"`
	PID   int    `json:"pid,omitempty"`
	HTTPS string `json:"https,omitempty"`
	HTTP  string `json:"http,omitempty"`
	Log   string `json:"log"`
}

// Status asks each role how it is.
func (c *Cluster) Status(ctx context.Context) (all []Status, err error) {
	for _, m := range c.made.Members {
		if m.Kind == "" {
			continue
		}
		s := Status{Role: m.Name, Kind: m.Kind, State: Ended, Log: filepath.Join(c.Folder(m.Name), logFile)}
		if s.PID, err = holder(filepath.Join(c.Folder(m.Name), lockFile)); err != nil {
			return nil, err
		}
		if s.PID != 0 {
			s.State = Starting
			if r, err := c.ready(m.Name); err == nil && r.PID == s.PID {
				s.State, s.HTTPS, s.HTTP = health(ctx, r.HTTP), r.HTTPS, r.HTTP
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// health asks a health page.
func health(ctx context.Context, address string) State {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return Unwell
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(ask)
	if err != nil {
		return Unwell
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Unwell
	}
	return Running
}

// Kill ends a role as a crash would, with signal 9, and returns when it has ended.
func (c *Cluster) Kill(ctx context.Context, role string) error {
	if err := c.role(role); err != nil {
		return err
	}
	if err := c.signal(role, syscall.SIGKILL); err != nil {
		return err
	}
	return c.wait(ctx, role)
}

// Stop ends a role in order, and as Kill does when it takes too long.
func (c *Cluster) Stop(ctx context.Context, role string) error {
	if err := c.role(role); err != nil {
		return err
	}
	if err := c.signal(role, syscall.SIGTERM); err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, 2*grace)
	defer cancel()
	if c.wait(patient, role) == nil {
		return nil
	}
	return c.Kill(ctx, role)
}

// Restart ends a role in order, if it runs, and starts it.
func (c *Cluster) Restart(ctx context.Context, role string) error {
	if err := c.Stop(ctx, role); err != nil {
		return err
	}
	return c.Start(ctx, role)
}

// Down ends all roles in order, all at the same time. Their folders stay.
func (c *Cluster) Down(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, len(c.made.Members))
	for i, m := range c.made.Members {
		if m.Kind != "" {
			all.Go(func() { errs[i] = c.Stop(ctx, m.Name) })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// Abandon ends all roles at once, as a crash would: for a cluster whose folder goes away with it.
func (c *Cluster) Abandon(ctx context.Context) error {
	var errs []error
	for _, m := range c.made.Members {
		if m.Kind != "" {
			errs = append(errs, c.signal(m.Name, syscall.SIGKILL))
		}
	}
	for _, m := range c.made.Members {
		if m.Kind != "" {
			errs = append(errs, c.wait(ctx, m.Name))
		}
	}
	return errors.Join(errs...)
}

// signal signals the process that runs the role, if one does. The handle is taken before the
// holder of the lock is asked for again, so that it means the process that holds it.
func (c *Cluster) signal(role string, with syscall.Signal) error {
	lock := filepath.Join(c.Folder(role), lockFile)
	pid, err := holder(lock)
	if err != nil || pid == 0 {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("find the process of %s: %w", role, err)
	}
	defer process.Release() //nolint:errcheck // a handle
	if again, err := holder(lock); err != nil || again != pid {
		return err
	}
	if err := process.Signal(with); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", role, err)
	}
	return nil
}

// wait returns when no process runs the role.
func (c *Cluster) wait(ctx context.Context, role string) error {
	look := time.NewTicker(step)
	defer look.Stop()
	for {
		if pid, err := holder(filepath.Join(c.Folder(role), lockFile)); err != nil || pid == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of %s: %w", role, ctx.Err())
		case <-look.C:
		}
	}
}
