package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// Exponential is a choice by the exponential mechanism: the log-ratio of any
// outcome's probabilities on two neighbouring databases stays within one interval
// of length Epsilon, which is stronger than Epsilon-DP (bounded range: Durfee and
// Rogers 2019).
type Exponential struct{ Epsilon Epsilon }

// PermuteAndFlip is a choice by the mechanism of McKenna and Sheldon 2020. It is
// Epsilon-DP, but has no bounded range.
type PermuteAndFlip struct{ Epsilon Epsilon }

// NoisyMax is a choice of the largest of noisy scores; it is Epsilon-DP.
type NoisyMax struct{ Epsilon Epsilon }

// SparseVector is a whole run of above-threshold, as many queries as it reads; it
// is Epsilon-DP.
type SparseVector struct{ Epsilon Epsilon }

// RandomizedResponse tells the true one of K answers with probability P, and each
// other with (1-P)/(K-1). Every unit answers, so it does not speak of AddRemove. Under
// ReplaceSpecial the special record gives each answer with probability 1/K.
type RandomizedResponse struct {
	P *big.Rat
	K int
}

func (Exponential) event()        {}
func (PermuteAndFlip) event()     {}
func (NoisyMax) event()           {}
func (SparseVector) event()       {}
func (RandomizedResponse) event() {}

func (e Exponential) Validate() error    { return validateEpsilon("exponential", e.Epsilon) }
func (e PermuteAndFlip) Validate() error { return validateEpsilon("permute_and_flip", e.Epsilon) }
func (e NoisyMax) Validate() error       { return validateEpsilon("noisy_max", e.Epsilon) }
func (e SparseVector) Validate() error   { return validateEpsilon("sparse_vector", e.Epsilon) }

func (e RandomizedResponse) Validate() error {
	switch {
	case e.K < 2 || e.K > MaxCount:
		return errors.New("randomized_response: want from 2 to 1e12 answers")
	case e.P == nil || e.P.Sign() <= 0 || e.P.Cmp(big.NewRat(1, 1)) >= 0:
		return errors.New("randomized_response: the probability of the true answer is not between 0 and 1")
	case new(big.Rat).Mul(e.P, big.NewRat(int64(e.K), 1)).Cmp(big.NewRat(1, 1)) == 0:
		return fmt.Errorf("randomized_response: every answer is as likely as every other: it %w", errZero)
	}
	return nil
}

func validateEpsilon(name string, epsilon Epsilon) error {
	if epsilon.Sign() <= 0 {
		return fmt.Errorf("%s: %w", name, errZero)
	}
	return nil
}
