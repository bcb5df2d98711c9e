package postgres

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// joined is the value of a SET: nil for DEFAULT.
func joined(c sqlparse.Set) *string {
	if c.Values == nil {
		return nil
	}
	v := strings.Join(c.Values, ", ")
	return &v
}

// set changes a setting, as SET and RESET do.
func (s *session) set(name string, value *string, local bool) *failure {
	return s.settings.set(name, value, local)
}

// setConfig is the function set_config, which BI tools and dumps call for SET.
func (s *session) setConfig(c sqlparse.SetConfig, parameters []parameterValue) (*result, error) {
	var text [3]string
	for i, a := range []sqlparse.Argument{c.Name, c.Value, c.Local} {
		switch {
		case a.Parameter > len(parameters):
			return nil, fail("08P01", fmt.Sprintf("there is no parameter $%d", a.Parameter))
		case a.Parameter > 0:
			p, err := parameters[a.Parameter-1].read(s.types)
			if err != nil {
				return nil, fail("22P03", "incorrect data in bind parameter").reason(err.Error())
			}
			a.Null = p.Text == nil
			if !a.Null {
				a.Text = *p.Text
			}
		}
		if a.Null && i != 1 {
			return nil, fail("22004", "SET requires a parameter name")
		}
		text[i] = a.Text
	}
	local, f := boolean("is_local")(text[2])
	if f != nil {
		return nil, f
	}
	if f := s.set(text[0], &text[1], local == "on"); f != nil {
		return nil, f
	}
	return texts("SELECT", c.Column, s.settings.show(text[0])), nil
}

// showSetting is SHOW.
func (s *session) showSetting(name string) (*result, error) {
	if name == "all" {
		columns := allColumns()
		var rows [][]*string
		for _, n := range s.settings.names() {
			shown, v, about := shownName(n), s.settings.show(n), parameters[n].about
			rows = append(rows, []*string{&shown, &v, &about})
		}
		return &result{tag: "SHOW", columns: columns, rows: textRows{rows, columns}}, nil
	}
	v, ok := s.settings.read(name)
	if !ok {
		return nil, unknownSetting(name)
	}
	if name == "session_authorization" {
		v = s.asker.Account.Name
	}
	return texts("SHOW", shownName(name), v), nil
}

func allColumns() []column {
	return []column{textColumn("name"), textColumn("setting"), textColumn("description")}
}

// shownName is a setting's name as PostgreSQL writes it.
func shownName(name string) string {
	if p, ok := parameters[strings.ToLower(name)]; ok {
		return p.name
	}
	return name
}
