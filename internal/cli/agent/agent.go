// Package agent is the command mcp: the bridge between an agent on this machine and a server.
package agent

import (
	"context"
	"errors"
	"os"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/serve/mcp"
)

// Command is discreet mcp.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "mcp --server URL",
		For:       command.Anyone,
		Short:     "let an agent ask a server (Model Context Protocol)",
		Long: `It speaks the Model Context Protocol on standard input and output, and asks a server that
discreet serve runs. It opens no data, no catalog and no ledger. The agent asks as the
account whose token is in DISCREET_TOKEN, and is bound by that account's rules. Its tools
are list_tables, explain, query and budget. The token is sent to that server alone, over
https or to this machine. An agent that can speak HTTP needs no bridge: the server answers
at /mcp.`,
		Examples: [2]string{"DISCREET_TOKEN=... discreet mcp --server https://data.example", "DISCREET_TOKEN=... discreet mcp --server http://127.0.0.1:8080"},
	}
	server := c.Flags.String("server", "", "ask the server at `URL`")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		if *server == "" {
			return command.Missing("the server to ask", "--server URL")
		}
		token := os.Getenv("DISCREET_TOKEN")
		if token == "" {
			return diagnostic.New("D113", diagnostic.Span{}, "no account is given").
				Because("a server answers only to accounts").Try("put the account's token into DISCREET_TOKEN; the owner makes one with discreet user add NAME --token")
		}
		err := mcp.Bridge(ctx, t.In, t.Out, *server, token)
		if errors.Is(err, mcp.ErrServer) {
			return command.BadValue("--server", terminal.Printable(*server), err)
		}
		return err
	}
	return c
}
