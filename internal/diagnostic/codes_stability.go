package diagnostic

// D040-D069: what would break the guarantee.
var stabilityEntries = []Entry{}
