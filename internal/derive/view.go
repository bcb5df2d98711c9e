package derive

import (
	"errors"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// View returns the plan that a view stands for. Its error is a *diagnostic.Diagnostic
// at its place in the catalog.
func View(c *catalog.Catalog, v *catalog.View) (plan.Node, error) {
	n, err := bind.View(v, c)
	if err == nil {
		err = answerable(n)
	}
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		if d.Text == "" || d.Text == v.Query.Text { // else it is of a column that the view declares
			d = v.Query.Place(d)
		}
		return nil, d
	}
	return n, err
}

// answerable refuses a view of which nothing can be asked: not even its rows counted. A
// bound that is not declared may not matter to a statement, which says so if it does.
func answerable(n plan.Node) error {
	_, err := stability.Analyze(&plan.Aggregate{Input: n, Span: n.Place(), Aggregations: []plan.Aggregation{
		{Function: plan.CountStar, Name: "count", Type: sqltype.Of(sqltype.Bigint), Span: n.Place()}}})
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) && d.Code == "D048" {
		return nil
	}
	return err
}
