/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages of the virtual machine that the driver gives to the firmware. A card keeps its objects there. The emulated one
 * has memory of its own, so it counts the pages and never accesses them: it asks for some as a card does, and returns
 * them.
 *
 * PRM, "Memory Management"; Linux, drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/ipc/bytes.h"
#include "emu/prm/prm_eqe.h"
#include "emu/prm/prm_hca.h"
#include "emu/server/firmware/driver.h"

#define BOOT_PAGES    16u
#define INIT_PAGES    48u
#define PAGE_OBJECTS  16u /* for which there is room in a page */
#define STEP	      64u /* pages that it asks for, or returns, at once */
#define MAX_PAGES     8192u
#define MAX_TAKEN     ((EMU_MBOX_OUT - EMU_MANAGE_PAGES_OUT_BYTES) / 8u) /* by a command */
#define PAGE_MASK     0xfffull
#define ADDRESS_BYTES 8u

static uint32_t needed_by(uint32_t objects)
{
	return BOOT_PAGES + INIT_PAGES + objects / PAGE_OBJECTS;
}

static uint32_t needed(const struct emu_driver *d)
{
	return needed_by(d->objects);
}

bool emu_driver_pages_suffice(const struct emu_driver *d)
{
	return d->pages.n >= needed(d);
}

/* Fewer than 0: that many can be taken. False: the driver does not listen. */
static bool ask(struct emu_driver *d, int32_t npages)
{
	const uint32_t eqn = emu_driver_eqn(d, EMU_EVENT_TYPE_PAGE_REQUEST);
	uint8_t eqe[EMU_EQE_BYTES] = {0};

	if (!eqn)
		return false;
	emu_prm_set(eqe, EMU_EQE_PAGES_NUM_PAGES, (uint32_t)npages);
	emu_driver_send(d, eqn, EMU_EVENT_TYPE_PAGE_REQUEST, eqe);
	d->pages.asked = npages;
	return true;
}

int emu_driver_pages_reserve(struct emu_driver *d, struct emu_mbox *m)
{
	const bool refused = d->pages.refused;

	d->pages.refused = false;
	if (d->pages.n >= needed_by(d->objects + 1))
		return 0;
	if (refused || (d->pages.asked <= 0 && !ask(d, STEP)))
		return emu_refuse(m, EMU_CMD_SYN_PAGES_NONE);
	return -EINPROGRESS;
}

void emu_driver_pages_return(struct emu_driver *d)
{
	if (!d->pages.asked && d->pages.n >= needed(d) + 2 * STEP)
		ask(d, -(int32_t)STEP);
}

void emu_driver_pages_forget(struct emu_driver *d)
{
	free(d->pages.address);
	memset(&d->pages, 0, sizeof(d->pages));
}

/* --- QUERY_PAGES ------------------------------------------------------------------------------ */

/* Only a function whose driver has enabled it has pages, and only its own. */
static int check(const struct emu_driver *d, struct emu_mbox *m)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_MANAGE_PAGES_IN);

	if (d->state == EMU_DRIVER_DISABLED)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_STATE);
	if (!EMU_PRM_IS_ZERO(m->in, reserved) ||
	    emu_prm_get(m->in, EMU_MANAGE_PAGES_IN_FUNCTION_ID) ||
	    emu_prm_get(m->in, EMU_MANAGE_PAGES_IN_EMBEDDED_CPU_FUNCTION))
		return emu_refuse(m, EMU_CMD_SYN_PAGES_FUNCTION);
	return 0;
}

/* For BOOT and INIT, pages that the driver has given already count. */
static uint32_t missing(const struct emu_driver *d, uint16_t op_mod)
{
	const uint32_t wanted = op_mod == EMU_PAGES_BOOT ? BOOT_PAGES : needed(d);

	return op_mod != EMU_PAGES_REGULAR && d->pages.n >= wanted ? 0 : wanted - d->pages.n;
}

int emu_driver_query_pages(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_driver *d = c->file->driver;
	int err = check(d, m);

	(void)o;
	if (err)
		return err;
	if (m->out_len < EMU_QUERY_PAGES_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OUT_LEN);
	if (m->op_mod < EMU_PAGES_BOOT || m->op_mod > EMU_PAGES_REGULAR)
		return emu_refuse(m, EMU_CMD_SYN_PAGES_OP_MOD);
	emu_prm_set(m->out, EMU_QUERY_PAGES_OUT_NUM_PAGES, missing(d, m->op_mod));
	return 0;
}

/* --- MANAGE_PAGES ----------------------------------------------------------------------------- */

static bool has(const struct emu_driver *d, uint64_t address)
{
	uint32_t i = 0;

	while (i < d->pages.n && d->pages.address[i] != address)
		i++;
	return i < d->pages.n;
}

static bool make_room(struct emu_driver *d, uint32_t n)
{
	uint64_t *address;

	if (d->pages.n + n <= d->pages.room)
		return true;
	address = realloc(d->pages.address, (d->pages.n + n) * sizeof(*address));
	if (!address)
		return false;
	d->pages.address = address;
	d->pages.room = d->pages.n + n;
	return true;
}

/* All of the pages or none. */
static int give(struct emu_driver *d, struct emu_mbox *m, uint32_t n)
{
	const uint8_t *list = m->in + EMU_MANAGE_PAGES_IN_BYTES;
	const uint32_t before = d->pages.n;

	if ((m->in_len - EMU_MANAGE_PAGES_IN_BYTES) / ADDRESS_BYTES < n)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_IN_LEN);
	if (n > MAX_PAGES - d->pages.n || !make_room(d, n))
		return emu_refuse(m, EMU_CMD_SYN_PAGES_LIMIT);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t address = emu_get64(list + (size_t)i * ADDRESS_BYTES);

		if (!address || address & PAGE_MASK || has(d, address)) {
			d->pages.n = before;
			return emu_refuse(m, EMU_CMD_SYN_PAGES_ADDRESS);
		}
		d->pages.address[d->pages.n++] = address;
	}
	return 0;
}

/* It returns what it does not need, up to the number and to the length of an answer; after TEARDOWN_HCA that is all. */
static int take(struct emu_driver *d, struct emu_mbox *m, uint32_t n)
{
	const uint32_t kept = d->state == EMU_DRIVER_INITIALIZED ? needed(d) : 0;
	const uint32_t surplus = d->pages.n > kept ? d->pages.n - kept : 0;
	uint8_t *list = m->out + EMU_MANAGE_PAGES_OUT_BYTES;

	if (m->out_len < EMU_MANAGE_PAGES_OUT_BYTES ||
	    (m->out_len - EMU_MANAGE_PAGES_OUT_BYTES) / ADDRESS_BYTES < n)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OUT_LEN);
	if (n > surplus)
		n = surplus;
	if (n > MAX_TAKEN)
		n = MAX_TAKEN;
	for (uint32_t i = 0; i < n; i++)
		emu_put64(list + (size_t)i * ADDRESS_BYTES, d->pages.address[--d->pages.n]);
	emu_prm_set(m->out, EMU_MANAGE_PAGES_OUT_NUM_ENTRIES, n);
	return 0;
}

static int manage(struct emu_driver *d, struct emu_mbox *m)
{
	const uint32_t n = (uint32_t)emu_prm_get(m->in, EMU_MANAGE_PAGES_IN_NUM_ENTRIES);

	switch (m->op_mod) {
	case EMU_PAGES_CANT_GIVE:
		return n ? emu_refuse(m, EMU_CMD_SYN_PAGES_FUNCTION) : 0;
	case EMU_PAGES_GIVE:
		return give(d, m, n);
	case EMU_PAGES_TAKE:
		return take(d, m, n);
	default:
		return emu_refuse(m, EMU_CMD_SYN_PAGES_OP_MOD);
	}
}

/* What a driver cannot give is refused to the creation that asked. */
static void answered(struct emu_driver *d, uint16_t op_mod)
{
	const bool gives = op_mod != EMU_PAGES_TAKE;

	if (!d->pages.asked || gives != (d->pages.asked > 0))
		return;
	d->pages.asked = 0;
	d->pages.refused = op_mod == EMU_PAGES_CANT_GIVE;
}

int emu_driver_manage_pages(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_driver *d = c->file->driver;
	int err = check(d, m);

	(void)o;
	if (!err)
		err = manage(d, m);
	if (!err)
		answered(d, m->op_mod);
	return err;
}
