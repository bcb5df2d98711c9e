package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/collect/federated/coordinator"
	prio "github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/internal/cli/account"
	"github.com/discreet-dp/discreet/internal/cli/agent"
	"github.com/discreet-dp/discreet/internal/cli/audit"
	"github.com/discreet-dp/discreet/internal/cli/cluster"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/federated"
	"github.com/discreet-dp/discreet/internal/cli/learn"
	"github.com/discreet-dp/discreet/internal/cli/local"
	"github.com/discreet-dp/discreet/internal/cli/multiparty"
	"github.com/discreet-dp/discreet/internal/cli/noise"
	"github.com/discreet-dp/discreet/internal/cli/owner"
	accounts "github.com/discreet-dp/discreet/internal/cli/people"
	"github.com/discreet-dp/discreet/internal/cli/query"
	"github.com/discreet-dp/discreet/internal/cli/serve"
	"github.com/discreet-dp/discreet/internal/cli/shuffle"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/verify"
	"github.com/discreet-dp/discreet/internal/cli/worker"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// commands returns all commands, fresh: each holds the flags of one run.
func commands() []*command.Command {
	all := []*command.Command{
		query.Demo(), owner.Init(), owner.Check(), owner.Prepare(), owner.Bounds(), owner.Ledger(), accounts.User(), accounts.Approval(),
		query.Tables(), query.Explain(), query.Command(), query.Shell(), query.Map(), worker.Command(), query.Budget(), account.Command(), noise.Command(), local.Command(), audit.Command(), verify.Command(),
		learn.Train(), learn.Predict(), learn.Evaluate(), learn.Model(),
		learn.Label(), learn.Pate(),
		serve.Command(), agent.Command(), cluster.Command(process.Profile(), multiparty.Profile(), prio.Profile(), coordinator.Profile()), shuffle.Command(), multiparty.Command(), federated.Command(),
		helpCommand(), completionCommand(), versionCommand(),
	}
	for _, c := range all {
		for _, v := range c.Verbs {
			v.For = cmp.Or(v.For, c.For)
		}
	}
	return all
}

// Root is the tree of all commands, which write to t.
func Root(t *terminal.Terminal) *cobra.Command { return root(t, nil) }

func root(t *terminal.Terminal, complete command.Completer) *cobra.Command {
	root := &cobra.Command{
		Use:               "discreet",
		Short:             "SQL about private data, under a budget that cannot be overspent",
		Long:              "Discreet answers SQL about private data, under a budget that cannot be overspent.",
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				_, err := command.Find(commands(), args[:1])
				return err
			}
			writeOverview(t.Err, commands())
			return failure.ErrUsageShown
		},
	}
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetFlagErrorFunc(func(root *cobra.Command, err error) error {
		if _, err := command.Find(commands(), root.Flags().Args()); err != nil { // the command is unknown: say that, not that its flag is
			return err
		}
		return diagnostic.New("D110", diagnostic.Span{}, "a command comes first: %v", err).Try("discreet help lists the commands")
	})
	root.SetHelpFunc(func(*cobra.Command, []string) { writeOverview(t.Out, commands()) })
	for _, c := range commands() {
		framed := c.Cobra(t, complete)
		if c.Name() == "help" {
			root.SetHelpCommand(framed)
			continue
		}
		root.AddCommand(framed)
	}
	return root
}
