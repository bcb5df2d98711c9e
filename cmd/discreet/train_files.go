package main

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// writable refuses to train what could not be written.
func (v *training) writable() error {
	for i, path := range []string{v.out, v.checkpoint, v.plot} {
		if i > 0 && path == v.out {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be the model and something else", path)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: there is no such folder", path)
		}
		if info, err := os.Stat(path); path != "" && err == nil && !info.Mode().IsRegular() {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: it is no file", path)
		}
		if path == "" {
			continue
		}
		probe, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*") // as the file itself will be made
		if err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
		if err != nil {
			return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: %v", path, cmp.Or(errors.Unwrap(err), err))
		}
	}
	if !replaceable(v.out, "discreet model ") {
		return diagnostic.New("D112", diagnostic.Span{}, "%s exists, and is no model", v.out).
			Because("what is there would be lost").Try("another --out")
	}
	if err := replacesPlot(v.plot); err != nil {
		return err
	}
	if v.checkpoint == "" {
		return nil
	}
	if _, err := os.Lstat(v.checkpoint); err == nil {
		return diagnostic.New("D164", diagnostic.Span{}, "%s exists already", v.checkpoint).Try("--resume %s goes on with it", v.checkpoint)
	}
	if v.table == "" && v.payer == "" || v.public {
		return diagnostic.New("D164", diagnostic.Span{}, "a checkpoint without a ledger").
			Because("that no checkpoint is gone on from twice at one price is what the ledger knows").Try("--domain DOMAIN")
	}
	return nil
}

// replaceable reports whether a file that begins in one of these ways may take the place
// of what is at path: nothing, or its like, but never the data or the ledger.
func replaceable(path string, begins ...string) bool {
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

// replacesPlot refuses to draw over what is no drawing.
func replacesPlot(path string) error {
	if path == "" || replaceable(path, "<?xml", "<svg", "\x89PNG") {
		return nil
	}
	return diagnostic.New("D112", diagnostic.Span{}, "%s exists, and is no plot", path).
		Because("what is there would be lost").Try("another --plot")
}
