/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The objects of a file: handles, and finding those of one type without looking at the others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/server/card/topology.h"
#include "emu/server/uverbs/file.h"
#include "emu/server/uverbs/subscription.h"
#include "emu/server/uverbs/uobj.h"

#define OBJECTS 100u /* of each of two types; the table of handles grows several times */

struct emu_topology emu_topology;

static struct emu_profile profile = {.max_pd = UINT32_MAX, .max_mr = UINT32_MAX};
static struct emu_card card = {.profile = &profile};
static struct emu_func func = {.card = &card};

void emu_unsubscribe(const struct emu_uobj *o)
{
	(void)o;
}

static struct emu_uobj *create(struct emu_file *f, enum emu_type type)
{
	struct emu_uobj *o = emu_uobj_new(f, type, sizeof(*o), NULL);

	assert_non_null(o);
	assert_ptr_equal(emu_uobj_get(f, o->handle, type), o);
	return o;
}

/* Those in `left` are found, the newest first, and no other. */
static void expect_in_order(const struct emu_file *f, enum emu_type type,
			    struct emu_uobj *const left[OBJECTS])
{
	const struct emu_uobj *o = NULL;

	for (size_t i = OBJECTS; i > 0; i--) {
		if (!left[i - 1])
			continue;
		o = emu_uobj_next(f, type, o);
		assert_ptr_equal(o, left[i - 1]);
	}
	assert_null(emu_uobj_next(f, type, o));
}

static void destroy(struct emu_uobj **o)
{
	assert_int_equal(emu_uobj_destroy(*o), 0);
	*o = NULL;
}

static void those_of_a_type_are_found(void **state)
{
	struct emu_uobj *pd[OBJECTS], *mr[OBJECTS];
	struct emu_file f = {.func = &func};

	for (size_t i = 0; i < OBJECTS; i++) {
		pd[i] = create(&f, EMU_T_PD);
		mr[i] = create(&f, EMU_T_MR);
	}
	assert_null(emu_uobj_next(&f, EMU_T_MW, NULL));
	destroy(&mr[0]);
	destroy(&mr[OBJECTS / 2]);
	destroy(&mr[OBJECTS - 1]);
	expect_in_order(&f, EMU_T_MR, mr);
	expect_in_order(&f, EMU_T_PD, pd);
	mr[OBJECTS - 1] = create(&f, EMU_T_MR);
	expect_in_order(&f, EMU_T_MR, mr);
	emu_uobj_destroy_all(&f);
	assert_null(emu_uobj_next(&f, EMU_T_PD, NULL));
	assert_int_equal(func.count.pds, 0);
	assert_int_equal(func.count.mrs, 0);
}

/* Every handle below `nobjs` is used once, also after some were freed. */
static void handles_are_used_again(void **state)
{
	struct emu_uobj *mr[OBJECTS];
	struct emu_file f = {.func = &func};
	unsigned int room;

	for (size_t i = 0; i < OBJECTS; i++)
		mr[i] = create(&f, EMU_T_MR);
	room = f.nobjs;
	for (size_t i = 0; i < OBJECTS; i += 3)
		destroy(&mr[i]);
	for (size_t i = 0; i < OBJECTS; i += 3)
		mr[i] = create(&f, EMU_T_MR);
	for (unsigned int n = OBJECTS; n < room; n++)
		create(&f, EMU_T_MR);
	assert_int_equal(f.nobjs, room);
	for (unsigned int h = 0; h < room; h++)
		assert_int_equal(f.objs[h]->handle, h);
	for (size_t i = 0; i < OBJECTS; i++)
		assert_ptr_equal(emu_uobj_get(&f, mr[i]->handle, EMU_T_MR), mr[i]);
	emu_uobj_destroy_all(&f);
}

static struct emu_uobj *used;

static int stop_using(struct emu_uobj *o)
{
	(void)o;
	used->users--;
	return 0;
}

/* What uses an object is destroyed before it, and the file can be used again. */
static void all_are_destroyed(void **state)
{
	struct emu_file f = {.func = &func};

	used = create(&f, EMU_T_PD);
	assert_non_null(emu_uobj_new(&f, EMU_T_MR, sizeof(*used), stop_using));
	used->users = 1;
	assert_int_equal(emu_uobj_destroy(used), -EBUSY);
	emu_uobj_destroy_all(&f);
	assert_int_equal(func.count.pds + func.count.mrs, 0);
	used = create(&f, EMU_T_PD);
	assert_ptr_equal(emu_uobj_next(&f, EMU_T_PD, NULL), used);
	emu_uobj_destroy_all(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_a_type_are_found),
		cmocka_unit_test(handles_are_used_again),
		cmocka_unit_test(all_are_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
