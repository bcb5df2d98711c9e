package catalog

import (
	"path/filepath"
	"regexp"
	"strconv"
)

// Resources are what the engine may use. They are the owner's to say: whoever could make
// them small would decide where private data make an answer fail. Zero values leave it
// to the engine.
type Resources struct {
	Memory  string // a size such as "4GB" or "512MiB"
	Threads int
	Temp    string // the folder for what does not fit in memory; absolute, or relative to the working directory

	// Copies is the folder where copies of text files outlive the process that made them, likewise,
	// and CopiesSize how much they may take. Without the folder none outlives its process.
	Copies, CopiesSize string
}

var size = regexp.MustCompile(`^([0-9]+)(\.[0-9]+)? ?([KMGT]i?)?B$`)

const maxThreads = 4096

func (l *loader) resources(n *node) {
	l.keys(n, "memory", "threads", "temp", "copies", "copies_size")
	r := &l.catalog.Resources
	r.Memory = l.bytes(n.field("memory"), "a size of memory", `write it as "4GB" or "512MiB"`)
	r.CopiesSize = l.bytes(n.field("copies_size"), "a size of files", `write it as "10GB"`)
	if x := n.field("copies_size"); x != nil && n.field("copies") == nil {
		l.refuse("D084", x.key, "copies_size bounds copies that are not kept").Because("copies, the folder for them, is not given").
			Try(`write copies = "FOLDER" as well, or leave both out`)
	}
	if x := n.field("threads"); x != nil {
		if i, ok := x.data.(int64); !ok {
			l.wrong(x, "a whole number")
		} else if i < 1 || i > maxThreads {
			l.refuse("D084", x.value, "threads must lie between 1 and %s", strconv.Itoa(maxThreads))
		} else {
			r.Threads = int(i)
		}
	}
	r.Temp, r.Copies = l.folder(n.field("temp")), l.folder(n.field("copies"))
}

// bytes reads a size.
func (l *loader) bytes(n *node, what, hint string) string {
	text, ok := l.str(n)
	if !ok {
		return ""
	}
	if m := size.FindStringSubmatch(text); m == nil || zero(m[1]) && zero(m[2]) {
		l.refuse("D084", n.value, "%q is not %s", text, what).Try("%s", hint)
	}
	return text
}

// folder reads the name of a folder, relative to the catalog's.
func (l *loader) folder(n *node) string {
	text, ok := l.str(n)
	if !ok {
		return ""
	}
	if why := BadName(text); why != "" {
		l.refuse("D084", n.value, "%q cannot be a folder: it %s", text, why)
	}
	if text = filepath.Clean(text); !filepath.IsAbs(text) {
		text = filepath.Join(filepath.Dir(l.catalog.Path), text)
	}
	return text
}

// zero reports whether the digits of a number, if any, are all zero.
func zero(digits string) bool { return regexp.MustCompile(`^[.0]*$`).MatchString(digits) }
