package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func completionCommand() *Command {
	c := &Command{
		UsageLine: "completion bash|zsh|fish",
		Short:     "print a shell's completion script",
		Long:      `The script completes commands, their flags, and the files that they name.`,
		Examples: [2]string{
			"source <(discreet completion bash)",
			"discreet completion fish > ~/.config/fish/completions/discreet.fish",
		},
		Words: []string{"bash", "zsh", "fish"},
	}
	c.Run = func(_ context.Context, t *terminal, args []string) error {
		if len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "one shell, please").Try("discreet %s", c.UsageLine)
		}
		write := map[string]func(io.Writer, []*Command){"bash": writeBash, "zsh": writeZsh, "fish": writeFish}[args[0]]
		if write == nil {
			d := diagnostic.New("D113", diagnostic.Span{}, "there is no script for the shell %q", args[0]).Try("discreet %s", c.UsageLine)
			if near := diagnostic.Nearest(args[0], c.Words); near != "" {
				d.Try("did you mean %s?", near)
			}
			return d
		}
		write(t.out, commands())
		return nil
	}
	return c
}

// flagNames lists a command's flags as they are typed.
func flagNames(c *Command) (names []string) {
	c.Flags.VisitAll(func(f *flag.Flag) { names = append(names, flagName(f)) })
	return names
}

func flagName(f *flag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

func names(all []*Command) (out []string) {
	for _, c := range all {
		out = append(out, c.Name())
	}
	return out
}

func writeBash(w io.Writer, all []*Command) {
	fmt.Fprintf(w, `# bash completion for discreet
_discreet() {
	local word=${COMP_WORDS[COMP_CWORD]} words=
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W '%s' -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
`, strings.Join(names(all), " "))
	for _, c := range all {
		fmt.Fprintf(w, "\t%s) words='%s' ;;\n", c.Name(), strings.Join(append(flagNames(c), argumentWords(c, all)...), " "))
	}
	fmt.Fprint(w, `	esac
	COMPREPLY=($(compgen -W "$words" -- "$word"))
	[[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}
complete -o filenames -F _discreet discreet
`)
}

// argumentWords are the first arguments that a command knows.
func argumentWords(c *Command, all []*Command) []string {
	if c.Name() == "help" {
		return names(all)
	}
	return c.Words
}

func writeZsh(w io.Writer, all []*Command) {
	fmt.Fprint(w, "#compdef discreet\n_discreet() {\n\tif ((CURRENT == 2)); then\n\t\tlocal -a commands=(\n")
	for _, c := range all {
		fmt.Fprintf(w, "\t\t\t%s\n", quote(c.Name()+":"+c.Short))
	}
	fmt.Fprint(w, "\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase ${words[2]} in\n")
	for _, c := range all {
		fmt.Fprintf(w, "\t%s) _arguments", c.Name())
		c.Flags.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			// A colon or bracket would end the explanation.
			usage = strings.NewReplacer(":", "", "[", "(", "]", ")").Replace(usage)
			spec := flagName(f) + "[" + usage + "]"
			switch value {
			case "":
			case "FILE":
				spec += ":FILE:_files"
			default:
				spec += ":" + value + ":"
			}
			fmt.Fprint(w, " ", quote(spec))
		})
		if words := argumentWords(c, all); len(words) > 0 {
			fmt.Fprint(w, " ", quote("2:argument:("+strings.Join(words, " ")+")"))
		}
		fmt.Fprintf(w, " %s ;;\n", quote("*:file:_files"))
	}
	fmt.Fprint(w, "\tesac\n}\ncompdef _discreet discreet\n")
}

func writeFish(w io.Writer, all []*Command) {
	fmt.Fprint(w, "# fish completion for discreet\n")
	for _, c := range all {
		fmt.Fprintf(w, "complete -c discreet -n __fish_use_subcommand -f -a %s -d %s\n", c.Name(), quote(c.Short))
	}
	for _, c := range all {
		in := quote("__fish_seen_subcommand_from " + c.Name())
		c.Flags.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			form := "-l"
			if len(f.Name) == 1 {
				form = "-s"
			}
			if value != "" {
				form = "-r " + form
			}
			fmt.Fprintf(w, "complete -c discreet -n %s %s %s -d %s\n", in, form, f.Name, quote(usage))
		})
		if words := argumentWords(c, all); len(words) > 0 {
			fmt.Fprintf(w, "complete -c discreet -n %s -f -a %s\n", in, quote(strings.Join(words, " ")))
		}
	}
}

// quote is a word of any of the three shells.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
