/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The words a row may start with, spelled out for the preprocessor. Mechanical: each word maps to
 * the shape of its row, the kind of call, and the number of arguments it claims.
 *
 * `F2` claims two arguments, and a row that has another number of types does not compile; the bare
 * `F` claims nothing and takes what is there (at most 8, as everywhere).
 *
 * Of a Java class: F function, P procedure, SF/SP static, VF/VP nonvirtual, N constructor,
 * G/SG field, B bridge. Of a native class: M method, S static, L leaf, N creator, D destroyer,
 * E end callback.
 */
#ifndef KOLIBRI_CLASS_WORDS_H
#define KOLIBRI_CLASS_WORDS_H

#define KOL__K_F FUN, F, -1
#define KOL__K_F0 FUN, F, 0
#define KOL__K_F1 FUN, F, 1
#define KOL__K_F2 FUN, F, 2
#define KOL__K_F3 FUN, F, 3
#define KOL__K_F4 FUN, F, 4
#define KOL__K_F5 FUN, F, 5
#define KOL__K_F6 FUN, F, 6
#define KOL__K_F7 FUN, F, 7
#define KOL__K_F8 FUN, F, 8

#define KOL__K_P PRO, F, -1
#define KOL__K_P0 PRO, F, 0
#define KOL__K_P1 PRO, F, 1
#define KOL__K_P2 PRO, F, 2
#define KOL__K_P3 PRO, F, 3
#define KOL__K_P4 PRO, F, 4
#define KOL__K_P5 PRO, F, 5
#define KOL__K_P6 PRO, F, 6
#define KOL__K_P7 PRO, F, 7
#define KOL__K_P8 PRO, F, 8

#define KOL__K_SF FUN, SF, -1
#define KOL__K_SF0 FUN, SF, 0
#define KOL__K_SF1 FUN, SF, 1
#define KOL__K_SF2 FUN, SF, 2
#define KOL__K_SF3 FUN, SF, 3
#define KOL__K_SF4 FUN, SF, 4
#define KOL__K_SF5 FUN, SF, 5
#define KOL__K_SF6 FUN, SF, 6
#define KOL__K_SF7 FUN, SF, 7
#define KOL__K_SF8 FUN, SF, 8

#define KOL__K_SP PRO, SF, -1
#define KOL__K_SP0 PRO, SF, 0
#define KOL__K_SP1 PRO, SF, 1
#define KOL__K_SP2 PRO, SF, 2
#define KOL__K_SP3 PRO, SF, 3
#define KOL__K_SP4 PRO, SF, 4
#define KOL__K_SP5 PRO, SF, 5
#define KOL__K_SP6 PRO, SF, 6
#define KOL__K_SP7 PRO, SF, 7
#define KOL__K_SP8 PRO, SF, 8

#define KOL__K_VF FUN, VF, -1
#define KOL__K_VF0 FUN, VF, 0
#define KOL__K_VF1 FUN, VF, 1
#define KOL__K_VF2 FUN, VF, 2
#define KOL__K_VF3 FUN, VF, 3
#define KOL__K_VF4 FUN, VF, 4
#define KOL__K_VF5 FUN, VF, 5
#define KOL__K_VF6 FUN, VF, 6
#define KOL__K_VF7 FUN, VF, 7
#define KOL__K_VF8 FUN, VF, 8

#define KOL__K_VP PRO, VF, -1
#define KOL__K_VP0 PRO, VF, 0
#define KOL__K_VP1 PRO, VF, 1
#define KOL__K_VP2 PRO, VF, 2
#define KOL__K_VP3 PRO, VF, 3
#define KOL__K_VP4 PRO, VF, 4
#define KOL__K_VP5 PRO, VF, 5
#define KOL__K_VP6 PRO, VF, 6
#define KOL__K_VP7 PRO, VF, 7
#define KOL__K_VP8 PRO, VF, 8

#define KOL__K_N NEW, N, -1
#define KOL__K_N0 NEW, N, 0
#define KOL__K_N1 NEW, N, 1
#define KOL__K_N2 NEW, N, 2
#define KOL__K_N3 NEW, N, 3
#define KOL__K_N4 NEW, N, 4
#define KOL__K_N5 NEW, N, 5
#define KOL__K_N6 NEW, N, 6
#define KOL__K_N7 NEW, N, 7
#define KOL__K_N8 NEW, N, 8

#define KOL__K_B BRI, BF, -1
#define KOL__K_B0 BRI, BF, 0
#define KOL__K_B1 BRI, BF, 1
#define KOL__K_B2 BRI, BF, 2
#define KOL__K_B3 BRI, BF, 3
#define KOL__K_B4 BRI, BF, 4
#define KOL__K_B5 BRI, BF, 5
#define KOL__K_B6 BRI, BF, 6
#define KOL__K_B7 BRI, BF, 7
#define KOL__K_B8 BRI, BF, 8

#define KOL__K_M MET, M, -1
#define KOL__K_M0 MET, M, 0
#define KOL__K_M1 MET, M, 1
#define KOL__K_M2 MET, M, 2
#define KOL__K_M3 MET, M, 3
#define KOL__K_M4 MET, M, 4
#define KOL__K_M5 MET, M, 5
#define KOL__K_M6 MET, M, 6
#define KOL__K_M7 MET, M, 7
#define KOL__K_M8 MET, M, 8

#define KOL__K_S STA, S, -1
#define KOL__K_S0 STA, S, 0
#define KOL__K_S1 STA, S, 1
#define KOL__K_S2 STA, S, 2
#define KOL__K_S3 STA, S, 3
#define KOL__K_S4 STA, S, 4
#define KOL__K_S5 STA, S, 5
#define KOL__K_S6 STA, S, 6
#define KOL__K_S7 STA, S, 7
#define KOL__K_S8 STA, S, 8

#define KOL__K_L LEA, L, -1
#define KOL__K_L0 LEA, L, 0
#define KOL__K_L1 LEA, L, 1
#define KOL__K_L2 LEA, L, 2
#define KOL__K_L3 LEA, L, 3
#define KOL__K_L4 LEA, L, 4
#define KOL__K_L5 LEA, L, 5
#define KOL__K_L6 LEA, L, 6
#define KOL__K_L7 LEA, L, 7
#define KOL__K_L8 LEA, L, 8

#define KOL__K_G FLD, G, -1
#define KOL__K_SG FLD, SG, -1
#define KOL__K_D DES, D, -1
#define KOL__K_E END, E, -1

#endif
