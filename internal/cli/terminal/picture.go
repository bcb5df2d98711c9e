package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plot"
)

// Here is the value of --plot that draws in the terminal.
const Here = "-"

// CheckPlot returns an error unless --plot is Here, or names an SVG file that can be drawn.
// It overwrites only drawings, and a private drawing never goes through a link.
func CheckPlot(path string, private bool) error {
	if path == "" || path == Here {
		return nil
	}
	refuse := func(why string) *diagnostic.Diagnostic {
		return diagnostic.New("D112", diagnostic.Span{}, "--plot %s %s", path, why)
	}
	if err := plot.CheckName(path); err != nil {
		return refuse("is not the name of an SVG file").
			Because("drawings are SVG, which every browser shows and converts").Try("a name that ends in .svg, or - to draw here")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return refuse("cannot be written: there is no such folder")
	}
	if info, err := os.Lstat(path); err == nil && private && !info.Mode().IsRegular() {
		return refuse("cannot be written: it is not a file of this one name").Try("another --plot")
	}
	if !Replaceable(path, "<?xml", "<svg") {
		return diagnostic.New("D112", diagnostic.Span{}, "%s exists, and is not a plot", path).
			Because("its content would be lost").Try("another --plot")
	}
	if err := custody.Probe(path); err != nil {
		return refuse(fmt.Sprintf("cannot be written: %v", cmp.Or(errors.Unwrap(err), err)))
	}
	return nil
}

// Draw draws into the file that --plot names, or on the terminal. A drawing of exact
// figures of private data is the owner's alone, even where others could read the old file.
func (t *Terminal) Draw(d plot.Drawing, path string, private bool) (err error) {
	if path == Here {
		if err := d.WriteText(t.Out, t.Width(100), 24); err != nil {
			return fmt.Errorf("draw: %w", err)
		}
		return nil
	}
	create := custody.Public
	if private {
		create = custody.Create
	}
	f, err := create(path)
	if err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	err = d.WriteSVG(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	t.Say("drew %s", path)
	return nil
}

// Replaceable reports whether a path is free, or holds a file that begins in one of these
// ways, so that a drawing never replaces the data or the ledger.
func Replaceable(path string, begins ...string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if n == 0 {
		return err == io.EOF
	}
	return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(string(head[:n]), begin) })
}
