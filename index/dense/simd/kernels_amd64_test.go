package simd

import "testing"

// kernels are those this processor can run.
func kernels(t testing.TB) []kernel {
	all := []kernel{portable}
	if hasAVX2 {
		all = append(all, kernel{"AVX2", dotAVX2, dot4AVX2, dotInt8AVX2, dot4Int8AVX2})
	} else {
		t.Log("AVX2 is not tested: the processor has none")
	}
	if hasAVX512 && hasVNNI {
		all = append(all, kernel{"AVX-512", dotAVX512, dot4AVX512, dotInt8VNNI, dot4Int8VNNI})
	} else {
		t.Log("AVX-512 with VNNI is not tested: the processor has none")
	}
	return all
}
