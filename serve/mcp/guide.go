package mcp

import _ "embed"

const (
	guideURI  = "discreet://guide"
	tablesURI = "discreet://tables"
)

//go:embed guide.md
var guide string

// instructions are what every model is told at the start.
const instructions = `Discreet answers SQL about private data with calibrated noise, under a privacy budget that never comes back.
1. list_tables says what may be asked about.
2. explain is free: it says what a statement costs and how large the error will be. Change the statement or the amount until both are worth it.
3. query spends. Ask once, for aggregates, with all groups in one statement. What was answered before is free to ask again.
4. Every noisy value has an interval: give it with the value, and do not rank or compare values whose intervals overlap.
A refusal says why and what to do instead. The resource discreet://guide explains more.`

// asking is the prompt about one question.
const asking = `Answer this question from the private data that Discreet guards: %s

Work in this order.
1. Call list_tables. Take columns, bounds and public domains from it; do not guess names.
2. Write one SELECT whose result is aggregates, with GROUP BY where the question compares groups.
3. Call budget, then explain with a small amount (for zcdp a rho of a hundredth of what remains). Read expected_error: is it small beside the values that you expect? If not, use fewer groups or fewer aggregates, or a larger amount.
4. Call query once, with the statement and the amount that you have explained.
5. Answer in words. Give each value with its interval and the confidence, say what was left out (the notes tell), what it cost and what remains. Where intervals overlap, say that the data do not tell the values apart.`
