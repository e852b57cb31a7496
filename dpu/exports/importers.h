/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How many exports each peer may import, so that no connection makes dpumapd walk through all exports. */
#ifndef DPUMAPD_IMPORTERS_H
#define DPUMAPD_IMPORTERS_H

#include <stdbool.h>

#include "dpu/spec/export_spec.h"

/* All zero is empty. */
struct importers {
	void *by_name;	    /* a tree of tsearch() */
	bool is_incomplete; /* memory was exhausted: any peer may be one */
};

void importers_add(struct importers *importers, const struct export_spec *spec);
/* One that was added. */
void importers_remove(struct importers *importers, const struct export_spec *spec);
/* May the peer, or everyone, import an export of this kind? */
bool importers_have(const struct importers *importers, const char *peer, enum export_via via);
void importers_free(struct importers *importers);

#endif
