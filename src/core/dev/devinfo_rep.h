/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Representors, for what serves the function that they stand for. */
#ifndef DPUMAP_CORE_DEV_DEVINFO_REP_H
#define DPUMAP_CORE_DEV_DEVINFO_REP_H

#include <stdbool.h>

#include "core/dev/dev.h"

/* A representor with users cannot be closed. */
void dpumap_dev_rep_add_user(struct doca_dev_rep *rep);
void dpumap_dev_rep_remove_user(struct doca_dev_rep *rep);

/* Whether a device and the function of a representor are on one card. */
bool dpumap_dev_rep_is_of(const struct doca_dev_rep *rep, const struct doca_dev *dev);

#endif
