package gaussian

import "golang.org/x/sys/cpu"

//go:noescape
func place4(n int, v *float32, noise *int32, inverse, step float64)

// placeKernel does the first numbers, and says how many these are.
func placeKernel(v []float32, noise []int32, inverse, step float64) (done int) {
	done = len(v) &^ 3
	if done == 0 || !cpu.X86.HasAVX2 {
		return 0
	}
	place4(done, &v[0], &noise[0], inverse, step)
	return done
}
