package diagnostic

// D080-D099: the catalog and the owner's commands.
var catalogEntries = []Entry{}
