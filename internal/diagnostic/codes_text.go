package diagnostic

// D001-D009: the text of a statement and its syntax.
var textEntries = []Entry{}
