//go:build !linux

package cli

func dumpable() bool { return false }
