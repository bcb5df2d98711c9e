package instrument

import (
	"maps"
	"slices"
	"strings"
)

const wasi = "wasi_snapshot_preview1"

// A stub is a function that takes the place of an imported one. It is code of
// the module itself, so that a mapper has no way out of its memory at all; and
// its answer is a constant of the arguments.
type stub struct {
	signature
	locals int // of type i32, beside the parameters
	code   []byte
}

// The answers of the stubs.
const (
	success = 0
	badFile = 8 // errno badf: there are no files
)

// stubNames are those that a module may import, for messages.
func stubNames() string { return strings.Join(slices.Sorted(maps.Keys(stubs)), " ") }

// function makes a stub that returns an errno; its parameters are written i for i32
// and I for i64.
func function(params string, locals int, code ...byte) stub {
	s := stub{locals: locals, code: append(slices.Clip(code), opEnd)}
	for _, p := range params {
		s.params = append(s.params, map[rune]byte{'i': typeI32, 'I': typeI64}[p])
	}
	s.results = []byte{typeI32}
	return s
}

// answer makes a stub that does nothing.
func answer(params string, errno byte) stub { return function(params, 0, opI32Const, errno) }

var stubs = map[string]stub{
	// No arguments and no environment: zero of them, in zero bytes.
	"args_get":          answer("ii", success),
	"args_sizes_get":    function("ii", 0, sizes...),
	"environ_get":       answer("ii", success),
	"environ_sizes_get": function("ii", 0, sizes...),

	// It is always one nanosecond past the epoch: Go's runtime refuses a clock at 0.
	"clock_res_get":  function("ii", 0, opLocalGet, 1, opI64Const, 1, opI64Store, 0, 0, opI32Const, success),
	"clock_time_get": function("iIi", 0, opLocalGet, 2, opI64Const, 1, opI64Store, 0, 0, opI32Const, success),

	// Randomness is zeros.
	"random_get": function("ii", 0, opLocalGet, 0, opI32Const, 0, opLocalGet, 1, opMisc, miscMemoryFill, 0, opI32Const, success),

	// What is written vanishes: the sum of the lengths was written. Parameters: 0
	// file, 1 address of (address, length) pairs, 2 their number, 3 address of the
	// answer; local 4 is the sum.
	"fd_write": function("iiii", 1,
		opBlock, blockVoid, opLoop, blockVoid,
		opLocalGet, 2, opI32Eqz, opBrIf, 1,
		opLocalGet, 4, opLocalGet, 1, opI32Load, 0, 4, opI32Add, opLocalSet, 4,
		opLocalGet, 1, opI32Const, 8, opI32Add, opLocalSet, 1,
		opLocalGet, 2, opI32Const, 1, opI32Sub, opLocalSet, 2,
		opBr, 0, opEnd, opEnd,
		opLocalGet, 3, opLocalGet, 4, opI32Store, 0, 0, opI32Const, success),

	// Nothing ever happens, so no event is there: who waits runs out of fuel.
	"poll_oneoff": function("iiii", 0, opLocalGet, 3, opI32Const, 0, opI32Store, 0, 0, opI32Const, success),
	"sched_yield": answer("", success),

	// To exit is to fail.
	"proc_exit":  {signature: signature{params: []byte{typeI32}}, code: []byte{opUnreachable, opEnd}},
	"proc_raise": function("i", 0, opUnreachable, opI32Const, success),

	// There are no files and no sockets.
	"fd_advise": answer("iIIi", badFile), "fd_allocate": answer("iII", badFile), "fd_close": answer("i", badFile),
	"fd_datasync": answer("i", badFile), "fd_fdstat_get": answer("ii", badFile), "fd_fdstat_set_flags": answer("ii", badFile),
	"fd_fdstat_set_rights": answer("iII", badFile), "fd_filestat_get": answer("ii", badFile),
	"fd_filestat_set_size": answer("iI", badFile), "fd_filestat_set_times": answer("iIIi", badFile),
	"fd_pread": answer("iiiIi", badFile), "fd_prestat_get": answer("ii", badFile), "fd_prestat_dir_name": answer("iii", badFile),
	"fd_pwrite": answer("iiiIi", badFile), "fd_read": answer("iiii", badFile), "fd_readdir": answer("iiiIi", badFile),
	"fd_renumber": answer("ii", badFile), "fd_seek": answer("iIii", badFile), "fd_sync": answer("i", badFile),
	"fd_tell": answer("ii", badFile), "path_create_directory": answer("iii", badFile), "path_filestat_get": answer("iiiii", badFile),
	"path_filestat_set_times": answer("iiiiIIi", badFile), "path_link": answer("iiiiiii", badFile),
	"path_open": answer("iiiiiIIii", badFile), "path_readlink": answer("iiiiii", badFile), "path_remove_directory": answer("iii", badFile),
	"path_rename": answer("iiiiii", badFile), "path_symlink": answer("iiiii", badFile), "path_unlink_file": answer("iii", badFile),
	"sock_accept": answer("iii", badFile), "sock_recv": answer("iiiiii", badFile), "sock_send": answer("iiiii", badFile),
	"sock_shutdown": answer("ii", badFile),
}

// sizes stores 0 at both parameters.
var sizes = []byte{
	opLocalGet, 0, opI32Const, 0, opI32Store, 0, 0,
	opLocalGet, 1, opI32Const, 0, opI32Store, 0, 0,
	opI32Const, success,
}

// body returns the stub as the body of a function.
func (s stub) body() []byte {
	if s.locals == 0 {
		return append([]byte{0}, s.code...)
	}
	return append([]byte{1, byte(s.locals), typeI32}, s.code...)
}
