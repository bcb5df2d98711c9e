//go:build !linux

package main

func dumpable() bool { return false }
