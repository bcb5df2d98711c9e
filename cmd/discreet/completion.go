package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func completionCommand() *Command {
	c := &Command{
		UsageLine: "completion bash|zsh|fish",
		For:       anyone,
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
	c.Flags.VisitAll(func(f *flag.Flag) { names = append(names, flagName(f.Name)) })
	return names
}

// flagName is a flag as it is typed, in help, in completions and in errors.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
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
	local word=${COMP_WORDS[COMP_CWORD]} words= ledger=() i
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W '%s' -- "$word"))
		return
	fi
	if [[ ${COMP_WORDS[COMP_CWORD-1]} == --domain ]]; then
		for ((i = 2; i < COMP_CWORD - 1; i++)); do
			[[ ${COMP_WORDS[i]} == --@(ledger|anchor|ledger-key) ]] && ledger+=("${COMP_WORDS[i]}" "${COMP_WORDS[i+1]}")
		done
		COMPREPLY=($(compgen -W "$(discreet budget "${ledger[@]}" 2> /dev/null | awk '$1 == "domain" { print substr($2, 1, length($2) - 1) }')" -- "$word"))
		return
	fi
	case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
`, strings.Join(names(all), " "))
	for _, c := range all {
		for _, v := range c.Verbs {
			fmt.Fprintf(w, "\t'%s') ((COMP_CWORD > 2)) && words='%s' || words=%s ;;\n", v.Title(), strings.Join(append(flagNames(v), argumentWords(v, all)...), " "), v.Name())
		}
		fmt.Fprintf(w, "\t%s\\ *) words='%s' ;;\n", c.Name(), strings.Join(append(flagNames(c), argumentWords(c, all)...), " "))
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
	if len(c.Verbs) > 0 {
		words := names(c.Verbs)
		for _, w := range c.Words {
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return words
	}
	if c.Title() == "help" {
		return names(all)
	}
	return c.Words
}

func writeZsh(w io.Writer, all []*Command) {
	fmt.Fprint(w, "#compdef discreet\n_discreet() {\n\tif ((CURRENT == 2)); then\n\t\tlocal -a commands=(\n")
	for _, c := range all {
		fmt.Fprintf(w, "\t\t\t%s\n", quote(c.Name()+":"+c.Short))
	}
	fmt.Fprint(w, "\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase \"${words[2]} ${words[3]}\" in\n")
	for _, c := range withVerbs(all) {
		pattern := c.Name() + "\\ *"
		if c.Of != "" {
			pattern = quote(c.Title())
		}
		fmt.Fprintf(w, "\t%s) _arguments", pattern)
		c.Flags.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			// A colon or bracket would end the explanation.
			usage = strings.NewReplacer(":", "", "[", "(", "]", ")").Replace(usage)
			spec := flagName(f.Name) + "[" + usage + "]"
			switch value {
			case "":
			case "FILE":
				spec += ":FILE:_files"
			case "DIR":
				spec += ":DIR:_files -/"
			case "DOMAIN":
				// No colon: it would end the action.
				spec += `:DOMAIN:{compadd -- $(discreet budget 2> /dev/null | awk '$1 == "domain" { print substr($2, 1, length($2) - 1) }')}`
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
	for _, c := range withVerbs(all) {
		in := "__fish_seen_subcommand_from " + c.Name()
		if c.Of != "" {
			in = "__fish_seen_subcommand_from " + c.Of + "; and " + in
		}
		in = quote(in)
		c.Flags.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			form := "-l"
			if len(f.Name) == 1 {
				form = "-s"
			}
			if value != "" {
				form = "-r " + form
			}
			fmt.Fprintf(w, "complete -c discreet -n %s %s %s -d %s", in, form, f.Name, quote(usage))
			if value == "DOMAIN" {
				fmt.Fprint(w, " -f -a ", quote(`(discreet budget 2> /dev/null | string replace -rf '^domain ([^:]*):.*' '$1')`))
			}
			fmt.Fprintln(w)
		})
		if words := argumentWords(c, all); len(words) > 0 {
			fmt.Fprintf(w, "complete -c discreet -n %s -f -a %s\n", in, quote(strings.Join(words, " ")))
		}
	}
}

// withVerbs lists verbs before the commands that they belong to.
func withVerbs(all []*Command) (out []*Command) {
	for _, c := range all {
		out = append(append(out, c.Verbs...), c)
	}
	return out
}

// quote is a word of any of the three shells.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
