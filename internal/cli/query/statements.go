package query

import (
	"regexp"
	"strings"
)

// take removes the whole statements from a text that is being written, without their semicolons.
func take(text *strings.Builder) (statements []string) {
	whole := text.String()
	from := 0
	scan(whole, func(at int, kind part) {
		if kind == ending {
			if s := strings.TrimSpace(whole[from:at]); !blank(s) {
				statements = append(statements, s)
			}
			from = at + 1
		}
	})
	rest := whole[from:]
	if blank(rest) {
		rest = ""
	}
	text.Reset()
	text.WriteString(rest)
	return statements
}

// A part says what a byte of a statement belongs to.
type part uint8

const (
	code part = iota
	quoted
	comment
	ending // a semicolon that ends a statement
)

var dollar = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)?\$`)

// scan says of each byte what it belongs to, as PostgreSQL's lexer has it: quotes that are doubled
// within themselves, E” with backslashes, dollar quotes, comments to the line's end, and nested ones.
// It decides when a statement is sent and nothing else: the parser reads it anew.
func scan(text string, each func(at int, kind part)) {
	for i := 0; i < len(text); {
		rest := text[i:]
		end, kind := i+1, code
		switch c := text[i]; {
		case c == '\'' || c == '"':
			end, kind = closing(text, i, c, c == '\'' && i > 0 && (text[i-1] == 'e' || text[i-1] == 'E') && (i < 2 || !isName(text[i-2]))), quoted
		case c == '$' && (i == 0 || !isName(text[i-1])) && dollar.MatchString(rest):
			mark := dollar.FindString(rest)
			end, kind = len(text), quoted
			if n := strings.Index(rest[len(mark):], mark); n >= 0 {
				end = i + n + 2*len(mark)
			}
		case strings.HasPrefix(rest, "--"):
			end, kind = len(text), comment
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				end = i + n
			}
		case strings.HasPrefix(rest, "/*"):
			end, kind = commentEnd(text, i), comment
		case c == ';':
			kind = ending
		}
		for ; i < end; i++ {
			each(i, kind)
		}
	}
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func closing(text string, at int, quote byte, backslashes bool) int {
	for i := at + 1; i < len(text); i++ {
		switch {
		case backslashes && text[i] == '\\':
			i++
		case text[i] == quote && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

func commentEnd(text string, at int) int {
	depth := 0
	for i := at; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// blank reports whether a text has nothing but space and comments.
func blank(text string) bool {
	empty := true
	scan(text, func(at int, kind part) {
		if kind != comment && strings.TrimSpace(text[at:at+1]) != "" {
			empty = false
		}
	})
	return empty
}

// oneLine is a statement on a line, without comments; not where a line ends within quotes.
func oneLine(text string) (string, bool) {
	var b strings.Builder
	ok := true
	scan(text, func(at int, kind part) {
		switch c := text[at]; {
		case kind == comment:
			if at == 0 || b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
				b.WriteByte(' ')
			}
		case c == '\n' || c == '\r':
			ok = ok && kind != quoted
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	})
	return strings.TrimSpace(b.String()), ok
}

var explaining = regexp.MustCompile(`(?is)^\s*explain\s+(.+)$`)

// explains reports whether a statement is EXPLAIN, and of what.
func explains(text string) (of string, is bool) {
	m := explaining.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// isCommand reports whether a line is a command of the shell: one that begins with a backslash, or a word that leaves other shells, or asks them for help.
func isCommand(line string) bool { return strings.HasPrefix(commandOf(line), `\`) }

// commandOf is a line as a command of the shell has it.
func commandOf(line string) string {
	line = strings.TrimSpace(line)
	if of, is := plainCommands[strings.ToLower(strings.TrimRight(line, "; "))]; is {
		return of
	}
	return line
}

var plainCommands = map[string]string{"help": `\?`, "quit": `\q`, "exit": `\q`}
