/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/ready.h"

#include "core/pe/pe.h"

doca_error_t dpumap_comch_ready_init(struct comch_owner *owner)
{
	return pthread_mutex_init(&owner->ready_lock, NULL) ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

void dpumap_comch_ready_destroy(struct comch_owner *owner)
{
	pthread_mutex_destroy(&owner->ready_lock);
}

void dpumap_comch_ready_add(struct doca_comch_connection *c)
{
	struct comch_owner *owner = c->owner;

	if (!owner)
		return;
	pthread_mutex_lock(&owner->ready_lock);
	if (!c->is_ready) {
		c->is_ready = true;
		c->next_ready = NULL;
		if (owner->first_ready)
			owner->last_ready->next_ready = c;
		else
			owner->first_ready = c;
		owner->last_ready = c;
		owner->num_ready++;
	}
	pthread_mutex_unlock(&owner->ready_lock);
	dpumap_pe_wake(owner->ctx->pe);
}

struct doca_comch_connection *dpumap_comch_ready_take(struct comch_owner *owner)
{
	struct doca_comch_connection *c;

	pthread_mutex_lock(&owner->ready_lock);
	c = owner->first_ready;
	if (c) {
		owner->first_ready = c->next_ready;
		c->is_ready = false;
		owner->num_ready--;
	}
	pthread_mutex_unlock(&owner->ready_lock);
	return c;
}

void dpumap_comch_ready_forget(struct comch_owner *owner, struct doca_comch_connection *c)
{
	struct doca_comch_connection **at = &owner->first_ready, *before = NULL;

	pthread_mutex_lock(&owner->ready_lock);
	if (c->is_ready) {
		while (*at != c) {
			before = *at;
			at = &before->next_ready;
		}
		*at = c->next_ready;
		if (owner->last_ready == c)
			owner->last_ready = before;
		c->is_ready = false;
		owner->num_ready--;
	}
	pthread_mutex_unlock(&owner->ready_lock);
}
