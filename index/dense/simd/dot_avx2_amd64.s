#include "textflag.h"

// The float32 kernels for AVX2 and FMA. Each row has four sums of 8 lanes; what
// is left below 32 components goes, 8 at a time and the last ones masked, into
// the first. dotAVX2 and dot4AVX2 add up in the same order.

// Eight lanes of ones and eight of zeros: the mask for r components begins at
// lane 8-r.
DATA masks<>+0(SB)/8, $-1
DATA masks<>+8(SB)/8, $-1
DATA masks<>+16(SB)/8, $-1
DATA masks<>+24(SB)/8, $-1
DATA masks<>+32(SB)/8, $0
DATA masks<>+40(SB)/8, $0
DATA masks<>+48(SB)/8, $0
DATA masks<>+56(SB)/8, $0
GLOBL masks<>(SB), RODATA|NOPTR, $64

// MASK loads the mask for CX components, 1 to 7, into Y15.
#define MASK \
	LEAQ masks<>+32(SB), AX \
	SHLQ $2, CX             \
	SUBQ CX, AX             \
	VMOVDQU (AX), Y15

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), R8
	MOVQ n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	SUBQ $32, CX
	JLT  rest

loop:
	VMOVUPS     0(SI), Y8
	VMOVUPS     32(SI), Y9
	VMOVUPS     64(SI), Y10
	VMOVUPS     96(SI), Y11
	VFMADD231PS 0(R8), Y8, Y0
	VFMADD231PS 32(R8), Y9, Y1
	VFMADD231PS 64(R8), Y10, Y2
	VFMADD231PS 96(R8), Y11, Y3
	ADDQ $128, SI
	ADDQ $128, R8
	SUBQ $32, CX
	JGE  loop

rest:
	ADDQ $32, CX

rest8:
	CMPQ CX, $8
	JLT  masked
	VMOVUPS     (SI), Y8
	VFMADD231PS (R8), Y8, Y0
	ADDQ $32, SI
	ADDQ $32, R8
	SUBQ $8, CX
	JMP  rest8

masked:
	TESTQ CX, CX
	JEQ   sum
	MASK
	VMASKMOVPS  (SI), Y15, Y8
	VMASKMOVPS  (R8), Y15, Y9
	VFMADD231PS Y9, Y8, Y0

sum:
	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// TWO multiplies 8 components of the query in Q with those of both rows and
// adds them to the sums S0 and S1.
#define TWO(Q, OFFSET, S0, S1) \
	VMOVUPS     OFFSET(SI), Q     \
	VFMADD231PS OFFSET(R8), Q, S0 \
	VFMADD231PS OFFSET(R9), Q, S1

// FOLD adds the four sums of a row up to four lanes, in X.
#define FOLD(S0, S1, S2, S3, X, T) \
	VADDPS S1, S0, S0      \
	VADDPS S3, S2, S2      \
	VADDPS S2, S0, S0      \
	VEXTRACTF128 $1, S0, T \
	VADDPS T, X, X

// func dot4AVX2(q, a, b, c, d *float32, n int, out *[4]float32)
//
// Sixteen registers hold the sums of two rows, so it takes two at a time.
TEXT ·dot4AVX2(SB), NOSPLIT, $0-56
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ out+48(FP), DI
	XORL DX, DX

pair:
	MOVQ q+0(FP), SI
	MOVQ n+40(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	SUBQ $32, CX
	JLT  rest

loop:
	TWO(Y8, 0, Y0, Y4)
	TWO(Y9, 32, Y1, Y5)
	TWO(Y10, 64, Y2, Y6)
	TWO(Y11, 96, Y3, Y7)
	ADDQ $128, SI
	ADDQ $128, R8
	ADDQ $128, R9
	SUBQ $32, CX
	JGE  loop

rest:
	ADDQ $32, CX

rest8:
	CMPQ CX, $8
	JLT  masked
	TWO(Y8, 0, Y0, Y4)
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $32, R9
	SUBQ $8, CX
	JMP  rest8

masked:
	TESTQ CX, CX
	JEQ   sum
	MASK
	VMASKMOVPS  (SI), Y15, Y8
	VMASKMOVPS  (R8), Y15, Y9
	VMASKMOVPS  (R9), Y15, Y10
	VFMADD231PS Y9, Y8, Y0
	VFMADD231PS Y10, Y8, Y4

sum:
	FOLD(Y0, Y1, Y2, Y3, X0, X8)
	FOLD(Y4, Y5, Y6, Y7, X4, X9)
	VHADDPS X4, X0, X0
	VHADDPS X0, X0, X0
	VMOVLPS X0, (DI)
	ADDQ $8, DI
	MOVQ c+24(FP), R8
	MOVQ d+32(FP), R9
	INCL DX
	CMPL DX, $2
	JNE  pair
	VZEROUPPER
	RET
