package cli

import (
	"bufio"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/command"
	accounts "github.com/discreet-dp/discreet/internal/cli/people"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// completions are the values that the owner's files have: the catalog's tables and columns,
// the ledger's domains, and accounts, of the files that the command line names. Whoever runs
// with the rights of another is told none. A file that cannot be read has none.
func completions(value, begun string, of *cobra.Command) []string {
	switch value {
	case "HELP":
		return helped(of.Flags().Args(), begun)
	case "ZONE":
		return zones(zoneFile)
	}
	if command.WhoCalls().Other {
		return nil
	}
	w := named(of)
	defer w.Close()
	switch value {
	case "TABLE":
		return tableNames(w, of.Flags().Lookup("table") == nil)
	case "COLUMN":
		f := of.Flags().Lookup("table")
		if f == nil || f.Value.String() == "" {
			return nil
		}
		return columnNames(w, f.Value.String())
	case "DOMAIN":
		return domainNames(w, of)
	}
	if err := w.OpenLedger(of.Context()); err != nil {
		return nil
	}
	return accounts.Names(of.Context(), w, value, of.Flags().Args())
}

// named is what the command line names.
func named(of *cobra.Command) *workplace.Workplace {
	w := new(workplace.Workplace)
	var flags flag.FlagSet
	w.Define(&flags)
	for _, name := range []string{"catalog", "ledger", "anchor", "ledger-key"} {
		f := of.Flags().Lookup(name)
		if f == nil {
			continue
		}
		text := command.Environment(name)
		if f.Changed {
			text = f.Value.String()
		}
		if text != "" {
			flags.Set(name, text) //nolint:errcheck // text takes any
		}
	}
	w.Resolve()
	return w
}

// tableNames are the tables of the catalog, and its views where a command takes them: what
// has a flag --table reads records, of which a view has none.
func tableNames(w *workplace.Workplace, views bool) (names []string) {
	if w.Load() != nil {
		return nil
	}
	for _, t := range w.Catalog.Tables {
		names = append(names, t.Name)
	}
	if views {
		for _, v := range w.Catalog.Views {
			names = append(names, v.Name)
		}
	}
	return names
}

func columnNames(w *workplace.Workplace, table string) (names []string) {
	if w.Load() != nil {
		return nil
	}
	i := slices.IndexFunc(w.Catalog.Tables, func(t *catalog.Table) bool { return t.Name == table })
	if i < 0 {
		return nil
	}
	for _, c := range w.Catalog.Tables[i].Columns {
		names = append(names, c.Name)
	}
	return names
}

// domainNames are those of the ledger. Of discreet ledger only some verbs take one, and add
// takes one that the ledger has not.
func domainNames(w *workplace.Workplace, of *cobra.Command) (names []string) {
	args := of.Flags().Args()
	ofLedger := of.Name() == "ledger" && len(args) > 0
	if ofLedger && !slices.Contains([]string{"acknowledge", "confirm", "accept", "add"}, args[0]) {
		return nil
	}
	if err := w.OpenLedger(of.Context()); err != nil {
		return nil
	}
	domains, err := w.Ledger.Domains(of.Context())
	if err != nil {
		return nil
	}
	for _, d := range domains {
		names = append(names, d.ID)
	}
	if !ofLedger || args[0] != "add" {
		return names
	}
	if w.Load() != nil {
		return nil
	}
	var missing []string
	for _, d := range w.Catalog.Domains {
		if !slices.Contains(names, d.ID) {
			missing = append(missing, d.ID)
		}
	}
	return missing
}

// helped are what discreet help explains behind words: commands, codes where one begins, or verbs.
func helped(words []string, begun string) (names []string) {
	all := commands()
	if len(words) > 0 {
		c, err := command.Find(all, words)
		if err != nil {
			return nil
		}
		return command.Names(c.Verbs)
	}
	if !strings.HasPrefix(begun, "D") {
		return command.Names(all)
	}
	for _, e := range diagnostic.Entries() {
		names = append(names, e.Code)
	}
	return names
}

// zoneFile is where systems keep the database of time zones as text.
const zoneFile = "/usr/share/zoneinfo/tzdata.zi"

// zones are the names of time zones in the database that the system has.
func zones(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names := map[string]bool{"UTC": true}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch words := strings.Fields(lines.Text()); {
		case len(words) > 1 && words[0] == "Z":
			names[words[1]] = true
		case len(words) > 2 && words[0] == "L":
			names[words[2]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
