/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The protection domain of a device, which no public function returns. */
#ifndef DPUMAP_TESTS_DEVICE_PD_H
#define DPUMAP_TESTS_DEVICE_PD_H

#include <infiniband/verbs.h>

#include <doca_dev.h>

struct ibv_pd *device_pd(const struct doca_dev *dev);

#endif
