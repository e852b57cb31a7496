/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tickets of one client: random numbers with which it connects over RDMA by address. Each one
 * permits one connection to one export, within TICKET_SECONDS.
 */
#ifndef DPUMAPD_TICKETS_H
#define DPUMAPD_TICKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/message.h"
#include "local/error.h"

#define TICKETS_MAX    4
#define TICKET_SECONDS 30

struct ticket {
	uint64_t end; /* when it expires; 0: none */
	uint64_t export;
	uint8_t bytes[DPUMAP_TICKET_LEN];
};

/* All zero: none. */
struct tickets {
	struct ticket list[TICKETS_MAX];
};

/* FULL: the client did not use its last ones. *bytes is valid until the ticket ends. */
doca_error_t tickets_issue(struct tickets *tickets, uint64_t export, uint64_t now,
			   const uint8_t **bytes, struct dpumap_error *error);
/*
 * Ends the ticket; false if it is not one of these, or has expired. The time does not depend on the
 * bytes.
 */
bool tickets_redeem(struct tickets *tickets, const uint8_t bytes[static DPUMAP_TICKET_LEN],
		    uint64_t now, uint64_t *export);
/* Ends the tickets of the export. */
void tickets_forget(struct tickets *tickets, uint64_t export);

#endif
