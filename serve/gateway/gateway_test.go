//go:build cgo

package gateway_test

import (
	"errors"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

var (
	anna = gateway.Asker{Account: gatewaytest.Analyst, Door: "http"}
	olga = gateway.Asker{Account: gatewaytest.Owner, Door: "http"}
)

func rho(t testing.TB, text string) gateway.Options {
	r, err := privacy.ParseRho(text)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Options{Spend: discreet.Spend{Rho: r}}
}

const grouped = "SELECT department, count(*) AS visits FROM visits GROUP BY department"

// TestNothingIsChargedWithoutAnAmount: the catalog's default is for the shell alone.
func TestNothingIsChargedWithoutAnAmount(t *testing.T) {
	g := gatewaytest.New(t)
	_, err := g.Query(t.Context(), anna, grouped, gateway.Options{})
	var r *discreet.Refusal
	if !errors.As(err, &r) || r.Code != "D070" || !strings.Contains(r.Hint, "SET discreet.rho") {
		t.Fatalf("without an amount: %v", err)
	}
	a, err := g.Query(t.Context(), anna, "SELECT name FROM departments ORDER BY name", gateway.Options{})
	if err != nil || len(a.Rows) == 0 {
		t.Fatalf("what is public needs no amount: %v", err)
	}
	if a, err = g.Query(t.Context(), anna, grouped, rho(t, "0.01")); err != nil || a.Cost.Rho.String() != "0.01" {
		t.Fatalf("with an amount: %v", err)
	}
	own, err := g.History(t.Context(), anna)
	if err != nil || len(own) != 1 || own[0].Analyst != "anna" {
		t.Errorf("anna's history: %v %v", own, err)
	}
	if all, err := g.History(t.Context(), olga); err != nil || len(all) <= 1 {
		t.Errorf("an owner's history: %v %v", all, err)
	}
}
