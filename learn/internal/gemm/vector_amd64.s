#include "textflag.h"

// func larger(n int, tag uint32, x, best *float32, from *uint32)
//
// n is a positive multiple of 8.
TEXT ·larger(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVL tag+8(FP), R8
	VMOVD R8, X3
	VPBROADCASTD X3, Y3
	MOVQ x+16(FP), AX
	MOVQ best+24(FP), BX
	MOVQ from+32(FP), DX

largerloop:
	VMOVUPS (AX), Y0
	VMOVUPS (BX), Y1
	VMOVUPS (DX), Y4
	VCMPPS $0x1e, Y1, Y0, Y2    // x > best
	VBLENDVPS Y2, Y0, Y1, Y1
	VBLENDVPS Y2, Y3, Y4, Y4
	VMOVUPS Y1, (BX)
	VMOVUPS Y4, (DX)
	ADDQ $32, AX
	ADDQ $32, BX
	ADDQ $32, DX
	SUBQ $8, CX
	JNZ  largerloop
	VZEROUPPER
	RET

// func addWhere(n int, tag uint32, from *uint32, x, y *float32)
//
// n is a positive multiple of 8.
TEXT ·addWhere(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVL tag+8(FP), R8
	VMOVD R8, X3
	VPBROADCASTD X3, Y3
	MOVQ from+16(FP), DX
	MOVQ x+24(FP), AX
	MOVQ y+32(FP), BX

addloop:
	VPCMPEQD (DX), Y3, Y0
	VANDPS (AX), Y0, Y0
	VADDPS (BX), Y0, Y0
	VMOVUPS Y0, (BX)
	ADDQ $32, AX
	ADDQ $32, BX
	ADDQ $32, DX
	SUBQ $8, CX
	JNZ  addloop
	VZEROUPPER
	RET

// func rectify(n int, x, y *float32)
//
// n is a positive multiple of 8. NaN, as the second source, is what VMAXPS gives.
TEXT ·rectify(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), CX
	MOVQ x+8(FP), AX
	MOVQ y+16(FP), BX
	VXORPS Y1, Y1, Y1

rectifyloop:
	VMAXPS (AX), Y1, Y0
	VMOVUPS Y0, (BX)
	ADDQ $32, AX
	ADDQ $32, BX
	SUBQ $8, CX
	JNZ  rectifyloop
	VZEROUPPER
	RET

// func rectifyBack(n int, y, dy, dx *float32)
//
// n is a positive multiple of 8.
TEXT ·rectifyBack(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ y+8(FP), AX
	MOVQ dy+16(FP), BX
	MOVQ dx+24(FP), DX
	VXORPS Y1, Y1, Y1

backloop:
	VCMPPS $0x11, (AX), Y1, Y0  // 0 < y
	VANDPS (BX), Y0, Y0
	VMOVUPS Y0, (DX)
	ADDQ $32, AX
	ADDQ $32, BX
	ADDQ $32, DX
	SUBQ $8, CX
	JNZ  backloop
	VZEROUPPER
	RET

// func copyRows(rows, n int, x *float32, stride int, y *float32)
//
// n is a positive multiple of 8, rows is positive.
TEXT ·copyRows(SB), NOSPLIT, $0-40
	MOVQ rows+0(FP), CX
	MOVQ n+8(FP), DX
	MOVQ x+16(FP), AX
	MOVQ stride+24(FP), R8
	MOVQ y+32(FP), BX
	SHLQ $2, R8

copyrow:
	MOVQ AX, SI
	MOVQ DX, R9

copyloop:
	VMOVUPS (SI), Y0
	VMOVUPS Y0, (BX)
	ADDQ $32, SI
	ADDQ $32, BX
	SUBQ $8, R9
	JNZ  copyloop
	ADDQ R8, AX
	DECQ CX
	JNZ  copyrow
	VZEROUPPER
	RET

// func shrink(n int, f float32, v *float32)
//
// n is a positive multiple of 8.
TEXT ·shrink(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), CX
	VBROADCASTSS f+8(FP), Y3
	MOVQ v+16(FP), AX
	MOVL $0x7f800000, R8
	VMOVD R8, X4
	VPBROADCASTD X4, Y4
	VPXOR Y5, Y5, Y5

shrinkloop:
	VMULPS (AX), Y3, Y0
	VPAND Y0, Y4, Y1
	VPCMPEQD Y1, Y5, Y1         // no exponent: too small
	VPANDN Y0, Y1, Y0
	VMOVUPS Y0, (AX)
	ADDQ $32, AX
	SUBQ $8, CX
	JNZ  shrinkloop
	VZEROUPPER
	RET
