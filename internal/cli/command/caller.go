package command

import (
	"flag"
	"os"
	"os/user"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
)

// A caller is who started the command, as the operating system and sudo tell it.
type caller struct {
	User *ledger.User
	// Other: the command runs with rights that are not its caller's. Then it opens no file that the
	// caller names, because it would open it with somebody else's rights. It cannot take on the
	// caller's own rights, which sudo has dropped. The author of the rule that lets the caller run
	// it has named the catalog and the files of the ledger.
	Other bool
	bit   bool // by a bit of the executed file: there is no rule
	UID   int  // the caller's, if other; -1 if it is not known
}

// Callers are the variables by which sudo and similar programs name their caller. The caller cannot
// unset them on the way; somebody who can already has a shell with these rights.
var Callers = []struct {
	Variable string
	uid      func(string) (int, error)
}{
	{"SUDO_UID", strconv.Atoi},
	{"PKEXEC_UID", strconv.Atoi},
	{"DOAS_USER", func(name string) (int, error) {
		u, err := user.Lookup(name)
		if err != nil {
			return -1, err
		}
		return strconv.Atoi(u.Uid)
	}},
}

// WhoCalls tells whose rights the process has, and who got them.
func WhoCalls() caller {
	c := caller{User: UserOf(os.Geteuid()), UID: -1}
	c.bit = os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid()
	if os.Getuid() != os.Geteuid() {
		return c.on(os.Getuid())
	}
	for _, by := range Callers {
		value := os.Getenv(by.Variable)
		if value == "" {
			continue
		}
		uid, err := by.uid(value)
		if err != nil || uid < 0 { // the caller's uid is unknown
			uid = -1
		}
		if uid != os.Geteuid() {
			return c.on(uid)
		}
	}
	c.Other = c.bit || lentRights()
	return c
}

// on says on whose behalf the command runs.
func (c caller) on(uid int) caller {
	c.Other, c.UID = true, uid
	c.User.Caller = UserOf(uid)
	return c
}

// UserOf returns a user's name from the system's list, never from the environment.
func UserOf(uid int) *ledger.User {
	u := &ledger.User{UID: uid}
	if known, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		u.Name = known.Username
	}
	return u
}

// OwnersFiles are the flags whose files are opened with the owner's rights, whoever runs the command.
var OwnersFiles = []string{"catalog", "ledger", "anchor", "ledger-key"}

// RecordsLeave are the flags that send private records to a place that their value names. Who may be given an analyst's
// command must not choose it.
var RecordsLeave = []string{"worker"}

// admit refuses a command line that would open the caller's files with somebody else's
// rights. Commands of the owner are exempt: they show private data to anyone who may run
// them, so there is nothing left to protect.
func (c *Command) admit(by caller, args []string) error {
	if by.bit && c.For == Analyst {
		return diagnostic.New("D118", diagnostic.Span{}, "discreet %s runs by no set-user-ID or set-group-ID bit", c.Title()).
			Because("its caller could choose among the catalogs and ledgers of the owner").Try("the owner takes the bit off: chmod ug-s")
	}
	seen := map[string]bool{}
	for _, g := range c.Given {
		owners := slices.Contains(OwnersFiles, g.Name)
		if owners && seen[g.Name] {
			return diagnostic.New("D115", diagnostic.Span{}, "%s is given twice", flagName(g.Name)).
				Because("the second would undo the first, and the first may have been set by somebody else")
		}
		seen[g.Name] = true
		if by.Other && c.For != Owner && slices.Contains(RecordsLeave, g.Name) {
			return diagnostic.New("D118", diagnostic.Span{}, "%s would send private records where you say", flagName(g.Name)).
				Because("discreet %s runs here by sudo or the like, with the rights of another user than yours", c.Title()).
				Try("leave it out: the answer is the same; or let the owner run it")
		}
		if by.Other && c.For != Owner && !owners && g.Value != "-" && c.NamesFile(g.Name) {
			return c.NotWithTheseRights(flagName(g.Name) + " " + g.Value)
		}
	}
	if low := lowLimit(); by.Other && c.For == Analyst && low != "" {
		return diagnostic.New("D119", diagnostic.Span{}, "the limits of your shell would apply to a command that runs with another's rights: %s", low).
			Because("small resources make answers fail depending on private data").Try("run it without that limit")
	}
	if by.Other && c.For != Owner && c.Files && len(args) > 0 {
		return c.NotWithTheseRights(args[0])
	}
	return nil
}

// NotWithTheseRights refuses a file of the caller's that would be opened with somebody else's rights.
func (c *Command) NotWithTheseRights(what string) error {
	d := diagnostic.New("D118", diagnostic.Span{}, "%s would be opened with the rights of another user than yours", terminal.Printable(what)).
		Because("discreet %s runs here by sudo or the like", c.Title())
	if c.Flags.Lookup("f") != nil {
		return d.Try("your shell opens it with your own rights: discreet %s ... - < FILE", c.Title())
	}
	return d.Try("run discreet %s with your own rights, or let the owner run it", c.Title())
}

// NamesFile reports whether a flag's value is the name of a file or folder: its usage says so.
func (c *Command) NamesFile(name string) bool {
	value, _ := flag.UnquoteUsage(c.Flags.Lookup(name))
	return value == "FILE" || value == "DIR"
}

// OwnersAlone applies where the caller is not the owner of the process. It refuses a file
// of the owner's, or a folder on the way to it, that belongs to a third party: the caller, or
// a helper of the caller. ssh does the same.
func OwnersAlone(by caller, paths ...string) error {
	for _, path := range paths {
		if !by.Other || path == "" {
			continue
		}
		if of, err := custody.Foreign(path, os.Geteuid()); err == nil && of != "" { // a missing file is reported elsewhere
			return diagnostic.New("D099", diagnostic.Span{}, "%s does not belong to the user with whose rights it is read", of).
				Try("the owner keeps the catalog and the ledger in folders of the owner's own")
		}
	}
	return nil
}
