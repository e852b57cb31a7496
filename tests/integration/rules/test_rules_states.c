/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every operation on a map in each of its states: one table, one test for each of its cells. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "rules.h"

/* The rules name this function; CMocka 2 has a macro with its name. */
#undef stop

enum outcome { OK, BAD_STATE, NOT_PERMITTED, REFUSED };

/* The end of the test's name, and the error. For REFUSED, the sources allow two errors. */
static const struct {
	const char *name;
	doca_error_t error;
	doca_error_t alternative;
} outcomes[] = {
	[OK] = {"succeeds", DOCA_SUCCESS, DOCA_SUCCESS},
	[BAD_STATE] = {"is_bad_state", DOCA_ERROR_BAD_STATE, DOCA_ERROR_BAD_STATE},
	[NOT_PERMITTED] = {"is_not_permitted", DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_NOT_PERMITTED},
	[REFUSED] = {"is_refused", DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_BAD_STATE},
};

static const char *const states[RULES_STATES] = {"new", "started", "exported", "stopped",
						 "imported"};

struct cell;
typedef void operation(const struct cell *cell, struct doca_mmap *mmap);

struct cell {
	char name[64];
	operation *run;
	enum rules_state state;
	enum outcome wanted;
};

static void assert_outcome(const struct cell *cell, doca_error_t result)
{
	assert_either(result, outcomes[cell->wanted].error, outcomes[cell->wanted].alternative);
}

static void set_every_range(const struct cell *cell, struct doca_mmap *mmap)
{
	struct doca_dpa *dpa = (void *)rules.memory; /* never dereferenced */
	int fd = memfd_create("range", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_outcome(cell, doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_outcome(cell, doca_mmap_set_dmabuf_memrange(mmap, fd, rules.memory, 0, RULES_LEN));
	assert_outcome(cell, doca_mmap_set_dpa_memrange(mmap, dpa, 4096, RULES_LEN));
	close(fd);
}

/* A range can be set once. */
static void set_memrange(const struct cell *cell, struct doca_mmap *mmap)
{
	static const struct cell again = {.wanted = NOT_PERMITTED};

	if (cell->state == NEW) {
		mmap = rules_blank();
		assert_outcome(cell, doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
		cell = &again;
	}
	set_every_range(cell, mmap);
}

static void set_permissions(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_set_permissions(mmap, LOCAL_RW));
}

static void set_user_data(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_set_user_data(mmap, (union doca_data){.u64 = 5}));
}

static void set_free_cb(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_set_free_cb(mmap, NULL, NULL));
}

static void set_max_num_devices(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_set_max_num_devices(mmap, 4));
}

static void add_dev(const struct cell *cell, struct doca_mmap *mmap)
{
	if (!rules.second) /* on hardware, there may be one device only */
		skip();
	assert_outcome(cell, doca_mmap_add_dev(mmap, rules.second));
}

static void rm_dev(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_rm_dev(mmap, rules.fixture.dev));
}

static void enable_thread_safety(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_enable_thread_safety(mmap));
}

static void start(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_start(mmap));
}

static void stop(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_stop(mmap));
}

static void export_pci(const struct cell *cell, struct doca_mmap *mmap)
{
	struct rules_blob blob;

	assert_outcome(cell, doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len));
}

static void export_rdma(const struct cell *cell, struct doca_mmap *mmap)
{
	struct rules_blob blob;

	assert_outcome(cell,
		       doca_mmap_export_rdma(mmap, rules.fixture.dev, &blob.bytes, &blob.len));
}

static void dev_get_dpa_handle(const struct cell *cell, struct doca_mmap *mmap)
{
	doca_dpa_dev_mmap_t handle;

	assert_outcome(cell, doca_mmap_dev_get_dpa_handle(mmap, rules.fixture.dev, &handle));
}

static void buf_get_by(const struct cell *cell, struct doca_mmap *mmap)
{
	struct doca_buf_inventory *inventory;

	assert_ok(doca_buf_inventory_create(3, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	rules_check_bufs(inventory, mmap, outcomes[cell->wanted].error);
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void get(const struct cell *cell, struct doca_mmap *mmap)
{
	union doca_data word = {.u64 = 1};
	uint32_t max = 0, bufs = 9;
	uint8_t flag = 9;
	size_t len = 0;
	void *addr;

	assert_outcome(cell, doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, rules.memory);
	assert_int_equal(len, RULES_LEN);
	assert_outcome(cell, doca_mmap_get_user_data(mmap, &word));
	assert_int_equal(word.u64, 0);
	assert_outcome(cell, doca_mmap_get_max_num_devices(mmap, &max));
	assert_true(max >= 1);
	assert_outcome(cell, doca_mmap_get_num_bufs(mmap, &bufs));
	assert_int_equal(bufs, 0);
	assert_outcome(cell, doca_mmap_get_exported(mmap, &flag));
	assert_int_equal(flag, cell->state == EXPORTED);
	assert_outcome(cell, doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, cell->state == IMPORTED);
}

static void destroy(const struct cell *cell, struct doca_mmap *mmap)
{
	assert_outcome(cell, doca_mmap_destroy(mmap));
	rules_forget(mmap);
}

#define ROW(operation, ...)                                                     \
	{                                                                       \
		.name = #operation, .run = operation, .wanted = { __VA_ARGS__ } \
	}

/*
 * The columns are the states in the order of enum rules_state. Every cell shows the rule
 * T-2.4-OPERATION-STATE, and those that the comment above its row names for its state or for all.
 */
static const struct {
	const char *name;
	operation *run;
	enum outcome wanted[RULES_STATES];
} rows[] = {
	/* rule: STARTED M-RNG-3, EXPORTED M-RNG-5, STOPPED M-RNG-4, IMPORTED M-RNG-5,
	 *	 IMPORTED M-IMP-9 */
	ROW(set_memrange, OK, REFUSED, REFUSED, NOT_PERMITTED, NOT_PERMITTED),
	/* rule: STARTED M-PER-3 */
	ROW(set_permissions, OK, BAD_STATE, BAD_STATE, OK, REFUSED),
	/* rule: STARTED M-USR-1 */
	ROW(set_user_data, OK, BAD_STATE, BAD_STATE, OK, REFUSED),
	/* rule: STARTED M-FCB-1 */
	ROW(set_free_cb, OK, BAD_STATE, BAD_STATE, OK, REFUSED),
	/* rule: STARTED M-MAX-1, STOPPED M-MAX-1 */
	ROW(set_max_num_devices, OK, NOT_PERMITTED, NOT_PERMITTED, NOT_PERMITTED, NOT_PERMITTED),
	/* rule: STARTED M-ADD-2, EXPORTED M-ADD-3, IMPORTED M-ADD-3 */
	ROW(add_dev, OK, NOT_PERMITTED, NOT_PERMITTED, OK, NOT_PERMITTED),
	/* rule: STARTED M-RMD-3, STARTED M-RMD-6, EXPORTED M-RMD-3, STOPPED M-RMD-5,
	 *	 IMPORTED M-RMD-3 */
	ROW(rm_dev, OK, NOT_PERMITTED, NOT_PERMITTED, OK, NOT_PERMITTED),
	/* rule: STARTED M-THR-2, IMPORTED M-THR-6 */
	ROW(enable_thread_safety, OK, NOT_PERMITTED, NOT_PERMITTED, OK, OK),
	/* rule: NEW T-2.3-NEW-start, STARTED T-2.3-STARTED-start, EXPORTED M-STA-4,
	 *	 STOPPED T-2.3-STOPPED-start, IMPORTED T-2.3-IMPORTED-start, IMPORTED M-STA-4 */
	ROW(start, OK, NOT_PERMITTED, NOT_PERMITTED, OK, NOT_PERMITTED),
	/* rule: NEW M-STO-8, STARTED T-2.3-STARTED-stop, EXPORTED T-2.3-EXPORTED-stop,
	 *	 EXPORTED M-STO-5, STOPPED M-STO-8, IMPORTED T-2.3-IMPORTED-stop, IMPORTED M-STO-6 */
	ROW(stop, OK, OK, OK, OK, OK),
	/* rule: NEW M-EXP-3, STARTED T-2.3-STARTED-export, STOPPED M-EXP-3,
	 *	 IMPORTED T-2.3-IMPORTED-export_pci, IMPORTED M-EXP-4 */
	ROW(export_pci, NOT_PERMITTED, OK, OK, NOT_PERMITTED, NOT_PERMITTED),
	/* rule: STARTED T-2.3-STARTED-export, IMPORTED T-2.3-IMPORTED-export_rdma,
	 *	 IMPORTED M-EXR-4 */
	ROW(export_rdma, NOT_PERMITTED, OK, OK, NOT_PERMITTED, OK),
	/* rule: NEW M-DPA-3, STARTED M-DPA-4, STOPPED M-DPA-3, IMPORTED M-DPA-4 */
	ROW(dev_get_dpa_handle, NOT_PERMITTED, OK, OK, NOT_PERMITTED, OK),
	/* rule: IMPORTED M-IMP-8 */
	ROW(buf_get_by, BAD_STATE, OK, OK, BAD_STATE, OK),
	/* rule: NEW M-RNG-12, STARTED M-RNG-12, EXPORTED M-RNG-12, STOPPED M-RNG-12 */
	ROW(get, OK, OK, OK, OK, OK),
	/* rule: all M-DES-5, all T-2.3-any-destroy */
	ROW(destroy, OK, OK, OK, OK, OK),
};
#define ROWS	ARRAY_SIZE(rows)
#define N_TESTS (ROWS * RULES_STATES)

static void check_cell(void **state)
{
	const struct cell *cell = *state;

	cell->run(cell, rules_map(cell->state));
}

static void fill_cell(struct cell *cell, size_t row, enum rules_state state)
{
	cell->run = rows[row].run;
	cell->state = state;
	cell->wanted = rows[row].wanted[state];
	snprintf(cell->name, sizeof(cell->name), "%s_on_%s_map_%s", rows[row].name, states[state],
		 outcomes[cell->wanted].name);
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[N_TESTS];
	static struct cell cells[N_TESTS];

	for (size_t i = 0; i < N_TESTS; i++) {
		fill_cell(&cells[i], i / RULES_STATES, (enum rules_state)(i % RULES_STATES));
		tests[i] = (struct CMUnitTest){cells[i].name, check_cell, rules_open, rules_close,
					       &cells[i]};
	}
	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
