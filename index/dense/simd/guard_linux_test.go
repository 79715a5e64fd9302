package simd

import (
	"syscall"
	"testing"
	"unsafe"
)

// TestKernelsStayInside puts the vectors at the very end, and at the very
// beginning, of memory around which nothing may be read.
func TestKernelsStayInside(t *testing.T) {
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	}()
	for _, guard := range [][]byte{memory[:page], memory[3*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := memory[page : 3*page]
	for _, k := range kernels(t) {
		for n := 1; n <= longest; n++ {
			for _, from := range []int{0, len(inside) - 4*n} {
				v := (*float32)(unsafe.Pointer(&inside[from]))
				var four [4]float32
				k.dot4(v, v, v, v, v, n, &four)
				if got := k.dot(v, v, n); got != 0 || four != [4]float32{} {
					t.Fatalf("%s: zeros give %v and %v", k.name, got, four)
				}
			}
			for _, from := range []int{0, len(inside) - n} {
				v := (*int8)(unsafe.Pointer(&inside[from]))
				var four [4]int32
				k.dot4Int8(v, v, v, v, v, n, &four)
				if got := k.dotInt8(v, v, n); got != 0 || four != [4]int32{} {
					t.Fatalf("%s: zeros give %v and %v", k.name, got, four)
				}
			}
		}
	}
}
