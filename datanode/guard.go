package datanode

// guarded runs a function to its end, or until it panics or ends its goroutine
// (runtime.Goexit, which recover does not see): either may depend on private data.
func guarded(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	<-done
}
