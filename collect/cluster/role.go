package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
)

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

// step is how often what another process does is looked at.
const step = 20 * time.Millisecond

// role refuses a name that has no process.
func (c *Cluster) role(name string) error {
	if !slices.ContainsFunc(c.made.Members, func(m who) bool { return m.Name == name && m.Kind != "" }) {
		return fmt.Errorf("%w: %s has no role %q", ErrUsage, c.Dir, name)
	}
	return nil
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
