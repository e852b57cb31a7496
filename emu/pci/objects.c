/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/objects.h"

#include <stdlib.h>

#include "base/array.h"
#include "emu/ipc/codes.h"
#include "emu/prm/prm_cmd.h"

#define NO_UMEM 0xffffffffu /* numbers begin at 1, and do not come so far */

struct emu_object {
	LIST_ENTRY(emu_object) link;
	uint16_t destroy; /* the opcode that ends it */
	uint32_t number;
	uint16_t uid; /* of the user context that created it */
	struct emu_pages pages;
};

static const struct {
	uint16_t create, destroy;
} pairs[] = {
	{EMU_CMD_CREATE_UMEM, EMU_CMD_DESTROY_UMEM},
	{EMU_CMD_CREATE_MKEY, EMU_CMD_DESTROY_MKEY},
	{EMU_CMD_CREATE_EQ, EMU_CMD_DESTROY_EQ},
	{EMU_CMD_CREATE_CQ, EMU_CMD_DESTROY_CQ},
	{EMU_CMD_CREATE_QP, EMU_CMD_DESTROY_QP},
	{EMU_CMD_CREATE_SQ, EMU_CMD_DESTROY_SQ},
	{EMU_CMD_CREATE_RMP, EMU_CMD_DESTROY_RMP},
	{EMU_CMD_CREATE_XRC_SRQ, EMU_CMD_DESTROY_XRC_SRQ},
};

/* The number of the object that a command is about. */
static uint32_t named(const uint8_t *in)
{
	return (uint32_t)emu_prm_get(in, EMU_OBJECT_IN_NUMBER);
}

static struct emu_object_list *bucket_of(struct emu_objects *objects, uint32_t number)
{
	return &objects->bucket[number % EMU_OBJECT_BUCKETS];
}

static void add(struct emu_objects *objects, uint16_t destroy, uint32_t number, const uint8_t *in,
		struct emu_pages *pages)
{
	struct emu_object *o = calloc(1, sizeof(*o));

	if (!o) {
		emu_pages_release(&objects->of, pages);
		return;
	}
	o->destroy = destroy;
	o->number = number;
	o->uid = (uint16_t)emu_prm_get(in, EMU_CMD_IN_UID);
	o->pages = *pages;
	LIST_INSERT_HEAD(bucket_of(objects, number), o, link);
}

void emu_objects_created(struct emu_objects *objects, const uint8_t *in, const uint8_t *out,
			 struct emu_pages *pages)
{
	const uint64_t opcode = emu_prm_get(in, EMU_CMD_IN_OPCODE);
	size_t i = 0;

	if (!pages->view)
		return;
	while (i < ARRAY_SIZE(pairs) && pairs[i].create != opcode)
		i++;
	if (i < ARRAY_SIZE(pairs))
		add(objects, pairs[i].destroy, (uint32_t)emu_prm_get(out, EMU_CMD_OUT_NUMBER), in,
		    pages);
	else
		emu_pages_release(&objects->of, pages);
}

static void release(struct emu_object *o, const struct emu_pages_of *of)
{
	LIST_REMOVE(o, link);
	emu_pages_release(of, &o->pages);
	free(o);
}

/* The object of a number, which the opcode destroys; or NULL. */
static struct emu_object *find(struct emu_objects *objects, uint64_t opcode, uint32_t number)
{
	for (struct emu_object *o = LIST_FIRST(bucket_of(objects, number)); o;
	     o = LIST_NEXT(o, link))
		if (o->destroy == opcode && o->number == number)
			return o;
	return NULL;
}

void emu_objects_destroyed(struct emu_objects *objects, const uint8_t *in)
{
	struct emu_object *o = find(objects, emu_prm_get(in, EMU_CMD_IN_OPCODE), named(in));

	if (o)
		release(o, &objects->of);
}

void emu_objects_resized(struct emu_objects *objects, const uint8_t *in, struct emu_pages *pages)
{
	struct emu_object *o = find(objects, EMU_CMD_DESTROY_CQ, named(in));

	if (!pages->view)
		return;
	if (o)
		release(o, &objects->of);
	add(objects, EMU_CMD_DESTROY_CQ, named(in), in, pages);
}

/* --- umems, which are this process's ---------------------------------------------------------- */

static uint8_t create_umem(struct emu_objects *objects, const uint8_t *in, size_t in_len,
			   uint8_t *out)
{
	struct emu_pages pages;

	if (emu_pages_create_umem(&objects->of, in, in_len, &pages))
		return EMU_STATUS_BAD_PARAM;
	emu_prm_set(out, EMU_CMD_OUT_NUMBER, pages.umem);
	emu_objects_created(objects, in, out, &pages);
	return 0;
}

/* NULL: none, or another user context's. */
static struct emu_object *find_umem(struct emu_objects *objects, const uint8_t *in, uint64_t umem)
{
	struct emu_object *o = find(objects, EMU_CMD_DESTROY_UMEM, (uint32_t)umem);
	const uint64_t uid = emu_prm_get(in, EMU_CMD_IN_UID);

	return o && (!uid || o->uid == uid) ? o : NULL;
}

void emu_objects_hide_umems(struct emu_objects *objects, uint8_t *in, size_t in_len)
{
	int fields[EMU_NAMED_UMEMS];
	size_t n = emu_pages_umems(in, in_len, fields);

	for (size_t i = 0; i < n; i++)
		if (!find_umem(objects, in, emu_prm_get(in, fields[i])))
			emu_prm_set(in, fields[i], NO_UMEM);
}

static uint8_t destroy_umem(struct emu_objects *objects, const uint8_t *in)
{
	struct emu_object *o = find_umem(objects, in, named(in));

	if (!o)
		return EMU_STATUS_BAD_RES;
	if (!emu_pages_release_umem(&objects->of, &o->pages))
		return EMU_STATUS_RES_BUSY;
	LIST_REMOVE(o, link);
	free(o);
	return 0;
}

bool emu_objects_umem(struct emu_objects *objects, const uint8_t *in, size_t in_len, uint8_t *out)
{
	uint8_t status;

	switch (emu_prm_get(in, EMU_CMD_IN_OPCODE)) {
	case EMU_CMD_CREATE_UMEM:
		status = create_umem(objects, in, in_len, out);
		break;
	case EMU_CMD_DESTROY_UMEM:
		status = destroy_umem(objects, in);
		break;
	default:
		return false;
	}
	emu_prm_set(out, EMU_CMD_OUT_STATUS, status);
	return true;
}

void emu_objects_release_all(struct emu_objects *objects)
{
	struct emu_object *next;

	for (size_t i = 0; i < EMU_OBJECT_BUCKETS; i++) {
		for (struct emu_object *o = LIST_FIRST(&objects->bucket[i]); o; o = next) {
			next = LIST_NEXT(o, link);
			release(o, &objects->of);
		}
	}
}
