package leakage

import (
	"math"
)

// Shadows are models of known membership: In[k][i] says whether model k was trained on
// example i, and Phi[k][i] are its log-odds of that example.
type Shadows struct {
	In  [][]bool
	Phi [][]float64
}

func (s *Shadows) check(n int) error {
	if len(s.In) != len(s.Phi) || len(s.In) < 2 {
		return bad("%d shadow models with membership, %d with scores: want the same number, 2 or more", len(s.In), len(s.Phi))
	}
	for k := range s.In {
		if len(s.In[k]) != n || len(s.Phi[k]) != n {
			return bad("shadow %d knows %d and %d of %d examples", k, len(s.In[k]), len(s.Phi[k]), n)
		}
	}
	return nil
}

// few is up to how many shadows of a side the variance is fitted for all examples
// together: below, one example's own is noisier than what it tells (Carlini et al.
// 2022 find the same below 64 models, 32 a side).
const few = 32

// A side is the Gaussian fits of the models that were trained on an example, or not.
type side struct {
	mean, variance []float64
	known          []bool // there was a model to fit
}

// fit fits the log-odds of each example over the models where In is in.
func (s *Shadows) fit(in bool, n int) (side, error) {
	f := side{make([]float64, n), make([]float64, n), make([]bool, n)}
	var squares, freedom, total, count float64
	least := math.MaxInt
	for i := range n {
		sum, models := 0.0, 0
		for k := range s.In {
			if s.In[k][i] == in {
				sum += s.Phi[k][i]
				models++
			}
		}
		least = min(least, models)
		if models == 0 {
			continue
		}
		f.known[i], f.mean[i] = true, sum/float64(models)
		total, count = total+f.mean[i], count+1
		square := 0.0
		for k := range s.In {
			if s.In[k][i] == in {
				d := s.Phi[k][i] - f.mean[i]
				square += d * d
			}
		}
		if models > 1 {
			f.variance[i] = square / float64(models-1)
			squares, freedom = squares+square, freedom+float64(models-1)
		}
	}
	if freedom == 0 {
		return side{}, bad("no example has two shadow models on each side")
	}
	for i := range n {
		if !f.known[i] {
			f.mean[i] = total / count
		}
		if least < few {
			f.variance[i] = squares / freedom
		}
		f.variance[i] = max(f.variance[i], 1e-6) // all models may give the same score
	}
	return f, nil
}

// Online is LiRA with models that were trained on the example and models that were
// not: the logarithm of the ratio of the two fits at what the target says (Carlini et
// al. 2022, Algorithm 1).
func (s *Shadows) Online(phi []float64) ([]float64, error) {
	if err := s.check(len(phi)); err != nil {
		return nil, err
	}
	in, err := s.fit(true, len(phi))
	if err != nil {
		return nil, err
	}
	out, err := s.fit(false, len(phi))
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(phi))
	for i, x := range phi {
		a, b := x-in.mean[i], x-out.mean[i]
		scores[i] = b*b/(2*out.variance[i]) - a*a/(2*in.variance[i]) + math.Log(out.variance[i]/in.variance[i])/2
	}
	return scores, nil
}

// Offline is LiRA with models that never saw the example: how far above them the
// target is, in their standard deviations. It is one-sided, and its shadows can be
// trained before the examples are known.
func (s *Shadows) Offline(phi []float64) ([]float64, error) {
	if err := s.check(len(phi)); err != nil {
		return nil, err
	}
	out, err := s.fit(false, len(phi))
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(phi))
	for i, x := range phi {
		scores[i] = (x - out.mean[i]) / math.Sqrt(out.variance[i])
	}
	return scores, nil
}

// Calibrated is how much less the target loses on an example than models that never
// saw it: some examples are hard, or easy, for all (Watson et al. 2022).
func (s *Shadows) Calibrated(phi []float64) ([]float64, error) {
	if err := s.check(len(phi)); err != nil {
		return nil, err
	}
	scores := make([]float64, len(phi))
	for i, x := range phi {
		sum, models := 0.0, 0
		for k := range s.In {
			if !s.In[k][i] {
				sum += lossOf(s.Phi[k][i])
				models++
			}
		}
		if models > 0 {
			scores[i] = sum/float64(models) - lossOf(x)
		} else {
			scores[i] = -lossOf(x)
		}
	}
	return scores, nil
}
