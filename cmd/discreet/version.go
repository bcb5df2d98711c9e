package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() *Command {
	c := &Command{
		UsageLine: "version",
		For:       anyone,
		Short:     "print the version, and with what it was built",
		Long:      `The version is the module's, or the revision of the working tree that was built.`,
		Examples:  [2]string{"discreet version", "discreet version --json"},
	}
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(_ context.Context, t *terminal, args []string) error {
		if err := none(c, args); err != nil {
			return err
		}
		v := version()
		if *wantJSON {
			return t.writeJSON(map[string]string{"version": v, "go": runtime.Version(), "engine": engineName})
		}
		fmt.Fprintf(t.out, "discreet %s, %s, engine %s\n", v, runtime.Version(), engineName)
		return nil
	}
	return c
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
