package diagnostic

// D010-D039: names and types.
var bindEntries = []Entry{}
