package pld

import "math"

// place chooses the lattice points that cells end at. Where the tilted law is thin
// cells may be wide: to add Σ mass·width² of variance with the fewest cells, widths
// go as the cube root of 1/density. Widths of 1 are kept where most of the law is,
// so that wide cells add no more than a third to the variance.
func place(f profile, g grid, count float64) []int64 {
	first, last := 0, len(f)
	logLow, _, _ := f.cumulant(g.theta + g.tiltLow)
	least := math.Log(1e-13 / count)
	for tail := math.Inf(-1); first < last-1; first++ {
		// What is below goes up to the first node. It must be little there under
		// the tilt, and under the further one that bounds what is below the window.
		tail = sum(tail, f[first].logP)
		x := f[first].hi
		if max(g.theta*x-g.logM, (g.theta+g.tiltLow)*x-logLow) > least-tail {
			break
		}
	}
	f = f[first:]
	mass := make([]float64, len(f)) // tilted
	root := make([]float64, len(f)) // cube roots of the densities
	crowded := 0.0                  // the root of the density above which all cells have the same width
	for i := range f {
		mass[i] = math.Exp(f[i].logP + g.theta*f[i].loss - g.logM)
		root[i] = math.Cbrt(mass[i] / max(f[i].hi-f[i].lo, 1e-300))
		crowded = max(crowded, root[i])
	}
	for {
		g.meter.Spend(len(f))
		extra, thin := 0.0, 0.0
		for i := range f {
			if root[i] < crowded {
				extra += (f[i].hi - f[i].lo) * root[i]
				thin += mass[i]
			}
		}
		if extra*crowded*crowded <= 0.3 && thin < 0.1*g.step*(1+g.theta) || crowded < 1e-100 {
			break
		}
		crowded *= 0.8
	}
	i := g.below(f[0].lo)
	nodes := []int64{i}
	for c := range f {
		width := int64(1)
		if root[c] < crowded {
			wide := crowded / max(root[c], 1e-100)
			wide = min(wide, 0.5*(f[c].hi-f[c].lo)/g.step, 0.25/(g.step*(1+g.theta)))
			width = max(1, int64(wide))
		}
		for g.at(i) < f[c].hi {
			i += width
			nodes = append(nodes, i)
			if len(nodes) > maxNodes {
				return nodes
			}
		}
	}
	return nodes
}

// maxNodes is the most cells that a pair is cut into: 60 MiB with all that goes
// with them.
const maxNodes = 1 << 19
