package leakage

import "math"

// exposure is how many bits of guessing a model spares who looks for a canary among
// random candidates (Carlini et al. 2019): log2|R| − log2 rank, where R are the
// candidates that were not planted, by their perplexity, and rank counts those that are
// no more perplexing than the canary, and it. More than log2|R| it cannot say.
func exposure(canary float64, references []float64) (float64, error) {
	if len(references) == 0 || math.IsNaN(canary) {
		return 0, bad("exposure of %v among %d references", canary, len(references))
	}
	rank := 1
	for _, r := range references {
		if math.IsNaN(r) {
			return 0, bad("a reference that is no number")
		}
		if r <= canary {
			rank++
		}
	}
	return math.Log2(float64(len(references))) - math.Log2(float64(rank)), nil
}

// exposure is the same where the canary is likelier than every reference: −log2 of the
// probability that a candidate is no more perplexing, by the law that was fitted to the
// references. It extrapolates, and is no better than the fit in its tail.
func (s skewNormal) exposure(canary float64) float64 { return -s.logCDF(canary) / math.Ln2 }

// An ExposureReport is what a model shows of one canary.
type ExposureReport struct {
	Canary      string  `json:"canary,omitempty"`
	Repetitions int     `json:"repetitions"` // how often it was planted
	Perplexity  float64 `json:"perplexity"`  // log2, of the canary
	References  int     `json:"references"`
	Rank        float64 `json:"rank"`                   // exposure by rank
	Most        float64 `json:"most"`                   // that rank can show: log2 of References
	Extrapolate float64 `json:"extrapolated,omitempty"` // by the fit, where there is one
	Extracted   bool    `json:"extracted"`              // the model completes it when it is asked
}

// MeasureExposure holds a canary's perplexity against those of references.
func MeasureExposure(canary float64, references []float64) (ExposureReport, error) {
	rank, err := exposure(canary, references)
	if err != nil {
		return ExposureReport{}, err
	}
	r := ExposureReport{Perplexity: canary, References: len(references), Rank: rank, Most: math.Log2(float64(len(references)))}
	if fit, err := fitSkewNormal(references); err == nil {
		r.Extrapolate = fit.exposure(canary)
	}
	return r, nil
}
