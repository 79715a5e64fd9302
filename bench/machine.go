package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/braid-search/braid"
)

// Machine is what the figures were taken on.
type Machine struct {
	Processor string `json:"processor"`
	// Features are the processor's instruction sets that matter here.
	Features []string `json:"features"`
	Cores    int      `json:"cores"` // that this process may use
	MemoryGB float64  `json:"memory_gb"`
	Kernel   string   `json:"kernel"`
	Go       string   `json:"go"`
}

// interesting are the instruction sets that matrix products choose by.
var interesting = []string{"avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8", "asimd", "asimddp", "i8mm"}

func readMachine() (Machine, error) {
	m := Machine{Cores: runtime.GOMAXPROCS(0), Go: runtime.Version()}
	cpu, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m, fmt.Errorf("read processor: %w: the benchmark needs Linux", err)
	}
	for line := range strings.Lines(string(cpu)) {
		name, value, _ := strings.Cut(line, ":")
		switch name = strings.TrimSpace(name); {
		case name == "model name" && m.Processor == "":
			m.Processor = strings.TrimSpace(value)
		case (name == "flags" || name == "Features") && m.Features == nil:
			has := strings.Fields(value)
			m.Features = slices.DeleteFunc(slices.Clone(interesting), func(f string) bool { return !slices.Contains(has, f) })
		}
	}
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return m, fmt.Errorf("read memory size: %w", err)
	}
	m.MemoryGB = float64(info.Totalram) * float64(info.Unit) / 1e9
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return m, fmt.Errorf("read kernel: %w", err)
	}
	m.Kernel = strings.TrimSpace(string(kernel))
	return m, nil
}

// commit names the commit of the checkout, "-dirty" if files other than earlier
// results differ from it.
func commit(ctx context.Context, root string) string {
	git := func(args ...string) ([]byte, error) {
		return exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	}
	name, err := git("describe", "--always", "--abbrev=12")
	if err != nil {
		return "unknown"
	}
	dirty := ""
	if _, err := git("diff", "--quiet", "HEAD", "--", ".", ":!bench/results"); err != nil {
		dirty = "-dirty"
	}
	return string(bytes.TrimSpace(name)) + dirty
}

// loadAverage is the machine's load average over one minute, of everybody's work.
func loadAverage() (float64, error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("read load average: %w", err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0, fmt.Errorf("read load average: %w", err)
	}
	return value, nil
}

// usage is processor time since the machine or this process started.
type usage struct {
	all  time.Duration // of the machine, busy
	lost time.Duration // taken by the hypervisor
	own  time.Duration // of this process and of children that have ended
	at   time.Time
}

func readUsage() (usage, error) {
	u := usage{at: time.Now()}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u, fmt.Errorf("read processor time: %w", err)
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 {
		return u, braid.Errorf(braid.Internal, "read processor time: /proc/stat has %q", line)
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return u, fmt.Errorf("read processor time: %w", err)
		}
		spent := time.Duration(ticks) * time.Second / ticksPerSecond
		switch i {
		case 3, 4: // idle, waiting for a disk
		case 7:
			u.lost += spent
		default:
			u.all += spent
		}
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			return u, fmt.Errorf("read processor time: %w", err)
		}
		u.own += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return u, nil
}

// since returns the shares of all cores that others and the hypervisor took
// since before. Children that still run count as others.
func (u usage) since(before usage, cores int) (others, lost float64) {
	total := float64(u.at.Sub(before.at)) * float64(cores)
	return max(0, float64((u.all-before.all)-(u.own-before.own))/total), float64(u.lost-before.lost) / total
}
