package cli

import (
	"context"
	"io"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func completionCommand() *command.Command {
	c := &command.Command{
		UsageLine: "completion bash|zsh|fish",
		For:       command.Anyone,
		Short:     "print a shell's completion script",
		Long: `The script completes commands, their flags, what a flag may say (the domains of the
ledger among them), and the files that they name. Bash needs its package bash-completion.
make install installs all three, and the manual pages.`,
		Examples: [2]string{
			"source <(discreet completion bash)",
			"discreet completion fish > ~/.config/fish/completions/discreet.fish",
		},
		Words: []string{"bash", "zsh", "fish"},
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		if len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "one shell, please").Try("discreet %s", c.UsageLine)
		}
		root := Root(t)
		write := map[string]func(io.Writer) error{
			"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
			"zsh":  root.GenZshCompletion,
			"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		}[args[0]]
		if write == nil {
			d := diagnostic.New("D113", diagnostic.Span{}, "there is no script for the shell %q", args[0]).Try("discreet %s", c.UsageLine)
			if near := diagnostic.Nearest(args[0], c.Words); near != "" {
				d.Try("did you mean %s?", near)
			}
			return d
		}
		return write(t.Out)
	}
	return c
}

// withVerbs lists verbs before the commands that they belong to.
func withVerbs(all []*command.Command) (out []*command.Command) {
	for _, c := range all {
		out = append(append(out, c.Verbs...), c)
	}
	return out
}
