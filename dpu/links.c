/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "links.h"

#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "say.h"

struct link {
	struct link *next;
	const void *owner; /* NULL: it is to go */
	struct doca_rdma *rdma;
};

static doca_error_t set_up(const struct links *links, struct doca_rdma *rdma, uint32_t peers)
{
	struct doca_ctx *ctx = doca_rdma_as_ctx(rdma);
	doca_error_t result = doca_pe_connect_ctx(links->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_permissions(rdma, peers);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_ERROR_NOT_CONNECTED : result;
}

static doca_error_t join(struct doca_rdma *rdma, const void *details, size_t len,
			 const void **answer, size_t *answer_len, struct dpumap_fault *fault)
{
	struct doca_rdma_connection *connection;
	doca_error_t result;

	result = doca_rdma_export(rdma, answer, answer_len, &connection);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot make a connection");
	result = doca_rdma_connect(rdma, details, len, connection);
	if (result == DOCA_ERROR_INVALID_VALUE)
		return dpumap_fault_set(fault, result,
					"the connection's details are none, or of another network");
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "cannot connect to where the connection's details say");
	return DOCA_SUCCESS;
}

static bool end(struct doca_rdma *rdma)
{
	doca_error_t result = doca_ctx_stop(doca_rdma_as_ctx(rdma));

	if (result == DOCA_SUCCESS)
		result = doca_rdma_destroy(rdma);
	if (result != DOCA_SUCCESS)
		say("cannot end a connection: %s", doca_error_get_descr(result));
	return result == DOCA_SUCCESS;
}

static doca_error_t make(struct links *links, struct doca_dev *dev, uint32_t peers,
			 struct doca_rdma **rdma, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!links->pe)
		result = doca_pe_create(&links->pe);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(dev, rdma);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot make a connection");
	result = set_up(links, *rdma, peers);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "connections cannot be made now");
	return DOCA_SUCCESS;
}

doca_error_t links_add(struct links *links, struct doca_dev *dev, uint32_t peers, const void *owner,
		       const void *details, size_t len, const void **answer, size_t *answer_len,
		       struct dpumap_fault *fault)
{
	struct link *link = calloc(1, sizeof(*link));
	doca_error_t result;

	if (!link)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	result = make(links, dev, peers, &link->rdma, fault);
	if (result == DOCA_SUCCESS)
		result = join(link->rdma, details, len, answer, answer_len, fault);
	if (result == DOCA_SUCCESS)
		link->owner = owner;
	else if (!link->rdma || end(link->rdma)) {
		free(link);
		return result;
	}
	link->next = links->first;
	links->first = link;
	return result;
}

/* Those that are to go; false when one does not. */
static bool sweep(struct links *links)
{
	struct link **at = &links->first, *link;
	bool all_gone = true;

	while ((link = *at)) {
		if (link->owner || !end(link->rdma)) {
			all_gone = all_gone && link->owner;
			at = &link->next;
			continue;
		}
		*at = link->next;
		free(link);
	}
	return all_gone;
}

void links_drop(struct links *links, const void *owner)
{
	for (struct link *link = links->first; link; link = link->next)
		if (link->owner == owner)
			link->owner = NULL;
	sweep(links);
}

bool links_drop_all(struct links *links)
{
	for (struct link *link = links->first; link; link = link->next)
		link->owner = NULL;
	if (!sweep(links))
		return false;
	if (links->pe)
		doca_pe_destroy(links->pe);
	links->pe = NULL;
	return true;
}
