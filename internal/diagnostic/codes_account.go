package diagnostic

// D120-D129: accounting for plans.
var accountEntries = []Entry{
	{"D120", "a plan that cannot be read",
		"A plan is a sum of events, each with a count before it if it happens several times. Numbers are constant expressions; ? is the one unknown that calibrate finds. docs/accounting.md lists the events.",
		"discreet account '3 * gausian(1)' --delta 1e-6"},
	{"D121", "an event that does not speak of the relation",
		"Every event is a statement about neighbouring databases of some kind: randomized response, for one, is about a unit that answers differently, not about one that is absent. Under another relation it says nothing, and a bound would be wrong.",
		"discreet account 'randomized_response(0.75)' --delta 1e-6 --relation add-remove"},
	{"D122", "no bound for a plan",
		"No theorem that is known here bounds this plan at what was asked for. An event that an accountant knows nothing of can be wrapped in a guarantee that it has: approx(eps, delta), zcdp(rho), rdp(order: eps).",
		"discreet account 'shuffled(100, approx(1, 0.1))' --delta 1e-6 --relation replace-one"},
	{"D123", "a target that no parameter reaches",
		"The unknown of a plan is searched on the safe side of the target. Where even the most careful value misses it, another part of the plan costs too much.",
		"discreet account calibrate 'gaussian(?) + pure(2)' --epsilon 1 --delta 1e-6"},
	{"D124", "an event that a filter has no charge for",
		"A filter adds up losses in one measure, with a theorem that holds when each event is chosen by looking at the answers before. An event without a guarantee in that measure is not admitted; it can be wrapped in one that it has, such as approx(eps, delta).",
		"discreet account runs 'gaussian(10)' --filter pure --epsilon 1"},
}
