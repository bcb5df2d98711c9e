//go:build !linux

package command

// lentRights is known on Linux alone; elsewhere the user and group IDs must do.
func lentRights() bool { return false }

func lowLimit() string { return "" }
