/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/tickets.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>

#include "base/clock.h"

static void end(struct ticket *ticket)
{
	explicit_bzero(ticket, sizeof(*ticket));
}

doca_error_t tickets_issue(struct tickets *tickets, uint64_t export, uint64_t now,
			   const uint8_t **bytes, struct dpumap_error *error)
{
	struct ticket *ticket = tickets->list;

	while (ticket < tickets->list + TICKETS_MAX && ticket->end > now)
		ticket++;
	if (ticket == tickets->list + TICKETS_MAX)
		return dpumap_error_set(error, DOCA_ERROR_FULL,
					"the client has %d unused tickets for RDMA connections: "
					"connect with them, or wait %d seconds",
					TICKETS_MAX, TICKET_SECONDS);
	if (getrandom(ticket->bytes, sizeof(ticket->bytes), 0) != sizeof(ticket->bytes))
		return dpumap_error_errno(error, errno, "cannot make a ticket");
	ticket->export = export;
	ticket->end = now + TICKET_SECONDS * NSEC_PER_SEC;
	*bytes = ticket->bytes;
	return DOCA_SUCCESS;
}

bool tickets_redeem(struct tickets *tickets, const uint8_t bytes[static DPUMAP_TICKET_LEN],
		    uint64_t now, uint64_t *export)
{
	struct ticket *found = NULL;

	for (int i = 0; i < TICKETS_MAX; i++) {
		struct ticket *ticket = &tickets->list[i];
		bool is_equal = CRYPTO_memcmp(ticket->bytes, bytes, sizeof(ticket->bytes)) == 0;

		if (is_equal && ticket->end > now)
			found = ticket;
	}
	if (!found)
		return false;
	*export = found->export;
	end(found);
	return true;
}

void tickets_forget(struct tickets *tickets, uint64_t export)
{
	for (int i = 0; i < TICKETS_MAX; i++)
		if (tickets->list[i].export == export)
			end(&tickets->list[i]);
}
