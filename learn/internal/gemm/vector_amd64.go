package gemm

//go:noescape
func larger(n int, tag uint32, x, best *float32, from *uint32)

//go:noescape
func addWhere(n int, tag uint32, from *uint32, x, y *float32)

//go:noescape
func rectify(n int, x, y *float32)

//go:noescape
func rectifyBack(n int, y, dy, dx *float32)

//go:noescape
func shrink(n int, f float32, v *float32)

//go:noescape
func squash(n int, c *float32, x, y *float32)

//go:noescape
func copyRows(rows, n int, x *float32, stride int, y *float32)

// Each of the functions below does the first numbers of a vector and says how many
// these are; the caller, who has checked the lengths, does the rest.

func dotKernel(a, b []float32) (sum float64, done int) {
	done = len(a) &^ 15
	if done == 0 {
		return 0, 0
	}
	return dot(done, &a[0], &b[0]), done
}

func axpyKernel(alpha float32, x, y []float32) (done int) {
	done = len(x) &^ 15
	if done == 0 {
		return 0
	}
	axpy(done, alpha, &x[0], &y[0])
	return done
}

func largerKernel(tag uint32, x, best []float32, from []uint32) (done int) {
	done = len(x) &^ 7
	if done == 0 {
		return 0
	}
	larger(done, tag, &x[0], &best[0], &from[0])
	return done
}

func addWhereKernel(tag uint32, from []uint32, x, y []float32) (done int) {
	done = len(x) &^ 7
	if done == 0 {
		return 0
	}
	addWhere(done, tag, &from[0], &x[0], &y[0])
	return done
}

func rectifyKernel(x, y []float32) (done int) {
	done = len(x) &^ 7
	if done == 0 {
		return 0
	}
	rectify(done, &x[0], &y[0])
	return done
}

func rectifyBackKernel(y, dy, dx []float32) (done int) {
	done = len(y) &^ 7
	if done == 0 {
		return 0
	}
	rectifyBack(done, &y[0], &dy[0], &dx[0])
	return done
}

func shrinkKernel(f float32, v []float32) (done int) {
	done = len(v) &^ 7
	if done == 0 {
		return 0
	}
	shrink(done, f, &v[0])
	return done
}

// squashKernel does all numbers or none: the last ones by the kernel too, so that a
// number's result does not depend on its place.
func squashKernel(c *[squashRows][8]float32, x, y []float32) (done int) {
	if done = len(x) &^ 7; done > 0 {
		squash(done, &c[0][0], &x[0], &y[0])
	}
	if done < len(x) {
		var last [8]float32
		copy(last[:], x[done:])
		squash(8, &c[0][0], &last[0], &last[0])
		copy(y[done:len(x)], last[:])
	}
	return len(x)
}

// copyRowsKernel does all rows or none.
func copyRowsKernel(rows, n int, x []float32, stride int, y []float32) bool {
	if n&7 != 0 {
		return false
	}
	copyRows(rows, n, &x[0], stride, &y[0])
	return true
}
