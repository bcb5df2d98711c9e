package diagnostic

// D230-D239: the roles of a collecting model as processes.
var collectEntries = []Entry{
	{"D230", "a cluster that has no such thing",
		"A cluster is a folder that discreet cluster up has made, by a profile and its settings. They and the roles stay as they were made: other settings are another cluster, in another folder.",
		"discreet cluster up --profile shufle"},
	{"D231", "a role that does not start",
		"A role is ready when it answers at its address. It ended before; the last words of its log stand in the message. Often another process has its port by now, or its folder was changed.",
		""},
}
