#include "textflag.h"

// The int8 kernels. VPDPBUSD multiplies unsigned with signed bytes, so the
// query is shifted up by 128 (its sign bits flipped) and 128 times the sum of
// the row, which the same instruction gives against ones, is taken off again.

DATA signs<>+0(SB)/4, $0x80808080
GLOBL signs<>(SB), RODATA|NOPTR, $4
DATA ones<>+0(SB)/4, $0x01010101
GLOBL ones<>(SB), RODATA|NOPTR, $4

// REDUCE adds the lanes of Z up to four, in X.
#define REDUCE(Z, Y, X, YT, XT) \
	VEXTRACTI64X4 $1, Z, YT \
	VPADDD YT, Y, Y         \
	VEXTRACTI128 $1, Y, XT  \
	VPADDD XT, X, X

// BYTEMASK sets K1 for CX bytes, 1 to 63.
#define BYTEMASK \
	MOVQ $1, AX  \
	SHLQ CX, AX  \
	DECQ AX      \
	KMOVQ AX, K1

// func dotInt8VNNI(a, b *int8, n int) int32
TEXT ·dotInt8VNNI(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), R8
	MOVQ n+16(FP), CX
	VPBROADCASTD signs<>(SB), Z30
	VPBROADCASTD ones<>(SB), Z31
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	SUBQ $64, CX
	JLT  rest

loop:
	VPXORQ    (SI), Z30, Z16
	VMOVDQU64 (R8), Z17
	VPDPBUSD  Z17, Z16, Z0
	VPDPBUSD  Z17, Z31, Z1
	ADDQ $64, SI
	ADDQ $64, R8
	SUBQ $64, CX
	JGE  loop

rest:
	ADDQ $64, CX
	JEQ  sum
	BYTEMASK
	VMOVDQU8.Z (SI), K1, Z16
	VPXORQ     Z16, Z30, Z16
	VMOVDQU8.Z (R8), K1, Z17
	VPDPBUSD   Z17, Z16, Z0
	VPDPBUSD   Z17, Z31, Z1

sum:
	VPSLLD $7, Z1, Z1
	VPSUBD Z1, Z0, Z0
	REDUCE(Z0, Y0, X0, Y1, X1)
	VPHADDD X0, X0, X0
	VPHADDD X0, X0, X0
	VMOVD X0, AX
	MOVL AX, ret+24(FP)
	VZEROUPPER
	RET

// STEP multiplies 64 bytes of the query in Z16 with those of a row in Z.
#define STEP(Z, S, T) \
	VPDPBUSD Z, Z16, S \
	VPDPBUSD Z, Z31, T

// func dot4Int8VNNI(q, a, b, c, d *int8, n int, out *[4]int32)
TEXT ·dot4Int8VNNI(SB), NOSPLIT, $0-56
	MOVQ q+0(FP), SI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ c+24(FP), R10
	MOVQ d+32(FP), R11
	MOVQ n+40(FP), CX
	MOVQ out+48(FP), DI
	VPBROADCASTD signs<>(SB), Z30
	VPBROADCASTD ones<>(SB), Z31
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	SUBQ $64, CX
	JLT  rest

loop:
	VPXORQ    (SI), Z30, Z16
	VMOVDQU64 (R8), Z17
	VMOVDQU64 (R9), Z18
	VMOVDQU64 (R10), Z19
	VMOVDQU64 (R11), Z20
	STEP(Z17, Z0, Z1)
	STEP(Z18, Z2, Z3)
	STEP(Z19, Z4, Z5)
	STEP(Z20, Z6, Z7)
	ADDQ $64, SI
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, R11
	SUBQ $64, CX
	JGE  loop

rest:
	ADDQ $64, CX
	JEQ  sum
	BYTEMASK
	VMOVDQU8.Z (SI), K1, Z16
	VPXORQ     Z16, Z30, Z16
	VMOVDQU8.Z (R8), K1, Z17
	VMOVDQU8.Z (R9), K1, Z18
	VMOVDQU8.Z (R10), K1, Z19
	VMOVDQU8.Z (R11), K1, Z20
	STEP(Z17, Z0, Z1)
	STEP(Z18, Z2, Z3)
	STEP(Z19, Z4, Z5)
	STEP(Z20, Z6, Z7)

sum:
	VPSLLD $7, Z1, Z1
	VPSUBD Z1, Z0, Z0
	VPSLLD $7, Z3, Z3
	VPSUBD Z3, Z2, Z2
	VPSLLD $7, Z5, Z5
	VPSUBD Z5, Z4, Z4
	VPSLLD $7, Z7, Z7
	VPSUBD Z7, Z6, Z6
	REDUCE(Z0, Y0, X0, Y1, X1)
	REDUCE(Z2, Y2, X2, Y3, X3)
	REDUCE(Z4, Y4, X4, Y5, X5)
	REDUCE(Z6, Y6, X6, Y7, X7)
	VPHADDD X2, X0, X0
	VPHADDD X6, X4, X4
	VPHADDD X4, X0, X0
	VMOVDQU X0, (DI)
	VZEROUPPER
	RET

// The AVX2 kernels widen to 16 bits, 16 components at a time.

// func dotInt8AVX2(a, b *int8, n int) int32
TEXT ·dotInt8AVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), R8
	MOVQ n+16(FP), CX
	VPXOR Y0, Y0, Y0
	SUBQ $16, CX
	JLT  sum

loop:
	VPMOVSXBW (SI), Y8
	VPMOVSXBW (R8), Y9
	VPMADDWD  Y9, Y8, Y9
	VPADDD    Y9, Y0, Y0
	ADDQ $16, SI
	ADDQ $16, R8
	SUBQ $16, CX
	JGE  loop

sum:
	VEXTRACTI128 $1, Y0, X1
	VPADDD  X1, X0, X0
	VPHADDD X0, X0, X0
	VPHADDD X0, X0, X0
	VMOVD X0, AX
	ADDQ $16, CX
	JEQ  done

rest:
	MOVBLSX (SI), BX
	MOVBLSX (R8), DX
	IMULL   DX, BX
	ADDL    BX, AX
	INCQ SI
	INCQ R8
	DECQ CX
	JNE  rest

done:
	MOVL AX, ret+24(FP)
	VZEROUPPER
	RET

// WIDE multiplies 16 components of the query in Y8 with those of a row.
#define WIDE(ROW, T, S) \
	VPMOVSXBW (ROW), T \
	VPMADDWD  T, Y8, T \
	VPADDD    T, S, S

// ONE multiplies the query's component in BX with that of a row and adds it to
// the row's product.
#define ONE(ROW, OFFSET) \
	MOVBLSX (ROW), DX       \
	IMULL   BX, DX          \
	ADDL    DX, OFFSET(DI)

// func dot4Int8AVX2(q, a, b, c, d *int8, n int, out *[4]int32)
TEXT ·dot4Int8AVX2(SB), NOSPLIT, $0-56
	MOVQ q+0(FP), SI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ c+24(FP), R10
	MOVQ d+32(FP), R11
	MOVQ n+40(FP), CX
	MOVQ out+48(FP), DI
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	SUBQ $16, CX
	JLT  sum

loop:
	VPMOVSXBW (SI), Y8
	WIDE(R8, Y9, Y0)
	WIDE(R9, Y10, Y1)
	WIDE(R10, Y11, Y2)
	WIDE(R11, Y12, Y3)
	ADDQ $16, SI
	ADDQ $16, R8
	ADDQ $16, R9
	ADDQ $16, R10
	ADDQ $16, R11
	SUBQ $16, CX
	JGE  loop

sum:
	VPHADDD Y1, Y0, Y0
	VPHADDD Y3, Y2, Y2
	VPHADDD Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD  X1, X0, X0
	VMOVDQU X0, (DI)
	ADDQ $16, CX
	JEQ  done

rest:
	MOVBLSX (SI), BX
	ONE(R8, 0)
	ONE(R9, 4)
	ONE(R10, 8)
	ONE(R11, 12)
	INCQ SI
	INCQ R8
	INCQ R9
	INCQ R10
	INCQ R11
	DECQ CX
	JNE  rest

done:
	VZEROUPPER
	RET
