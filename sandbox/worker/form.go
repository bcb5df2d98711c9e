package worker

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/sandbox"
)

// requestBytes of calls are sent at a time, and one call more.
const requestBytes = 1 << 20

// A call is sent as the number of its records and that of its bytes, 4 bytes each, and these bytes.
// An answer has for each call the number of its outputs, in 4 bytes, and for each output its value,
// a float64, and the place of its key among the job's, in 4 bytes. Numbers are little-endian.
const callHead, outputHead, outputBytes = 8, 4, 12

var (
	errCalls  = errors.New("these are no calls")
	errAnswer = errors.New("the answer is none to these calls")
)

func appendCall(to []byte, c sandbox.Written) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(c.Records))
	to = binary.LittleEndian.AppendUint32(to, uint32(len(c.Data)))
	return append(to, c.Data...)
}

func readCalls(data []byte) (calls []sandbox.Written, err error) {
	for len(data) > 0 {
		if len(data) < callHead {
			return nil, errCalls
		}
		records, size := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		if data = data[callHead:]; uint64(size) > uint64(len(data)) || records > math.MaxInt32 {
			return nil, errCalls
		}
		calls = append(calls, sandbox.Written{Records: int(records), Data: data[:size]})
		data = data[size:]
	}
	return calls, nil
}

// appendOutputs writes those of one call.
func appendOutputs(to []byte, keys []string, outputs []sandbox.Output) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(len(outputs)))
	for _, o := range outputs {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(o.Value))
		to = binary.LittleEndian.AppendUint32(to, uint32(max(0, slices.Index(keys, o.Key))))
	}
	return to
}

// most is how many bytes an answer to so many calls has at most.
func most(calls int, o sandbox.Options) int64 {
	return int64(calls) * (outputHead + outputBytes*int64(o.MaxOutputs))
}

// readOutputs reads an answer to so many calls, and refuses one that is none: what it holds could not
// have been made of calls, whatever the module does.
func readOutputs(data []byte, calls int, m *sandbox.Mapper) (all [][]sandbox.Output, err error) {
	o := m.Options()
	for range calls {
		if len(data) < outputHead {
			return nil, errAnswer
		}
		n := binary.LittleEndian.Uint32(data)
		if data = data[outputHead:]; uint64(n) > uint64(o.MaxOutputs) || uint64(n)*outputBytes > uint64(len(data)) {
			return nil, errAnswer
		}
		outputs := make([]sandbox.Output, n)
		for i := range outputs {
			outputs[i].Value = math.Float64frombits(binary.LittleEndian.Uint64(data)) + 0
			key := binary.LittleEndian.Uint32(data[8:])
			switch {
			case o.Keys != nil && uint64(key) < uint64(len(o.Keys)):
				outputs[i].Key = o.Keys[key]
			case o.Keys != nil || key != 0:
				return nil, errAnswer
			}
			data = data[outputBytes:]
		}
		if !m.Admits(outputs) {
			return nil, errAnswer
		}
		all = append(all, outputs)
	}
	if len(data) > 0 {
		return nil, errAnswer
	}
	return all, nil
}
