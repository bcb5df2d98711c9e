package diagnostic

// D230-D239: the roles of a collecting model as processes.
var collectEntries = []Entry{
	{"D230", "a cluster that has no such thing",
		"A cluster is a folder that discreet cluster up has made, by a profile and its settings. They and the roles stay as they were made: other settings are another cluster, in another folder.",
		"discreet cluster up --profile shufle"},
	{"D231", "a role that does not start",
		"A role is ready when it answers at its address. It ended before; the last words of its log stand in the message. Often another process has its port by now, or its folder was changed.",
		""},
	{"D232", "a question that shufflers cannot ask",
		"A question has 2 to 4096 answers, an epsilon of a bundle by itself, a delta, and batches of at least two respondents who do not collude; a sum has a lower and an upper bound, a histogram has none.",
		"discreet shuffle describe --set answers=1"},
	{"D233", "a role that refuses",
		"A role of the cluster answers, and refuses what was asked: notEnrolled and tokenIssued are of codes that nobody enrolled, or that have had their tokens; invalidMessage is of bytes that are no report of this question.",
		""},
}
