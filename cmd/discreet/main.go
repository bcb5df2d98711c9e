// Command discreet answers SQL about private data, under a budget that cannot
// be overspent. `discreet help` lists its commands; package internal/cli has them.
package main

import (
	"os"

	"github.com/discreet-dp/discreet/internal/cli"
)

func main() { os.Exit(cli.Process()) }
