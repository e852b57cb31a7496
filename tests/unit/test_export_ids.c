/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of ids against an array of all exports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dpu/exports/export_ids.h"

#define NUM   500u
#define STEPS 100000u

struct named_export {
	uint64_t id;
	bool is_there;
};

uint64_t export_id(const struct named_export *export)
{
	return export->id;
}

static void check(const struct export_ids *ids, struct named_export *all)
{
	for (size_t i = 0; i < NUM; i++)
		assert_ptr_equal(export_ids_find(ids, all[i].id), all[i].is_there ? &all[i] : NULL);
}

static void empty_table_finds_nothing(void **state)
{
	const struct export_ids ids = {0};

	assert_null(export_ids_find(&ids, 1));
}

/* The table is about half full, so ids collide. */
static void random_changes_keep_the_table_exact(void **state)
{
	static struct named_export all[NUM];
	struct dpumap_error error = {0};
	struct export_ids ids = {0};
	unsigned short seed[3] = {1};
	size_t num = 0;

	for (size_t i = 0; i < NUM; i++)
		all[i].id = i + 1;
	for (size_t step = 0; step < STEPS; step++) {
		struct named_export *export = &all[(size_t)nrand48(seed) % NUM];

		if (export->is_there) {
			export_ids_remove(&ids, export);
			num--;
		} else {
			assert_int_equal(export_ids_reserve(&ids, ++num, &error), DOCA_SUCCESS);
			export_ids_add(&ids, export);
		}
		export->is_there = !export->is_there;
		if (step % 97 == 0)
			check(&ids, all);
	}
	check(&ids, all);
	export_ids_free(&ids);
}

static void removing_an_absent_export_changes_nothing(void **state)
{
	struct named_export there = {.id = 7, .is_there = true}, absent = {.id = 8};
	struct dpumap_error error = {0};
	struct export_ids ids = {0};

	assert_int_equal(export_ids_reserve(&ids, 2, &error), DOCA_SUCCESS);
	export_ids_add(&ids, &there);
	export_ids_remove(&ids, &absent);
	assert_ptr_equal(export_ids_find(&ids, 7), &there);
	export_ids_free(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_table_finds_nothing),
		cmocka_unit_test(random_changes_keep_the_table_exact),
		cmocka_unit_test(removing_an_absent_export_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
