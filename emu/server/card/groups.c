/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/groups.h"

#include <errno.h>
#include <string.h>

#include "emu/ipc/group.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/segments.h"

static unsigned int ngroups;

static struct emu_member *entry(uint32_t number)
{
	return &emu_queues->member[number];
}

/* The link to the first member of the group's bucket. */
static _Atomic uint32_t *bucket(const uint8_t gid[16])
{
	return &emu_queues->bucket[emu_group_bucket(gid)];
}

static bool is_in(const struct emu_member *m, const uint8_t gid[16])
{
	return !memcmp(m->gid, gid, sizeof(m->gid));
}

static unsigned int count_members(const uint8_t gid[16])
{
	uint32_t i = atomic_load(bucket(gid));
	unsigned int n = 0;

	for (; i; i = atomic_load(&entry(i)->next))
		n += is_in(entry(i), gid);
	return n;
}

/* The link to the membership, or NULL. */
static _Atomic uint32_t *find(uint32_t qpn, const uint8_t gid[16])
{
	_Atomic uint32_t *link = bucket(gid);
	uint32_t i;

	for (; (i = atomic_load(link)); link = &entry(i)->next)
		if (entry(i)->qpn == qpn && is_in(entry(i), gid))
			return link;
	return NULL;
}

static uint32_t find_free(void)
{
	for (uint32_t i = 1; i < EMU_MAX_MEMBERS; i++)
		if (!atomic_load(&entry(i)->serial))
			return i;
	return 0;
}

/* Engines read the bucket meanwhile: the member is complete before a link leads to it. */
static void insert(uint32_t number, uint32_t qpn, const uint8_t gid[16])
{
	struct emu_member *m = entry(number);
	_Atomic uint32_t *link = bucket(gid);
	uint32_t i;

	while ((i = atomic_load(link)) && i < number)
		link = &entry(i)->next;
	m->qpn = qpn;
	memcpy(m->gid, gid, sizeof(m->gid));
	atomic_store(&m->next, i);
	atomic_store(&m->serial, emu_new_serial());
	atomic_store(link, number);
}

static void count(const struct emu_groups_of *of, unsigned int by)
{
	*of->groups += by;
	of->func->count.attachments += by;
	emu_topology.count.attachments += by;
}

int emu_group_attach(const struct emu_groups_of *of, const uint8_t gid[16])
{
	unsigned int members = count_members(gid);
	uint32_t number;

	if (!emu_gid_is_group(gid))
		return -EINVAL;
	if (find(of->qpn, gid))
		return 0;
	if (members >= EMU_GROUP_QPS || (!members && ngroups >= EMU_NUM_GROUPS))
		return -ENOMEM;
	number = find_free();
	if (!number)
		return -ENOMEM;
	insert(number, of->qpn, gid);
	ngroups += !members;
	count(of, 1);
	return 0;
}

/*
 * Take a member out of its bucket. Its serial is cleared only after a grace period, so that the entry is
 * not used again while an engine is at it.
 */
static uint32_t unlink_at(_Atomic uint32_t *link)
{
	uint32_t number = atomic_load(link);

	atomic_store(link, atomic_load(&entry(number)->next));
	ngroups -= !count_members(entry(number)->gid);
	return number;
}

int emu_group_detach(const struct emu_groups_of *of, const uint8_t gid[16])
{
	_Atomic uint32_t *link = find(of->qpn, gid);
	uint32_t number;

	if (!link)
		return -EINVAL;
	number = unlink_at(link);
	emu_grace();
	atomic_store(&entry(number)->serial, 0);
	count(of, -1u);
	return 0;
}

void emu_group_leave(const struct emu_groups_of *of)
{
	static uint32_t gone[EMU_NUM_MEMBERS];
	_Atomic uint32_t *link;
	unsigned int n = 0, b;
	uint32_t i;

	if (!*of->groups)
		return;
	for (b = 0; b < EMU_MEMBER_BUCKETS; b++)
		for (link = &emu_queues->bucket[b]; (i = atomic_load(link));) {
			if (entry(i)->qpn == of->qpn)
				gone[n++] = unlink_at(link);
			else
				link = &entry(i)->next;
		}
	emu_grace();
	while (n)
		atomic_store(&entry(gone[--n])->serial, 0);
	count(of, -*of->groups);
}
