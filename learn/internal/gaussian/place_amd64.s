#include "textflag.h"

// func place4(n int, v *float32, noise *int32, inverse, step float64)
//
// n is a positive multiple of 4; place says what it does to each number.
TEXT ·place4(SB), NOSPLIT, $0-40
	MOVQ n+0(FP), CX
	MOVQ v+8(FP), AX
	MOVQ noise+16(FP), BX
	VBROADCASTSD inverse+24(FP), Y4
	VBROADCASTSD step+32(FP), Y5
	MOVQ $0x4330000000000000, R8    // 2^52
	MOVQ R8, X6
	VBROADCASTSD X6, Y6
	MOVQ $0xc330000000000000, R8    // -2^52
	MOVQ R8, X7
	VBROADCASTSD X7, Y7
	MOVQ $0x3fe0000000000000, R8    // 1/2
	MOVQ R8, X8
	VBROADCASTSD X8, Y8

loop:
	VCVTPS2PD (AX), Y0
	VMULPD Y4, Y0, Y0
	VCMPPD $7, Y0, Y0, Y1           // no NaN
	VANDPD Y1, Y0, Y0
	VMINPD Y6, Y0, Y0
	VMAXPD Y7, Y0, Y0
	VROUNDPD $0, Y0, Y0             // to nearest, ties to even
	VCVTDQ2PD (BX), Y1
	VADDPD Y1, Y0, Y0
	VADDPD Y8, Y0, Y0
	VMULPD Y5, Y0, Y0
	VCVTPD2PSY Y0, X0
	VMOVUPS X0, (AX)
	ADDQ $16, AX
	ADDQ $16, BX
	SUBQ $4, CX
	JNZ  loop
	VZEROUPPER
	RET
