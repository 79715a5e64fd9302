#include "textflag.h"

// func addStepsAVX2(sums *uint32, offsets *uint16, codes *uint8, n int, step uint32, nextOffsets *uint16, nextCodes *uint8)
//
// Eight postings a turn: their codes are multiplied together; then each offset
// and product is moved to a register of its own and added in memory.
TEXT ·addStepsAVX2(SB), NOSPLIT|NOFRAME, $0-56
	MOVQ         sums+0(FP), DI
	MOVQ         offsets+8(FP), SI
	MOVQ         codes+16(FP), BX
	MOVQ         n+24(FP), CX
	MOVL         step+32(FP), AX
	VMOVD        AX, X1
	VPBROADCASTD X1, Y1
	MOVQ         nextOffsets+40(FP), R12
	MOVQ         nextCodes+48(FP), R13
	LEAQ         (SI)(CX*2), SI
	LEAQ         (R12)(CX*2), R12
	ADDQ         CX, BX
	ADDQ         CX, R13
	NEGQ         CX

turn:
	PREFETCHT0   (R12)(CX*2)
	PREFETCHT0   (R13)(CX*1)
	VPMOVZXBD    (BX)(CX*1), Y0
	VPMULLD      Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X2
	MOVQ         (SI)(CX*2), AX
	MOVQ         8(SI)(CX*2), DX

	VMOVQ   X0, R8
	VPEXTRQ $1, X0, R9
	VMOVQ   X2, R10
	VPEXTRQ $1, X2, R11

	MOVWLZX AX, R14
	ADDL    R8, (DI)(R14*4)
	SHRQ    $32, R8
	SHRQ    $16, AX
	MOVWLZX AX, R14
	ADDL    R8, (DI)(R14*4)
	SHRQ    $16, AX
	MOVWLZX AX, R14
	ADDL    R9, (DI)(R14*4)
	SHRQ    $32, R9
	SHRQ    $16, AX
	ADDL    R9, (DI)(AX*4)

	MOVWLZX DX, R14
	ADDL    R10, (DI)(R14*4)
	SHRQ    $32, R10
	SHRQ    $16, DX
	MOVWLZX DX, R14
	ADDL    R10, (DI)(R14*4)
	SHRQ    $16, DX
	MOVWLZX DX, R14
	ADDL    R11, (DI)(R14*4)
	SHRQ    $32, R11
	SHRQ    $16, DX
	ADDL    R11, (DI)(DX*4)

	ADDQ $8, CX
	JNE  turn
	VZEROUPPER
	RET

// func firstRunAVX2(sums *uint32, n int, needed int32) (at int, mask uint32)
TEXT ·firstRunAVX2(SB), NOSPLIT|NOFRAME, $0-36
	MOVQ         sums+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVL         needed+16(FP), AX
	VMOVD        AX, X4
	VPBROADCASTD X4, Y4
	XORQ         AX, AX
	XORL         DX, DX

turn:
	VPCMPGTD  (SI)(AX*4), Y4, Y0
	VPCMPGTD  32(SI)(AX*4), Y4, Y1
	VPCMPGTD  64(SI)(AX*4), Y4, Y2
	VPCMPGTD  96(SI)(AX*4), Y4, Y3
	VPAND     Y0, Y1, Y5
	VPAND     Y2, Y3, Y6
	VPAND     Y5, Y6, Y5
	VMOVMSKPS Y5, BX
	CMPL      BX, $0xff
	JNE       found
	ADDQ      $32, AX
	CMPQ      AX, CX
	JLT       turn
	JMP       done

found:
	// The four results have ones where a sum is below needed.
	VMOVMSKPS Y3, DX
	SHLL      $8, DX
	VMOVMSKPS Y2, BX
	ORL       BX, DX
	SHLL      $8, DX
	VMOVMSKPS Y1, BX
	ORL       BX, DX
	SHLL      $8, DX
	VMOVMSKPS Y0, BX
	ORL       BX, DX
	NOTL      DX

done:
	VZEROUPPER
	MOVQ AX, at+24(FP)
	MOVL DX, mask+32(FP)
	RET
