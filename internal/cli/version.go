package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
)

// Version is that of CHANGELOG.md which this program has.
const Version = "v0.1.0"

func versionCommand() *command.Command {
	c := &command.Command{
		UsageLine: "version",
		For:       command.Anyone,
		Short:     "print the version, and with what it was built",
		Long:      `The version is that of CHANGELOG.md; the revision is the commit that was built, where the build knows it.`,
		Examples:  [2]string{"discreet version", "discreet version --json"},
	}
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		var built string
		if info, ok := debug.ReadBuildInfo(); ok {
			built = revision(info.Settings)
		}
		if *wantJSON {
			return t.WriteJSON(map[string]string{"version": Version, "revision": built, "go": runtime.Version(), "engine": workplace.EngineName})
		}
		if built != "" {
			built = ", revision " + built
		}
		fmt.Fprintf(t.Out, "discreet %s%s, %s, engine %s\n", Version, built, runtime.Version(), workplace.EngineName)
		return nil
	}
	return c
}

// revision is the commit that was built, "" where the build does not know it, as that of
// a downloaded module.
func revision(settings []debug.BuildSetting) string {
	var commit, modified string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " and changes"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + modified
}
