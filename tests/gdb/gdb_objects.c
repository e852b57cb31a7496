/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Objects in a known state, for test-gdb.sh: it stops in at_rest(). */
#include <dpumap/desc.h>

#include "tasks.h"

#define LEN 8192

static uint8_t memory[LEN];
static struct doca_mmap *exported;
static struct dpumap_desc described;

__attribute__((noinline)) static void at_rest(void)
{
	__asm__ volatile("" ::: "memory");
}

static void export_memory(void)
{
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_create(&exported));
	assert_ok(doca_mmap_set_memrange(exported, memory, LEN));
	assert_ok(doca_mmap_set_permissions(exported, PCI_RW));
	assert_ok(doca_mmap_add_dev(exported, tasks.dev));
	assert_ok(doca_mmap_start(exported));
	assert_ok(doca_mmap_export_pci(exported, tasks.dev, &desc, &len));
	assert_int_equal(dpumap_desc_decode(desc, len, &described), DPUMAP_DESC_OK);
}

/* Three tasks: the queue has posted and completed as many work requests. */
static void objects_are_at_rest(void **state)
{
	struct doca_buf *src, *dst;

	export_memory();
	tasks_start();
	for (unsigned int i = 0; i < 3; i++) {
		src = tasks_source(0, LEN);
		dst = tasks_room(0, LEN);
		tasks_submit(tasks_alloc(src, dst, i));
		tasks_wait(i + 1);
		tasks_drop(dst);
		tasks_drop(src);
	}
	at_rest();
	tasks_stop();
	dpumap_desc_wipe(&described);
	assert_ok(doca_mmap_destroy(exported));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {task_test(objects_are_at_rest)};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
