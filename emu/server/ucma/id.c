/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/id.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "emu/server/card/gid.h"
#include "emu/server/ucma/address.h"
#include "emu/server/ucma/event.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/ports.h"

#define UDP_QKEY   0x01234567u /* RDMA_UDP_QKEY */
#define IPOIB_QKEY 0x0b1bu     /* of the broadcast group, if the subnet manager sets no other */
#define PSN_MASK   0xffffffu

/* A table of numbers: the lowest free one is the next. */
struct numbers {
	void **at;
	uint32_t size;
	uint32_t lowest; /* all lower ones are in use */
};

static struct numbers ids, groups;

static int number_new(struct numbers *t, void *what, uint32_t *number)
{
	uint32_t n = t->lowest, size = t->size ? 2 * t->size : 64;
	void **more;

	while (n < t->size && t->at[n])
		n++;
	if (n == t->size) {
		more = realloc(t->at, size * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + t->size, 0, (size - t->size) * sizeof(*more));
		t->at = more;
		t->size = size;
	}
	t->at[n] = what;
	t->lowest = n + 1;
	*number = n;
	return 0;
}

static void number_free(struct numbers *t, uint32_t n)
{
	t->at[n] = NULL;
	if (n < t->lowest)
		t->lowest = n;
}

static uint32_t random_psn(void)
{
	uint32_t v = 0;

	return getrandom(&v, sizeof(v), GRND_NONBLOCK) == sizeof(v) ? v & PSN_MASK : 1;
}

struct emu_cma_id *emu_cma_id_new(struct emu_cma_file *f, uint16_t ps, uint8_t qp_type)
{
	struct emu_cma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	if (number_new(&ids, id, &id->number)) {
		free(id);
		return NULL;
	}
	id->file = f;
	id->machine = f->machine;
	id->ps = ps;
	id->qp_type = qp_type;
	id->psn = random_psn();
	id->reported = true;
	id->next = f->ids;
	f->ids = id;
	return id;
}

static void unlink_id(const struct emu_cma_id *id)
{
	struct emu_cma_id **link = &id->file->ids;

	while (*link != id)
		link = &(*link)->next;
	*link = id->next;
}

/* A group that is in no list any more. */
static uint32_t release_group(struct emu_cma_group *g)
{
	uint32_t reported = g->events_reported;

	emu_cma_events_forget_group(g);
	number_free(&groups, g->number);
	free(g);
	return reported;
}

uint32_t emu_cma_id_destroy(struct emu_cma_id *id)
{
	uint32_t reported;

	if (id->conn)
		emu_cm_conn_destroy(id->conn);
	id->conn = NULL;
	while (id->groups) {
		struct emu_cma_group *g = id->groups;

		id->groups = g->next;
		release_group(g);
	}
	emu_cma_port_release(id);
	emu_cma_events_forget(id);
	reported = id->events_reported;
	unlink_id(id);
	number_free(&ids, id->number);
	free(id);
	return reported;
}

int emu_cma_id_get(struct emu_cma_file *f, uint32_t number, struct emu_cma_id **id)
{
	struct emu_cma_id *found = number < ids.size ? ids.at[number] : NULL;

	if (!found || !found->reported || found->machine != f->machine)
		return -ENOENT;
	*id = found;
	return found->file == f ? 0 : -EINVAL;
}

int emu_cma_id_get_dev(struct emu_cma_file *f, uint32_t number, struct emu_cma_id **id)
{
	int err = emu_cma_id_get(f, number, id);

	if (err)
		return err;
	if ((*id)->state == EMU_CMA_REMOVED)
		return -EIO;
	return (*id)->func ? 0 : -EINVAL;
}

void emu_cma_id_move(struct emu_cma_id *id, struct emu_cma_file *to)
{
	struct emu_cma_file *from = id->file;
	struct emu_cma_event **link = &from->events;
	struct emu_cma_event *e;

	if (from == to)
		return;
	unlink_id(id);
	id->next = to->ids;
	to->ids = id;
	id->file = to;
	while (*link) {
		if ((*link)->id != id) {
			link = &(*link)->next;
			continue;
		}
		e = emu_cma_unqueue(from, link);
		emu_cma_queue(to, e);
		if (e->fresh)
			emu_cma_id_move(e->fresh, to);
	}
}

/* --- groups ----------------------------------------------------------------------------------- */

struct emu_cma_group *emu_cma_group_new(struct emu_cma_id *id)
{
	struct emu_cma_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	if (number_new(&groups, g, &g->number)) {
		free(g);
		return NULL;
	}
	g->id = id;
	g->next = id->groups;
	id->groups = g;
	return g;
}

uint32_t emu_cma_group_destroy(struct emu_cma_group *g)
{
	struct emu_cma_group **link = &g->id->groups;

	while (*link != g)
		link = &(*link)->next;
	*link = g->next;
	return release_group(g);
}

int emu_cma_group_get(const struct emu_cma_file *f, uint32_t number, struct emu_cma_group **g)
{
	struct emu_cma_group *found = number < groups.size ? groups.at[number] : NULL;

	if (!found || found->id->machine != f->machine)
		return -ENOENT;
	*g = found;
	return found->id->file == f ? 0 : -EINVAL;
}

/* --- properties ------------------------------------------------------------------------------- */

unsigned int emu_cma_sgid_index(const struct emu_cm_path *path)
{
	int index = emu_gid_find(path->port, path->sgid, EMU_GID_ROCE_V2, EMU_ANY_VLAN);

	if (index < 0)
		index = emu_gid_find(path->port, path->sgid, EMU_GID_ANY, EMU_ANY_VLAN);
	return index < 0 ? 0 : (unsigned int)index;
}

uint64_t emu_cma_service_id(const struct emu_cma_id *id, const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_IB)
		return be64toh(((const struct emu_sockaddr_ib *)addr)->sib_sid);
	return ((uint64_t)id->ps << 16) + emu_addr_port(addr);
}

uint32_t emu_cma_qkey(struct emu_cma_id *id)
{
	if (!id->qkey)
		id->qkey = id->ps == RDMA_PS_IPOIB ? IPOIB_QKEY : UDP_QKEY;
	return id->qkey;
}
