package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clockTick is the unit of CPU times in /proc on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usage is what a process holds at one moment.
type usage struct {
	resident int           // bytes
	peak     int           // bytes, the most that was ever resident
	threads  int           // of the operating system
	files    int           // open, sockets included
	cpu      time.Duration // spent so far
}

func (u usage) String() string {
	return fmt.Sprintf("%d MiB resident (peak %d), %d threads, %d files", u.resident>>20, u.peak>>20, u.threads, u.files)
}

// usageOf reads /proc.
func usageOf(t *testing.T, pid int) usage {
	t.Helper()
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	entries, err := os.ReadDir(filepath.Join(folder, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	u := usage{files: len(entries)}
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "VmRSS:":
			u.resident = number(t, fields[1]) << 10
		case "VmHWM:":
			u.peak = number(t, fields[1]) << 10
		case "Threads:":
			u.threads = number(t, fields[1])
		}
	}
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	// Field 2 is the name in parentheses and may hold spaces; user and system
	// time are fields 14 and 15.
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	u.cpu = time.Duration(number(t, fields[11])+number(t, fields[12])) * clockTick
	return u
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
