package diagnostic

// D100-D109: the engine and its resources.
var engineEntries = []Entry{}
