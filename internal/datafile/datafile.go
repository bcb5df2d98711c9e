// Package datafile opens the files that hold data.
//
// It guarantees that what it opens is a regular file, found out before anything
// waits for it: a FIFO nobody writes to, a terminal or a device would hold up
// whoever opens it, or act. And that it returns when its context ends, also where a
// file system does not answer.
//
// A file is known by its device and number, as os.SameFile compares them: never by
// its name, of which links, folders and mounts make many.
package datafile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotFile is returned for what is no regular file.
var ErrNotFile = errors.New("it is not a file")

// Stat returns what is known of a file, by way of all links.
func Stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// Open opens a file for reading.
func Open(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	done := make(chan opened, 1)
	go func() {
		f, err := open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		go func() { // the file system may answer yet
			if o := <-done; o.file != nil {
				o.file.Close()
			}
		}()
		return nil, fmt.Errorf("open %s: %w", path, ctx.Err())
	}
}

// open looks before it opens, since opening a device may act, and again at what it
// has opened, since another file may have come in its place. Without O_NONBLOCK a
// FIFO that came in between would hold it up.
func open(path string) (*os.File, error) {
	if _, err := Stat(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
