/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Message queues of a control channel (doca_comch.h) for code of a DPA. The DPA is not supported, so this
 * header declares no functions. Programs may include it.
 */
#ifndef DOCA_COMCH_MSGQ_H_
#define DOCA_COMCH_MSGQ_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_msgq;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_MSGQ_H_ */
