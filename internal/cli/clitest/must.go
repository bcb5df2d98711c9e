package clitest

// Must returns v, and panics where a test cannot go on.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
