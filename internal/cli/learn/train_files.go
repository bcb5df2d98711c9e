package learn

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// writable refuses a training whose files could not be written.
func (v *training) writable() error {
	for i, path := range []string{v.out, v.checkpoint, v.plot} {
		if i == 2 && path == terminal.Here {
			continue
		}
		if i > 0 && path == v.out {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be the model and something else", path)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: there is no such folder", path)
		}
		if info, err := os.Stat(path); path != "" && err == nil && !info.Mode().IsRegular() {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: it is not a file", path)
		}
		if path == "" {
			continue
		}
		if err := custody.Probe(path); err != nil {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: %v", path, cmp.Or(errors.Unwrap(err), err))
		}
	}
	if !terminal.Replaceable(v.out, "discreet model ") {
		return diagnostic.New("D112", diagnostic.Span{}, "%s exists, and is not a model", v.out).
			Because("its content would be lost").Try("another --out")
	}
	if err := terminal.CheckPlot(v.plot, !v.Public); err != nil {
		return err
	}
	if v.checkpoint == "" {
		return nil
	}
	if _, err := os.Lstat(v.checkpoint); err == nil {
		return diagnostic.New("D164", diagnostic.Span{}, "%s exists already", v.checkpoint).Try("--resume %s goes on with it", v.checkpoint)
	}
	if v.Table == "" && v.payer == "" || v.Public {
		return diagnostic.New("D164", diagnostic.Span{}, "a checkpoint without a ledger").
			Because("only a ledger can tell whether a checkpoint was resumed before, at the same price").Try("--domain DOMAIN")
	}
	return nil
}
