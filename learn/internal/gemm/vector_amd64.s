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
// n is a positive multiple of 8. NaN, as the second source, is what VMAXPS gives, and
// so is -0: 0 is added.
TEXT ·rectify(SB), NOSPLIT, $0-24
	MOVQ n+0(FP), CX
	MOVQ x+8(FP), AX
	MOVQ y+16(FP), BX
	VXORPS Y1, Y1, Y1

rectifyloop:
	VMAXPS (AX), Y1, Y0
	VADDPS Y0, Y1, Y0
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

// func squash(n int, c *float32, x, y *float32)
//
// n is a positive multiple of 8; c are the rows of a Squash, 8 numbers each.
TEXT ·squash(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), CX
	MOVQ c+8(FP), DX
	MOVQ x+16(FP), AX
	MOVQ y+24(FP), BX
	VMOVUPS 0(DX), Y4           // -temperature
	VMOVUPS 32(DX), Y5          // limit
	VMOVUPS 64(DX), Y6          // -limit
	VMOVUPS 96(DX), Y7          // log2(e)
	VMOVUPS 128(DX), Y8         // -ln(2)
	VMOVUPS 160(DX), Y9         // 1/7!
	VMOVUPS 384(DX), Y10        // 1
	VMOVUPS 416(DX), Y11        // scale
	VMOVUPS 448(DX), Y12        // offset

squashloop:
	VMULPS (AX), Y4, Y0
	VMINPS Y0, Y5, Y0           // of a NaN, the second source: NaN
	VMAXPS Y0, Y6, Y0
	VMULPS Y0, Y7, Y1
	VROUNDPS $0, Y1, Y1
	VFMADD231PS Y1, Y8, Y0      // r = z - k ln(2)
	VCVTPS2DQ Y1, Y1
	VPSLLD $23, Y1, Y1
	VMOVAPS Y9, Y2
	VFMADD213PS 192(DX), Y0, Y2 // 1/6!
	VFMADD213PS 224(DX), Y0, Y2
	VFMADD213PS 256(DX), Y0, Y2
	VFMADD213PS 288(DX), Y0, Y2
	VFMADD213PS 320(DX), Y0, Y2 // 1/2!
	VFMADD213PS Y10, Y0, Y2
	VFMADD213PS Y10, Y0, Y2
	VPADDD Y1, Y2, Y2           // exp(z)
	VADDPS Y10, Y2, Y2
	VDIVPS Y2, Y11, Y2
	VSUBPS Y12, Y2, Y2
	VMOVUPS Y2, (BX)
	ADDQ $32, AX
	ADDQ $32, BX
	SUBQ $8, CX
	JNZ  squashloop
	VZEROUPPER
	RET
