/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arrays of bufs for code of a GPU or a DPA. Neither is supported. Our sources name the functions, but
 * not their arguments, so this header declares types only. Programs may include it.
 * Semantics: DOCA 3.0, doca_buf_array.h.
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf_arr;
struct doca_dpa;
struct doca_gpu;
struct doca_mmap;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_ARRAY_H_ */
