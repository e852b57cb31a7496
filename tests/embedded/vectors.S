/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files of vectors as one string, for targets without a file system. */
	.section .rodata
	.global desc_vectors
desc_vectors:
	.incbin V1_VECTORS_FILE
	.incbin DESC_VECTORS_FILE
	.byte 0
#if defined(__linux__) && defined(__ELF__)
	.section .note.GNU-stack, "", %progbits
#endif
