package diagnostic

// D120-D129: accounting for plans.
var accountEntries = []Entry{
	{"D120", "a plan that cannot be read",
		"A plan is a sum of events, each with a count before it if it happens several times. Numbers are constant expressions; ? is the one unknown, which calibrate finds. docs/accounting.md lists the events.",
		"discreet account '3 * gausian(1)' --delta 1e-6"},
	{"D121", "an event that has no meaning under the relation",
		"Every event is a statement about one relation of neighbouring databases. Randomized response, for example, protects a unit that answers differently, not one that is absent. Under another relation the event says nothing, and a bound would be wrong.",
		"discreet account 'randomized_response(0.75)' --delta 1e-6 --relation add-remove"},
	{"D122", "no bound for a plan",
		"No theorem that Discreet knows bounds this plan for what was asked. Wrap an event that an accountant does not know in a guarantee that it has: approx(eps, delta), zcdp(rho), rdp(order: eps).",
		"discreet account 'shuffled(100, approx(1, 0.1))' --delta 1e-6 --relation replace-one"},
	{"D123", "a target that no parameter reaches",
		"calibrate searches the unknown of a plan on the safe side of the target. If even the safest value misses the target, the other parts of the plan cost too much.",
		"discreet account calibrate 'gaussian(?) + pure(2)' --epsilon 1 --delta 1e-6"},
	{"D124", "an event that a filter cannot charge",
		"A filter adds up losses in one measure. Its theorem holds even if each event is chosen by the answers before it. It admits only events that have a guarantee in that measure. Wrap another event in a guarantee that it has, such as approx(eps, delta).",
		"discreet account runs 'gaussian(10)' --filter pure --epsilon 1"},
}
