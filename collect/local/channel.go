package local

import "math/big"

// A channel describes how a report scores each value: the score, from 0 to 1, has the mean hit for
// respondents who have the value, and miss for others.
type channel struct {
	hit, miss *big.Rat
	weight    int  // of a whole score in a counter
	binary    bool // a score is 0 or 1
}

// An overlapping kernel has public hash functions, over whose draw alone the miss is the
// channel's. Given them, that of another value lies between bounds for each value; nil if
// they are not known.
type overlapping interface {
	misses() (least, most []float64)
}

func plainChannel(hit, miss *big.Rat) channel {
	return channel{hit: hit, miss: miss, weight: 1, binary: true}
}

// variance is that of a raw share from one report, where the true share is f.
//
// A report is a hit with probability hit for respondents who have the value, and miss for others.
// Over random respondents its score has mean m = miss + (hit−miss)·f. That is q(1−q)/(p−q)² +
// f(1−p−q)/(p−q) for one respondent's draws alone (Wang, Blocki, Li and Jha 2017, Theorem 2).
func (c channel) variance(f float64) float64 {
	p, q := near(c.hit), near(c.miss)
	return q*(1-q)/((p-q)*(p-q)) + f*(1-p-q)/(p-q)
}
