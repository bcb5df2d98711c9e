package postgres

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/postgres/pgcatalog"
)

// spent is an oracle with books, whose amounts are no decimals.
type spent struct {
	*oracle
	amounts filter.Amounts
}

func (s spent) Budget(context.Context, gateway.Asker) ([]ledger.Balance, error) {
	b := ledger.Balance{Spent: s.amounts, Remaining: s.amounts}
	b.ID, b.Measure, b.Limit = "d", filter.ZCDP, s.amounts
	return []ledger.Balance{b}, nil
}

// TestAmountsAreNumbers: amounts in the tables are numbers, also where an exact one has more digits than are written, or is no decimal. What is left is
// rounded down, and what was spent up.
func TestAmountsAreNumbers(t *testing.T) {
	rho, err := privacy.NewRho(big.NewRat(200, 3))
	if err != nil {
		t.Fatal(err)
	}
	amounts := filter.Amounts{Rho: rho}
	b := open(t, func(o *Options) { o.Gateway, o.Catalog, o.Now = spent{newOracle(), amounts}, pgcatalog.New(), time.Now })
	l := b.signIn(t)
	for sql, want := range map[string]string{
		"SELECT remaining FROM discreet.budget WHERE amount = 'rho'":           "D(66.666666666666666666)",
		"SELECT sum(spent) FROM discreet.budget WHERE amount = 'rho'":          "D(66.666666666666666667)",
		"SELECT max(budget)::float8 FROM discreet.budget WHERE amount = 'rho'": "D(66.66666666666667)",
	} {
		l.say(query(sql))
		if got := l.until('Z'); !strings.Contains(got, want) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if epsilon, delta, of := charge(amounts); epsilon != "" || delta != "" || of != "66.666666666666666667" {
		t.Errorf("a charge: %q %q %q", epsilon, delta, of)
	}
}
