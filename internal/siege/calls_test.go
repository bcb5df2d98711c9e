//go:build cgo && linux

package siege_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A watch stops a process before each of its system calls that reads or writes a file or a
// socket, as a debugger does. Nothing that the process does reaches anybody but by such calls,
// so a kill before each of them is a kill at every instant that can be told apart; what it
// writes into mapped memory alone (the index of the ledger's log) is left to random kills.
//
// It is a process of its own: what Go's os.Process waits for would be stolen from it.
type watch struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// A call is what was about to be done, and to what: "fsync discreet.ledger-wal".
type call string

// watched are the calls that are counted, by their number.
var watched = map[uint64]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "write", unix.SYS_WRITEV: "write", unix.SYS_SENDTO: "write", unix.SYS_SENDMSG: "write",
	unix.SYS_READ: "read", unix.SYS_PREAD64: "read", unix.SYS_RECVFROM: "read",
	unix.SYS_FSYNC: "sync", unix.SYS_FDATASYNC: "sync", unix.SYS_FTRUNCATE: "cut",
}

// info is struct ptrace_syscall_info, of an entry.
type info struct {
	op      uint8
	_       [7]byte
	ip, sp  uint64
	number  uint64
	args    [6]uint64
	_spare  [3]uint64
	_spare2 uint64
}

const (
	getSyscallInfo = 0x420e
	entry          = 1
	stopEvent      = 128 // PTRACE_EVENT_STOP
	listen         = 0x4208
)

// What a watch does before the n-th call of a kind.
const (
	kills = "kill"
	holds = "hold" // the thread that makes the call; the others go on
)

// watchCalls watches a server and does something before the n-th call of a kind, or never if n
// is 0.
func watchCalls(t testing.TB, v *server, does string, kind call, n int) *watch {
	t.Helper()
	w := &watch{cmd: exec.Command("watch", strconv.Itoa(v.PID), does, string(kind), strconv.Itoa(n))}
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		w.in, err = w.cmd.StdinPipe()
	}
	if err == nil {
		w.cmd.Stderr = os.Stderr
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if w.out = bufio.NewScanner(out); !w.out.Scan() || w.out.Text() != "ready" {
		_ = w.cmd.Wait()
		t.Skipf("skip: no process may be traced here: %s", w.out.Text())
	}
	return w
}

// held waits until the server is held.
func (w *watch) held() bool { return w.out.Scan() && w.out.Text() == "held" }

// leave lets the server go on alone, held or not.
func (w *watch) leave(t testing.TB) {
	t.Helper()
	if err := w.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// seen returns the calls that were made, once the server has ended.
func (w *watch) seen(t testing.TB) (all []call) {
	t.Helper()
	for w.out.Scan() {
		all = append(all, call(w.out.Text()))
	}
	if err := w.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

// watchProcess is the command of a watch. It ends with the process that it watches, or
// with its input. With "start" in the place of a process it starts the one that follows, whose
// output goes to standard error, and ends as that one did.
func watchProcess() {
	runtime.LockOSThread()
	n, err := strconv.Atoi(os.Args[4])
	t := &tracer{does: os.Args[2], kind: call(os.Args[3]), n: n, threads: map[int]bool{}}
	switch {
	case err != nil:
	case os.Args[1] == "start":
		err = t.start(os.Args[5:])
	default:
		if t.pid, err = strconv.Atoi(os.Args[1]); err == nil {
			err = t.seize()
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	if t.does == holds {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed
			os.Exit(0)                           // and what was traced goes on
		}()
	}
	t.run()
	for _, c := range t.seen {
		fmt.Println(c)
	}
	if os.Args[1] == "start" && t.ended != 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

type tracer struct {
	pid     int
	does    string
	kind    call
	n       int
	threads map[int]bool
	seen    []call
	ended   unix.WaitStatus // of the process
}

func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); e != 0 {
		return e
	}
	return nil
}

// seize begins to trace all threads; they go on when they have been stopped once.
func (t *tracer) seize() error {
	for {
		before := len(t.threads)
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.pid))
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil {
				return err
			}
			if t.threads[tid] {
				continue
			}
			if err := ptrace(unix.PTRACE_SEIZE, tid, 0, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE); err != nil {
				if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) && before > 0 { // it has ended, or came by a clone that is traced
					continue
				}
				return err
			}
			t.threads[tid] = true
			if err := ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
		if len(t.threads) == before {
			return nil
		}
	}
}

// start starts a process that is traced from its first instruction.
func (t *tracer) start(args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	p, err := os.StartProcess(path, args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stderr, os.Stderr}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return err
	}
	t.pid = p.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.pid, &status, unix.WALL, nil); err != nil {
		return err
	}
	t.threads[t.pid] = true
	if err := unix.PtraceSetOptions(t.pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		return err
	}
	return ptrace(unix.PTRACE_SYSCALL, t.pid, 0, 0)
}

// run lets the process go from stop to stop until no thread is left.
func (t *tracer) run() {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return // none is left
		}
		if !status.Stopped() {
			if tid == t.pid {
				t.ended = status
			}
			continue
		}
		begins := !t.threads[tid]
		t.threads[tid] = true
		signal, next := uintptr(0), unix.PTRACE_SYSCALL
		switch s, event := status.StopSignal(), int(status)>>16; {
		case s == syscall.SIGTRAP|0x80:
			if t.look(tid) {
				continue // it is held
			}
		case event == stopEvent && s != syscall.SIGTRAP:
			next = listen // the whole process is stopped by a signal
		case event != 0 || begins && s == syscall.SIGSTOP:
		default:
			signal = uintptr(s)
		}
		_ = ptrace(next, tid, 0, signal) // it fails where the thread was killed
	}
}

// look counts a call that is about to be made, and reports whether it is not to be made yet.
func (t *tracer) look(tid int) (held bool) {
	var i info
	if err := ptrace(getSyscallInfo, tid, unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i))); err != nil || i.op != entry {
		return false
	}
	verb, ok := watched[i.number]
	if !ok {
		return false
	}
	what := t.object(int(int32(i.args[0])))
	if what == "" {
		return false
	}
	c := call(verb + " " + what)
	t.seen = append(t.seen, c)
	if c != t.kind {
		return false
	}
	if t.n--; t.n != 0 {
		return false
	}
	if t.does == holds {
		fmt.Println("held")
		return true
	}
	_ = unix.Kill(t.pid, unix.SIGKILL) // it is there: this thread of it is stopped
	return false
}

// device reports whether a descriptor's name is of a device: files in memory are none.
func device(name string) bool {
	return strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/")
}

// object names what a descriptor is; "" for what stays in the process.
func (t *tracer) object(fd int) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, fd))
	switch {
	case err != nil || strings.HasPrefix(name, "anon_inode:") || strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/") || device(name):
		return ""
	case strings.HasPrefix(name, "socket:"):
		return "client"
	case strings.HasPrefix(name, "pipe:"):
		return "log"
	}
	return filepath.Base(name)
}
