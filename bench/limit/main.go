// Limit contains the Go side of the speed benchmarks: clients that are not the bottleneck, and an echo server that shows
// the lowest possible cost of a gRPC server. `python -m bench.play` and `python -m bench.growth` build and run it.
//
// Every command prints a line when it is ready. Then it waits for a line of input before it
// continues.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

var input = bufio.NewScanner(os.Stdin)

func main() {
	commands := map[string]func([]string){"serve": serve, "echo": echo, "play": play}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fail(fmt.Errorf("say which: serve, echo or play"))
	}
	commands[os.Args[1]](os.Args[2:])
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "limit:", err)
	os.Exit(1)
}

func parsed(flags *flag.FlagSet, arguments []string) {
	if err := flags.Parse(arguments); err != nil {
		fail(err)
	}
}

// dial opens a separate connection with small buffers, so that memory suffices for thousands of them.
func dial(address string) *grpc.ClientConn {
	line, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig(),
		grpc.WithReadBufferSize(8<<10), grpc.WithWriteBufferSize(8<<10))
	if err != nil {
		fail(err)
	}
	return line
}

// trips collects the round trips of all connections between two calls of restart.
type trips struct {
	mutex    sync.Mutex
	took     []time.Duration
	messages int
	sizes    int
	ended    int
}

func (t *trips) restart() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.took, t.messages, t.sizes, t.ended = nil, 0, 0, 0
}

func (t *trips) add(took []time.Duration, size int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.took = append(t.took, took...)
	t.messages++
	t.sizes += size
}

// end counts seats whose matches have ended.
func (t *trips) end(count int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.ended += count
}

func (t *trips) ends() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.ended
}

// measure collects figures for the given time and until enough matches have ended, counted once per seat, and prints
// them.
func (t *trips) measure(seconds float64, ends int) {
	t.restart()
	began, used := time.Now(), cpu()
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	for t.ends() < ends {
		time.Sleep(100 * time.Millisecond)
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	count, lasted, spent := len(t.took), time.Since(began).Seconds(), cpu()-used
	slices.Sort(t.took)
	at := func(share float64) float64 {
		if count == 0 {
			return 0
		}
		return float64(t.took[int(share*float64(count-1))]) / float64(time.Microsecond)
	}
	figures, err := json.Marshal(map[string]float64{
		"count": float64(count), "messages": float64(t.messages), "bytes": float64(t.sizes), "seconds": lasted,
		"median_us": at(0.5), "p99_us": at(0.99), "cpu": spent,
	})
	if err != nil {
		fail(err)
	}
	fmt.Println(string(figures))
}

// cpu returns the processor time of this process in seconds.
func cpu() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
