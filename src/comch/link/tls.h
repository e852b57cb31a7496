/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* libdpumap-channel, which is loaded when it is needed. */
#ifndef DPUMAP_COMCH_TLS_H
#define DPUMAP_COMCH_TLS_H

#include "local/comch_tls.h"

/* NULL, with the reason in the error (NOT_SUPPORTED), if the library is missing. Any thread. */
const struct dpumap_comch_tls *dpumap_comch_tls_get(struct dpumap_error *error);

#endif
