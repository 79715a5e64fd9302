// Package quant bounds inner products of float32 vectors by those of int8 codes,
// which are a quarter as long, so that a scan need compare exactly only the rows
// that can be among the best. It also shares scans out among goroutines.
//
// A vector x has codes and a scale; x̂ is their product, and |x−x̂| is what the
// codes miss. With q̂ of the query,
//
//	|q·x − q̂·x̂| ≤ |q−q̂|·|x| + |q̂|·|x−x̂|
//
// by the inequality of Cauchy and Schwarz. To that comes what float32 arithmetic
// rounds in q·x as package simd computes it: at most n·2⁻²⁴·|q|·|x| for n
// components (Higham, Accuracy and Stability of Numerical Algorithms, 2002, §3.1).
//
// Invariants:
//   - A row whose Bound is below a score has a computed score below it. Bounds are
//     rounded up; those of rows and queries too large for that are infinite.
//   - Nothing is random and nothing is shared: equal vectors have equal codes.
package quant
