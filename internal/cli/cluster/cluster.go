// Package cluster is the command cluster: the roles of a collecting model as processes of this
// machine. Package collect/cluster has what it does.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// startTime is how long a role may take to be ready.
const startTime = time.Minute

// Command is discreet cluster, for the profiles that there are.
func Command(profiles ...cluster.Profile) *command.Command {
	profiles = append(profiles, demoProfile())
	var list strings.Builder
	for _, p := range profiles {
		fmt.Fprintf(&list, "\n%s: %s", p.Name, p.Short)
		for _, s := range p.Settings {
			fmt.Fprintf(&list, "\n  %s=%s  %s", s.Name, s.Default, s.Usage)
		}
	}
	c := &command.Command{
		UsageLine: "cluster up|status|kill|restart|down|run|demo [flags] [ROLE]",
		For:       command.Owner,
		Short:     "the processes of a collecting model, on this machine (owner)",
		Long: `up makes a folder with keys for each role and starts a process for each, at loopback
ports; roles speak to each other by TLS with certificates on both sides. In DIR/ROLE lie
ready.json, which says where the role listens, its log, and what it has stored. The
processes survive the shell; down ends them, and up starts them again with what they had.

Profiles and their settings (up --set NAME=VALUE):` + list.String(),
		Examples: [2]string{"discreet cluster up --profile shuffle", "discreet cluster kill hop-1"},
	}
	r := runner{profiles: profiles}
	c.Verbs = []*command.Command{r.up(), r.status(), r.kill(), r.restart(), r.down(), r.run(), r.demo()}
	for _, v := range c.Verbs {
		v.Of = c.Name()
		c.Words = append(c.Words, v.Name())
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

// A runner has what all verbs know.
type runner struct{ profiles []cluster.Profile }

func (r runner) names() (names []string) {
	for _, p := range r.profiles {
		names = append(names, p.Name)
	}
	return names
}

// options start roles from this program.
func (r runner) options() (cluster.Options, error) {
	self, err := os.Executable()
	if err != nil {
		return cluster.Options{}, fmt.Errorf("find this program: %w", err)
	}
	return cluster.Options{Profiles: r.profiles, Command: []string{self, "cluster", "run"}, Now: time.Now}, nil
}

// verb gives a command the flags of all verbs on a cluster that is there, and what it does to
// it. It prints how the roles are afterwards.
func (r runner) verb(c *command.Command, takesRole bool, do func(ctx context.Context, on *cluster.Cluster, role string) error) *command.Command {
	dir, wantJSON := flags(c)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		role := ""
		switch {
		case !takesRole:
			if err := command.None(c, args); err != nil {
				return err
			}
		case len(args) != 1:
			return diagnostic.New("D113", diagnostic.Span{}, "the arguments do not fit").Try("discreet %s", c.Line())
		default:
			role = args[0]
		}
		o, err := r.options()
		if err != nil {
			return err
		}
		on, err := cluster.Load(*dir, o)
		if errors.Is(err, fs.ErrNotExist) {
			return diagnostic.New("D230", diagnostic.Span{}, "there is no cluster in %s", *dir).Try("discreet cluster up --profile %s --dir %s", strings.Join(r.names(), "|"), *dir)
		} else if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, startTime)
		defer cancel()
		if err := do(limited, on, role); err != nil {
			return refused(err)
		}
		return show(ctx, t, on, *wantJSON)
	}
	return c
}

func flags(c *command.Command) (dir *string, wantJSON *bool) {
	c.PrintsTables()
	return c.Flags.String("dir", "discreet-cluster", "the cluster's folder is `DIR`"), c.Flags.Bool("json", false, "print JSON")
}

// stopped is what an interrupted command says, which has reserved nothing.
func stopped(what, why, hint string) error {
	return fmt.Errorf("%w: %w", failure.ErrUndecided, diagnostic.New("D102", diagnostic.Span{}, "interrupted: %s", what).Because("%s", why).Try("%s", hint))
}

// refused gives what cannot be done to a cluster the form of all refusals.
func refused(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return stopped("roles that were started go on", "a cluster's processes survive the command", "discreet cluster status, or down")
	case errors.Is(err, cluster.ErrUsage):
		what := err.Error()
		if _, of, ok := strings.Cut(what, cluster.ErrUsage.Error()+": "); ok { // what comes before says the same in general
			what = of
		}
		return diagnostic.New("D230", diagnostic.Span{}, "%s", what).Try("discreet help cluster lists profiles and settings, discreet cluster status the roles")
	case errors.Is(err, cluster.ErrStart):
		return diagnostic.New("D231", diagnostic.Span{}, "%v", err).Try("read the role's log")
	}
	return err
}

func show(ctx context.Context, t *terminal.Terminal, on *cluster.Cluster, wantJSON bool) error {
	all, err := on.Status(ctx)
	if err != nil {
		return err
	}
	if wantJSON {
		return t.WriteJSON(map[string]any{"dir": on.Dir, "profile": on.Profile(), "roles": all})
	}
	columns := terminal.Grid{{Title: "role"}, {Title: "state"}, {Title: "pid", Right: true}, {Title: "address"}, {Title: "health"}, {Title: "log"}}
	for _, s := range all {
		row := []string{s.Role, string(s.State), "", s.HTTPS, "", s.Log}
		if s.PID != 0 {
			row[2] = fmt.Sprint(s.PID)
		}
		if s.HTTP != "" {
			row[4] = "http://" + s.HTTP + "/healthz"
		}
		for i := range columns {
			columns[i].Cells = append(columns[i].Cells, row[i])
		}
	}
	columns.Write(t.Out)
	return nil
}

func (r runner) up() *command.Command {
	c := &command.Command{
		UsageLine: "up --profile P [--dir DIR] [--set NAME=VALUE] [flags]",
		Short:     "make a cluster, or start the roles of one that do not run",
		Long:      `A cluster that is there keeps its settings and what its roles have stored.`,
		Examples:  [2]string{"discreet cluster up --profile shuffle", "discreet cluster up --profile shuffle --dir study --set batch=500"},
		Values:    map[string][]string{"profile": r.names()},
	}
	dir, wantJSON := flags(c)
	profile := c.Flags.String("profile", "", "the model is `P`: "+strings.Join(r.names(), ", "))
	given := cluster.Settings{}
	c.Flags.Func("set", "change a setting of the profile: `NAME=VALUE`; may be given again", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("want NAME=VALUE")
		}
		given[name] = value
		return nil
	})
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		if *profile == "" {
			return command.Missing("which model", "--profile "+strings.Join(r.names(), "|"))
		}
		o, err := r.options()
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, startTime)
		defer cancel()
		on, err := cluster.Up(limited, *dir, *profile, given, o)
		if err != nil {
			return refused(err)
		}
		return show(ctx, t, on, *wantJSON)
	}
	return c
}

func (r runner) status() *command.Command {
	return r.verb(&command.Command{
		UsageLine: "status [--dir DIR] [flags]",
		Short:     "ask each role how it is",
		Long:      `A role is ready, starting, unwell (it runs and its health page does not answer) or down.`,
		Examples:  [2]string{"discreet cluster status", "discreet cluster status --dir study --json"},
	}, false, func(context.Context, *cluster.Cluster, string) error { return nil })
}

func (r runner) kill() *command.Command {
	return r.verb(&command.Command{
		UsageLine: "kill ROLE [--dir DIR] [flags]",
		Short:     "end a role as a crash would, with signal 9",
		Long: `Nothing that the role has acknowledged is lost: restart it and see. A process that has
the number of a role that died is left alone.`,
		Examples: [2]string{"discreet cluster kill hop-1", "discreet cluster kill analyzer --dir study"},
	}, true, func(ctx context.Context, on *cluster.Cluster, role string) error { return on.Kill(ctx, role) })
}

func (r runner) restart() *command.Command {
	return r.verb(&command.Command{
		UsageLine: "restart ROLE [--dir DIR] [flags]",
		Short:     "end a role in order, if it runs, and start it",
		Long:      `It listens where it listened before, with what it has stored.`,
		Examples:  [2]string{"discreet cluster restart hop-1", "discreet cluster restart analyzer --dir study"},
	}, true, func(ctx context.Context, on *cluster.Cluster, role string) error { return on.Restart(ctx, role) })
}

func (r runner) down() *command.Command {
	return r.verb(&command.Command{
		UsageLine: "down [--dir DIR] [flags]",
		Short:     "end all roles in order",
		Long:      `Their folders stay, for up.`,
		Examples:  [2]string{"discreet cluster down", "discreet cluster down --dir study"},
	}, false, func(ctx context.Context, on *cluster.Cluster, _ string) error { return on.Down(ctx) })
}

func (r runner) run() *command.Command {
	c := &command.Command{
		UsageLine: "run FOLDER",
		Short:     "be the role whose folder it is, until an interrupt",
		Long: `It is what up starts. By itself it runs a role on a machine of its own: copy the role's
folder there, and write addresses that the others can reach into role.json of each.`,
		Examples: [2]string{"discreet cluster run discreet-cluster/hop-1", "discreet cluster run /var/lib/discreet/hop-1"},
		Files:    true,
	}
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "one folder of a role is wanted").Try("discreet %s", c.Line())
		}
		return refused(cluster.Run(ctx, args[0], r.profiles, time.Now, slog.New(slog.NewJSONHandler(t.Err, nil))))
	}
	return c
}
