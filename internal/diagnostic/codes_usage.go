package diagnostic

// D110-D119: the command line.
var usageEntries = []Entry{}
