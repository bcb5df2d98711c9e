package prove

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A Certificate is a proof as data. Nothing in it is believed: Check makes the
// obligations anew from the function and the claim.
type Certificate struct {
	Version int `json:"version"`
	// Program is the hash of the function and of its claim.
	Program string `json:"program"`
	// Units are the inputs of which distances are counted as multiples, see scaling.
	Units        []string      `json:"units,omitempty"`
	Orientations []Orientation `json:"orientations"`
	// Digest is the hash of all of the above, against accidents.
	Digest string `json:"digest"`
}

// An Orientation is the proof that P[M(D) ∈ E] <= e^cost P[M(D') ∈ E] for
// neighbours in one order.
type Orientation struct {
	// Direction is "forward" if D' - D is what the adjacency says, "backward" if
	// D - D' is.
	Direction string `json:"direction"`
	// Part of the claimed cost is enough; empty for all of it.
	Part       string      `json:"part,omitempty"`
	Alignment  []Shift     `json:"alignment"`
	Invariants []Invariant `json:"invariants,omitempty"`
}

// A Shift is how far a draw's sample moves, as a Go expression of the contract's
// directives.
type Shift struct {
	// Draw is its place among the function's draws, from 0.
	Draw int `json:"draw"`
	// Name is that of the variable that is drawn, Line its place.
	Name string `json:"name"`
	Expr string `json:"expr"`
}

// An Invariant holds at the head of a loop: SMT-LIB over the variables, diff(x) for
// the distance of x, and cost.
type Invariant struct {
	// Loop is its place among the function's loops, from 0.
	Loop    int    `json:"loop"`
	Formula string `json:"formula"`
}

const certificateVersion = 1

// What is wrong with certificates.
var (
	// ErrCertificate is of one that proves nothing.
	ErrCertificate = errors.New("the certificate is no proof")
	// ErrStale is of one of another function or claim.
	ErrStale = errors.New("the certificate is of another function or claim")
)

// Hash is that of the function and its claim in certificates.
func Hash(f *p.Function, c *claim.Claim) string {
	h := sha256.Sum256([]byte(p.Print(f) + "\x00" + c.Text))
	return hex.EncodeToString(h[:])
}

func newCertificate(f *p.Function, c *claim.Claim, units []string, os []Orientation) *Certificate {
	cert := &Certificate{Version: certificateVersion, Program: Hash(f, c), Units: units, Orientations: os}
	cert.Digest = cert.digest()
	return cert
}

func (c *Certificate) digest() string {
	d := *c
	d.Digest = ""
	text, err := json.Marshal(d)
	if err != nil { // of plain data there is none
		return ""
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

// Encode is the certificate as JSON, with its digest.
func (c *Certificate) Encode() ([]byte, error) {
	d := *c
	d.Digest = c.digest()
	return json.Marshal(d)
}

// Decode reads a certificate, strictly.
func Decode(text []byte) (*Certificate, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	c := &Certificate{}
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("decode certificate: %w: %w", ErrCertificate, err)
	}
	if d.More() {
		return nil, fmt.Errorf("decode certificate: %w: text after its end", ErrCertificate)
	}
	if c.Version != certificateVersion {
		return nil, fmt.Errorf("decode certificate: %w: version %d", ErrCertificate, c.Version)
	}
	if c.Digest != c.digest() {
		return nil, fmt.Errorf("decode certificate: %w: its digest is of something else", ErrCertificate)
	}
	return c, nil
}

// orientation writes a proof down.
func (m *machine) orientation(inv invariants) (*Orientation, error) {
	o := &Orientation{Direction: direction(m.swapped)}
	if m.goal.Cmp(rational(1)) < 0 {
		o.Part = m.goal.RatString()
	}
	for i, d := range m.draws {
		if x := m.align[d]; x != nil {
			written, err := m.in.written(x, i)
			if err != nil {
				return nil, err
			}
			o.Alignment = append(o.Alignment, Shift{i, d.To.Name, written.String()})
		}
	}
	for i, l := range m.loops {
		for _, f := range inv[l.Name] {
			text, err := f.SMT(linear.Bool)
			if err != nil {
				return nil, err
			}
			o.Invariants = append(o.Invariants, Invariant{i, text})
		}
	}
	return o, nil
}
