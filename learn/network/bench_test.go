package network

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// The two shapes that differentially private training is measured on: a perceptron
// 784-256-10, and the usual small convolutional network for MNIST.
func measured() map[string]Spec {
	return map[string]Spec{
		"mlp": {Input: []int{784}, Layers: []Layer{
			{Type: "linear", Width: 256}, {Type: "relu"}, {Type: "linear", Width: 10},
		}, Loss: CrossEntropy},
		"cnn": {Input: []int{28, 28, 1}, Layers: []Layer{
			{Type: "conv2d", Width: 16, Kernel: []int{8}, Stride: []int{2}, Padding: []int{3}}, {Type: "relu"},
			{Type: "maxpool", Kernel: []int{2}, Stride: []int{1}},
			{Type: "conv2d", Width: 32, Kernel: []int{4}, Stride: []int{2}}, {Type: "relu"},
			{Type: "maxpool", Kernel: []int{2}, Stride: []int{1}},
			{Type: "flatten"}, {Type: "linear", Width: 32}, {Type: "relu"}, {Type: "linear", Width: 10},
		}, Loss: CrossEntropy},
	}
}

// images are made up: the time does not depend on them.
func images(n int) (*example.Set, []int) {
	set := &example.Set{Width: 784, Classes: 10, Outputs: 1, Features: make([]float32, 784*n)}
	r := &generator{1}
	for i := range set.Features {
		set.Features[i] = max(0, r.uniform(1)) // digits are mostly background
	}
	rows := make([]int, n)
	for i := range n {
		rows[i] = i
		set.Labels = append(set.Labels, int32(i%10))
	}
	return set, rows
}

// training is a network with what a step needs; each of steps makes one, in place of
// an optimizer going a little against the sum.
type training struct {
	net   *Network
	steps map[string]func()
}

var forms = []string{"plain", "clipped", "noisy"}

func newTraining(b *testing.B, name string, set *example.Set, rows []int, workers int) training {
	net, err := New(measured()[name])
	if err != nil {
		b.Fatal(err)
	}
	net.Initialize(1)
	pass := net.NewPass(PassOptions{Workers: workers})
	noise := gaussian.New(rand.Reader, workers)
	sum := make([]float32, len(net.params))
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	engine := gemm.New()
	descend := func() { engine.Axpy(-1e-6, sum, net.params) }
	return training{net, map[string]func(){
		"plain": func() {
			_, err := pass.Gradient(set, rows, sum)
			must(err)
			descend()
		},
		"clipped": func() {
			_, err := pass.Clipped(set, rows, Clip(1), sum)
			must(err)
			descend()
		},
		"noisy": func() {
			_, err := pass.Clipped(set, rows, Clip(1), sum)
			must(err)
			must(noise.Add(sum, 1.1))
			descend()
		},
	}}
}

// processorTime is what this process has used: other processes do not count.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const measuredBatch = 256

// BenchmarkStep times a step of training in its three forms, in turn, and reports
// the least processor time of each in milliseconds and the ratios. With -cpu 1 and 2
// it runs on as many workers.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"mlp", "cnn"} {
		b.Run(name, func(b *testing.B) {
			set, rows := images(measuredBatch)
			t := newTraining(b, name, set, rows, 0)
			best := map[string]float64{}
			runtime.GC()
			for b.Loop() {
				for _, form := range forms {
					start := processorTime(b)
					t.steps[form]()
					if d := float64(processorTime(b)-start) / 1e6; best[form] == 0 || d < best[form] {
						best[form] = d
					}
				}
			}
			for _, form := range forms {
				b.ReportMetric(best[form], "ms-"+form)
			}
			b.ReportMetric(best["clipped"]/best["plain"], "clipped/plain")
			b.ReportMetric(best["noisy"]/best["plain"], "noisy/plain")
		})
	}
}

// BenchmarkMemory reports the most memory that the process has had: run one form in
// a process (-bench 'Memory/cnn/plain$'). As many images as MNIST has, or 256.
func BenchmarkMemory(b *testing.B) {
	for _, count := range []int{60000, measuredBatch} {
		for _, name := range []string{"mlp", "cnn"} {
			for _, form := range forms {
				b.Run(fmt.Sprintf("%d/%s/%s", count, name, form), func(b *testing.B) {
					set, rows := images(count)
					t := newTraining(b, name, set, rows[:measuredBatch], 0)
					for b.Loop() {
						t.steps[form]()
					}
					status, err := os.ReadFile("/proc/self/status")
					if err != nil {
						b.Skip("skip: no /proc")
					}
					for line := range strings.Lines(string(status)) {
						var kB float64
						if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kB); n == 1 {
							b.ReportMetric(kB/1024, "MB-peak")
						}
					}
				})
			}
		}
	}
}

// BenchmarkOpacus times steps with noise beside those of Opacus, which "bench/peers/setup
// learning" installs. Both run on one thread and report the least processor time,
// which other work on the machine disturbs least, and the least time on the clock,
// in five turns.
func BenchmarkOpacus(b *testing.B) {
	peers := filepath.Join("..", "..", "bench", "peers")
	python := filepath.Join(peers, "venv-learning", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		b.Skip("skip: Opacus is not installed; 'bench/peers/setup learning' installs it")
	}
	type times struct{ processor, clock float64 }
	theirs, ours := map[string]times{}, map[string]times{}
	note := func(to map[string]times, what string, t times) {
		if old, ok := to[what]; ok {
			t = times{min(t.processor, old.processor), min(t.clock, old.clock)}
		}
		to[what] = t
	}
	set, rows := images(measuredBatch)
	for b.Loop() {
		for _, name := range []string{"mlp", "cnn"} {
			t := newTraining(b, name, set, rows, 1)
			for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
				clock, processor := time.Now(), processorTime(b)
				t.steps["noisy"]()
				note(ours, name, times{float64(processorTime(b)-processor) / 1e6, float64(time.Since(clock)) / 1e6})
			}
		}
		out, err := exec.Command(python, filepath.Join(peers, "learning.py"), "--seconds", "2", "--threads", "1").Output()
		if err != nil {
			b.Fatalf("learning.py: %v", err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			var row struct {
				Model, Mode                         string
				Milliseconds, ProcessorMilliseconds float64
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				b.Fatal(err)
			}
			note(theirs, row.Model+" "+row.Mode, times{row.ProcessorMilliseconds, row.Milliseconds})
		}
	}
	b.Logf("engine %s, batch %d, one thread, ms a step: processor, clock", gemm.New().Name(), measuredBatch)
	for _, name := range []string{"mlp", "cnn"} {
		b.Logf("%s: ours with noise %.2f, %.2f", name, ours[name].processor, ours[name].clock)
		fastest := math.Inf(1)
		for _, mode := range []string{"plain", "hooks", "ghost"} {
			t := theirs[name+" "+mode]
			b.Logf("%s: %s %.2f, %.2f", name, mode, t.processor, t.clock)
			if mode != "plain" {
				fastest = min(fastest, t.processor)
			}
		}
		b.ReportMetric(fastest/ours[name].processor, name+"-times-opacus")
	}
}
