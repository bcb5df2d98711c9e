package pate

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/discreet-dp/discreet/learn/internal/container"
	"github.com/discreet-dp/discreet/learn/network"
)

// What readers of ensembles' files branch on.
var (
	ErrKind      = container.ErrKind      // the file is of another kind
	ErrNewer     = container.ErrNewer     // a later version wrote it
	ErrTruncated = container.ErrTruncated // its end is missing
	ErrCorrupted = container.ErrCorrupted // it was changed
)

const (
	fileKind    = "ensemble"
	fileVersion = 1
	warning     = "teachers are no private models: what each says shows the records that it was trained on; never publish this file"
)

// header is what stands before the weights, beginning with a warning that shows in any
// viewer.
type header struct {
	Private  string          `json:"PRIVATE"`
	Teachers int             `json:"teachers"`
	Network  network.Spec    `json:"network"`
	About    json.RawMessage `json:"about"`
}

// Write keeps an ensemble of networks in a file that its owner alone can read, all of
// it or nothing, with what the owner declares of it, as JSON.
//
// The file holds the teachers' weights, and neither the key of the assignment nor
// examples. It is private as the data are: no guarantee covers a teacher, and only what
// an Aggregator releases may be shown. Who reads it asks the same teachers again, and
// pays for every answer again.
func (e *Ensemble) Write(path string, about any) error {
	refuse := func(err error) error { return fmt.Errorf("write ensemble: %w", err) }
	if e.network == nil {
		return refuse(errors.New("its teachers are not of a Network"))
	}
	text, err := json.Marshal(about)
	if err != nil {
		return refuse(err)
	}
	var body []byte // for each teacher 0, or 1 and its weights
	for _, c := range e.teachers {
		if c == nil {
			body = append(body, 0)
			continue
		}
		body = append(body, 1)
		for _, x := range c.(*trained).net.Parameters() {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
		}
	}
	data, _, err := container.Encode(fileKind, fileVersion, header{warning, len(e.teachers), *e.network, text}, body)
	if err != nil {
		return refuse(err)
	}
	if err := container.Write(path, data, 0o600); err != nil {
		return refuse(err)
	}
	// Half a file that a killed process left is as private, and nobody knows of it.
	container.Sweep(filepath.Dir(path), regexp.MustCompile("^"+regexp.QuoteMeta(filepath.Base(path))+"$"), nil)
	return nil
}

// ReadEnsemble reads an ensemble's file, and what was declared of it. It refuses what is
// not whole: see ErrKind, ErrNewer, ErrTruncated and ErrCorrupted.
func ReadEnsemble(path string) (*Ensemble, json.RawMessage, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read ensemble: %w", err)
	}
	return decodeEnsemble(data)
}

func decodeEnsemble(data []byte) (*Ensemble, json.RawMessage, error) {
	var h header
	body, _, err := container.Decode(data, fileKind, fileVersion, &h)
	if err != nil {
		return nil, nil, err
	}
	corrupted := func(why string) (*Ensemble, json.RawMessage, error) {
		return nil, nil, fmt.Errorf("read ensemble: %w: %s", ErrCorrupted, why)
	}
	if h.Teachers < 1 || h.Teachers > MaxTeachers || len(body) < h.Teachers {
		return corrupted("it has no such number of teachers")
	}
	net, err := network.New(h.Network)
	if err != nil {
		return corrupted(err.Error())
	}
	if net.Spec().Loss != network.CrossEntropy || net.OutputSize() < 2 {
		return corrupted("its teachers do not vote for classes")
	}
	e := &Ensemble{network: &h.Network, classes: net.OutputSize(), workers: runtime.GOMAXPROCS(0), teachers: make([]Classifier, h.Teachers), failures: make([]error, h.Teachers)}
	for t := range e.teachers {
		if len(body) == 0 {
			return corrupted("teachers are missing")
		}
		learned := body[0]
		if body = body[1:]; learned == 0 {
			continue
		}
		if learned != 1 || len(body) < 4*len(net.Parameters()) {
			return corrupted("teachers are missing")
		}
		if net, err = network.New(h.Network); err != nil {
			return corrupted(err.Error())
		}
		to := net.Parameters()
		for i := range to {
			to[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
		}
		body, e.teachers[t] = body[4*len(to):], &trained{net}
	}
	if len(body) > 0 {
		return corrupted("there is more than its teachers")
	}
	return e, h.About, nil
}
