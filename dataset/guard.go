package dataset

// each calls f with 0 to n-1, and failed with those on which f panicked or ended its
// goroutine. What f does after its last call of a user's function must not panic.
//
// A loop of its own goroutine needs no deferred call for every record: it ends with
// the first failure, and another one takes over behind it. runtime.Goexit, which
// recover does not see, ends no more than the loop.
func each(n int, f func(i int), failed func(i int)) {
	for next := 0; next < n; next++ {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			for next < n {
				f(next)
				next++
			}
		}()
		<-done
		if next < n && failed != nil {
			failed(next)
		}
	}
}
