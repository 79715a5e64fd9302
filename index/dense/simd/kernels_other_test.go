//go:build !amd64

package simd

import "testing"

func kernels(testing.TB) []kernel { return []kernel{portable} }
