package terminal

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cells"
)

func TestFit(t *testing.T) {
	const page = `error[D013]: unknown function median of a statement
  query:1:8
  1 | select median(age) from messy where age > 30 and city = 'Berlin'
    |        ^^^^^^
  why:  only functions on a list may run: each is total
  hint: count by range, GROUP BY width_bucket(x, 0, 100)
  more: discreet help D013

It writes the names and types of columns
to a new catalog.

Flags:
  --catalog FILE  the catalog's FILE (default discreet.toml)
  --a-flag-with-a-long-name NAME  what it does for you
  discreet init --catalog clinic.toml 'visits/year=*/*.parquet'
`
	const want = `error[D013]: unknown function median of
a statement
  query:1:8
  1 | select median(age) from messy where age > 30 and city = 'Berlin'
    |        ^^^^^^
  why:  only functions on a list may
        run: each is total
  hint: count by range, GROUP BY
        width_bucket(x, 0, 100)
  more: discreet help D013

It writes the names and types of columns
to a new catalog.

Flags:
  --catalog FILE  the catalog's FILE
                  (default
                  discreet.toml)
  --a-flag-with-a-long-name NAME
    what it does for you
  discreet init --catalog clinic.toml 'visits/year=*/*.parquet'
`
	if got := fit(page, 40); got != want {
		t.Errorf("in 40 columns:\n%s", got)
	}
	if got := fit(page, 200); got != page {
		t.Errorf("in 200 columns:\n%s", got)
	}
	for line := range strings.Lines(fit(page, 30)) {
		if line = strings.TrimSuffix(line, "\n"); cells.Width(line) > 30 && !source.MatchString(line) && !strings.HasPrefix(line, "  discreet") && !strings.HasPrefix(line, "  --a-flag") {
			t.Errorf("in 30 columns: %q", line)
		}
	}
}
