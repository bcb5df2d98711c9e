package datanode

// guarded runs a function until it returns, panics or ends its goroutine (runtime.Goexit,
// which recover does not see): which of these happens may depend on private data.
func guarded(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	<-done
}
