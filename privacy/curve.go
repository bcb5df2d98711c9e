package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// RDP is any release whose Rényi divergence of order Orders[i], in both
// directions, is at most Eps[i]. Orders are above 1 and increase.
type RDP struct{ Orders, Eps []*big.Rat }

// GDP is any release that is at least as hard to tell apart as N(0,1) and N(Mu,1)
// (Dong, Roth and Su 2022).
type GDP struct{ Mu *big.Rat }

// Tree is one pass of tree aggregation (Dwork et al. 2010; Kairouz et al. 2021):
// Gaussian noise of standard deviation Sigma on every node of the binary tree over
// Leaves positions. A unit is in one leaf, with L2 sensitivity Sensitivity, and so
// in at most ⌈log2 Leaves⌉+1 nodes. Which leaf is public, and the others keep theirs
// when a unit is added or removed.
type Tree struct {
	Sigma, Sensitivity *big.Rat
	Leaves             int64
}

func (RDP) event()  {}
func (GDP) event()  {}
func (Tree) event() {}

func (e RDP) Validate() error {
	if len(e.Orders) == 0 || len(e.Orders) != len(e.Eps) {
		return errors.New("rdp: orders and values differ in number, or there are none")
	}
	one := big.NewRat(1, 1)
	for i, order := range e.Orders {
		switch {
		case order == nil || order.Cmp(one) <= 0:
			return errors.New("rdp: an order is missing or not above 1")
		case i > 0 && order.Cmp(e.Orders[i-1]) <= 0:
			return errors.New("rdp: orders do not increase")
		case e.Eps[i] == nil || e.Eps[i].Sign() <= 0:
			return fmt.Errorf("rdp: at order %s: %w", ratText(order), errZero)
		}
	}
	return nil
}

func (e GDP) Validate() error {
	if e.Mu == nil || e.Mu.Sign() <= 0 {
		return fmt.Errorf("gdp: %w", errZero)
	}
	return nil
}

func (e Tree) Validate() error {
	if !isCount(e.Leaves) {
		return errors.New("tree: want from 1 to 1e12 leaves")
	}
	return validate("tree", e.Sigma, e.Sensitivity)
}
