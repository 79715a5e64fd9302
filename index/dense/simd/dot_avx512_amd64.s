#include "textflag.h"

// The float32 kernels for AVX-512. Each row has four sums of 16 lanes; what is
// left below 64 components goes, 16 at a time and the last ones masked, into
// the first. dotAVX512 and dot4AVX512 add up in the same order.

// func dotAVX512(a, b *float32, n int) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), R8
	MOVQ n+16(FP), CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	SUBQ $64, CX
	JLT  rest

loop:
	VMOVUPS     0(SI), Z16
	VMOVUPS     64(SI), Z17
	VMOVUPS     128(SI), Z18
	VMOVUPS     192(SI), Z19
	VFMADD231PS 0(R8), Z16, Z0
	VFMADD231PS 64(R8), Z17, Z1
	VFMADD231PS 128(R8), Z18, Z2
	VFMADD231PS 192(R8), Z19, Z3
	ADDQ $256, SI
	ADDQ $256, R8
	SUBQ $64, CX
	JGE  loop

rest:
	ADDQ $64, CX

rest16:
	CMPQ CX, $16
	JLT  masked
	VMOVUPS     (SI), Z16
	VFMADD231PS (R8), Z16, Z0
	ADDQ $64, SI
	ADDQ $64, R8
	SUBQ $16, CX
	JMP  rest16

masked:
	TESTQ CX, CX
	JEQ   sum
	MOVL  $1, AX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K1
	VMOVUPS.Z   (SI), K1, Z16
	VMOVUPS.Z   (R8), K1, Z17
	VFMADD231PS Z17, Z16, Z0

sum:
	VADDPS Z1, Z0, Z0
	VADDPS Z3, Z2, Z2
	VADDPS Z2, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// FOUR multiplies 16 components of the query in Q with those of each row and
// adds them to the sums S0 to S3.
#define FOUR(Q, OFFSET, S0, S1, S2, S3) \
	VMOVUPS     OFFSET(SI), Q      \
	VFMADD231PS OFFSET(R8), Q, S0  \
	VFMADD231PS OFFSET(R9), Q, S1  \
	VFMADD231PS OFFSET(R10), Q, S2 \
	VFMADD231PS OFFSET(R11), Q, S3

// FOLD adds the four sums of a row up to four lanes, in X.
#define FOLD(Z, S1, S2, S3, Y, X, YT, XT) \
	VADDPS S1, Z, Z             \
	VADDPS S3, S2, S2           \
	VADDPS S2, Z, Z             \
	VEXTRACTF64X4 $1, Z, YT     \
	VADDPS YT, Y, Y             \
	VEXTRACTF128 $1, Y, XT      \
	VADDPS XT, X, X

// func dot4AVX512(q, a, b, c, d *float32, n int, out *[4]float32)
TEXT ·dot4AVX512(SB), NOSPLIT, $0-56
	MOVQ q+0(FP), SI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ c+24(FP), R10
	MOVQ d+32(FP), R11
	MOVQ n+40(FP), CX
	MOVQ out+48(FP), DI
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	SUBQ $64, CX
	JLT  rest

loop:
	FOUR(Z16, 0, Z0, Z4, Z8, Z12)
	FOUR(Z17, 64, Z1, Z5, Z9, Z13)
	FOUR(Z18, 128, Z2, Z6, Z10, Z14)
	FOUR(Z19, 192, Z3, Z7, Z11, Z15)
	ADDQ $256, SI
	ADDQ $256, R8
	ADDQ $256, R9
	ADDQ $256, R10
	ADDQ $256, R11
	SUBQ $64, CX
	JGE  loop

rest:
	ADDQ $64, CX

rest16:
	CMPQ CX, $16
	JLT  masked
	FOUR(Z16, 0, Z0, Z4, Z8, Z12)
	ADDQ $64, SI
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, R11
	SUBQ $16, CX
	JMP  rest16

masked:
	TESTQ CX, CX
	JEQ   sum
	MOVL  $1, AX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K1
	VMOVUPS.Z   (SI), K1, Z16
	VMOVUPS.Z   (R8), K1, Z17
	VMOVUPS.Z   (R9), K1, Z18
	VMOVUPS.Z   (R10), K1, Z19
	VMOVUPS.Z   (R11), K1, Z20
	VFMADD231PS Z17, Z16, Z0
	VFMADD231PS Z18, Z16, Z4
	VFMADD231PS Z19, Z16, Z8
	VFMADD231PS Z20, Z16, Z12

sum:
	FOLD(Z0, Z1, Z2, Z3, Y0, X0, Y16, X1)
	FOLD(Z4, Z5, Z6, Z7, Y4, X4, Y17, X5)
	FOLD(Z8, Z9, Z10, Z11, Y8, X8, Y18, X9)
	FOLD(Z12, Z13, Z14, Z15, Y12, X12, Y19, X13)
	VHADDPS X4, X0, X0
	VHADDPS X12, X8, X8
	VHADDPS X8, X0, X0
	VMOVUPS X0, (DI)
	VZEROUPPER
	RET
