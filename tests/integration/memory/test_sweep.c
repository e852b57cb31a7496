/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of the library and every command to the device fails once in the life of a map.
 * Each time, the call returns a documented error and changes nothing: either the life ends early,
 * or the call is repeated and succeeds. In the end nothing is left, in memory or on the device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <dpumap/desc.h>
#include <dpumap/dev.h>
#include <dpumap/dm.h>
#include <dpumap/umem.h>

#include "base/array.h"
#include "faults.h"
#include "fixture.h"

#define LEN	    8192u
#define MAX_DEVS    2
#define QUEUE_DEPTH 4
#define RDMA_READ   ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define ENDLESS	    10000u /* a life with more events does not end */

/* The source of the maps of a life, and their permissions. */
struct source {
	const char *name;
	uint32_t access;
	bool device_memory;
	bool all_devices;
	bool umem;
	bool dmabuf; /* of device memory */
};

static const struct source sources[] = {
	{.name = "memory", .access = LOCAL_RW | PCI_RW},
	{.name = "memory read-only here", .access = PCI_RW},
	{.name = "memory on all devices", .access = LOCAL_RW | PCI_RW, .all_devices = true},
	{.name = "device memory", .access = LOCAL_RW | PCI_RW, .device_memory = true},
	{.name = "memory for peers as well", .access = LOCAL_RW | PCI_RW | RDMA_READ},
	{.name = "device memory for peers as well",
	 .access = LOCAL_RW | PCI_RW | RDMA_READ,
	 .device_memory = true},
	{.name = "umem", .access = LOCAL_RW | PCI_RW, .umem = true},
	{.name = "umem read-only here, for peers as well",
	 .access = PCI_RW | RDMA_READ,
	 .umem = true},
	{.name = "device memory as a dma-buf",
	 .access = LOCAL_RW | PCI_RW | RDMA_READ,
	 .device_memory = true,
	 .dmabuf = true},
};

struct life {
	const struct source *source;
	struct doca_devinfo **list;
	uint32_t listed, ndevs;
	struct doca_dev *devs[MAX_DEVS];
	struct doca_dev *shared; /* on the context of the first */
	struct dpumap_dma *dma;
	struct dpumap_dm *dm;
	struct dpumap_umem *registered;
	struct dpumap_umem *umem; /* the same, imported */
	struct doca_mmap *map;
	struct doca_mmap *bounce;
	struct doca_mmap *import;
	const void *desc;
	size_t desc_len;
};

/* error: what the step returns when the device fails; NO_MEMORY is also valid for exhaustion. */
struct step {
	const char *name;
	doca_error_t (*run)(struct life *life);
	doca_error_t error;
};

struct point {
	enum fault_kind kind;
	unsigned int n;
	int err;
	bool again; /* after the failure, instead of ending the life */
};

static uint8_t memory[LEN], bounce_bytes[LEN];
static uint8_t umem_bytes[DPUMAP_DESC_MAX_SIZE];
static size_t umem_len;
static int dmabuf; /* 0: none */
static unsigned int swept, absorbed;
static struct objects at_rest; /* on the device before each life of a sweep, and after it */

static doca_error_t create_list(struct life *life)
{
	return doca_devinfo_create_list(&life->list, &life->listed);
}

static doca_error_t open_devices(struct life *life)
{
	while (life->ndevs < life->listed && life->ndevs < MAX_DEVS) {
		doca_error_t result =
			doca_dev_open(life->list[life->ndevs], &life->devs[life->ndevs]);

		if (result != DOCA_SUCCESS)
			return result;
		life->ndevs++;
	}
	return DOCA_SUCCESS;
}

static doca_error_t destroy_list(struct life *life)
{
	doca_error_t result = DOCA_SUCCESS;

	if (life->list)
		result = doca_devinfo_destroy_list(life->list);
	life->list = NULL;
	return result;
}

static doca_error_t close_devices(struct life *life)
{
	doca_error_t result = DOCA_SUCCESS;

	while (life->ndevs && result == DOCA_SUCCESS)
		result = doca_dev_close(life->devs[--life->ndevs]);
	return result;
}

static const struct step opening[] = {
	{"create_list", create_list, DOCA_ERROR_NOT_FOUND},
	{"open", open_devices, DOCA_ERROR_NOT_CONNECTED},
	{"destroy_list", destroy_list, DOCA_SUCCESS},
};

static const struct step closing[] = {
	{"destroy_list", destroy_list, DOCA_SUCCESS},
	{"close", close_devices, DOCA_SUCCESS},
};

/* A descriptor sent to this process must be closed, whatever the result is. */
static doca_error_t open_from_fd(struct life *life)
{
	doca_error_t result;
	int fd;

	result = dpumap_dev_export_fd(life->devs[0], &fd);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dev_open_from_fd(fd, &life->shared);
	close(fd);
	return result;
}

static doca_error_t close_shared(struct life *life)
{
	doca_error_t result = doca_dev_close(life->shared);

	if (result == DOCA_SUCCESS)
		life->shared = NULL;
	return result;
}

static const struct step adopting[] = {
	{"open_from_fd", open_from_fd, DOCA_ERROR_NOT_CONNECTED},
};

static const struct step leaving[] = {
	{"close", close_shared, DOCA_SUCCESS},
};

static doca_error_t create_dma(struct life *life)
{
	return dpumap_dma_create(life->devs[0], QUEUE_DEPTH, &life->dma);
}

static doca_error_t alloc_dm(struct life *life)
{
	if (!life->source->device_memory)
		return DOCA_SUCCESS;
	return dpumap_dm_alloc(life->devs[0], LEN, 0, &life->dm);
}

static doca_error_t export_dm(struct life *life)
{
	return life->source->dmabuf ? dpumap_dm_export_dmabuf(life->dm, &dmabuf) : DOCA_SUCCESS;
}

static doca_error_t register_umem(struct life *life)
{
	if (!life->source->umem)
		return DOCA_SUCCESS;
	return dpumap_umem_register(life->devs[0], memory, LEN, life->source->access,
				    &life->registered);
}

static doca_error_t export_umem(struct life *life)
{
	if (!life->source->umem)
		return DOCA_SUCCESS;
	return dpumap_umem_export(life->registered, umem_bytes, sizeof(umem_bytes), &umem_len);
}

static doca_error_t import_umem(struct life *life)
{
	if (!life->source->umem)
		return DOCA_SUCCESS;
	return dpumap_umem_import(life->devs[0], umem_bytes, umem_len, &life->umem);
}

static doca_error_t create_bounce(struct life *life)
{
	return doca_mmap_create(&life->bounce);
}

static doca_error_t create_map(struct life *life)
{
	return doca_mmap_create(&life->map);
}

static doca_error_t set_ranges(struct life *life)
{
	doca_error_t result = doca_mmap_set_permissions(life->map, life->source->access);

	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(life->bounce, bounce_bytes, LEN));
	if (life->source->dmabuf)
		DOCA_ERROR_PROPAGATE(
			result, doca_mmap_set_dmabuf_memrange(life->map, dmabuf, NULL, 0, LEN));
	else if (life->source->device_memory)
		DOCA_ERROR_PROPAGATE(result,
				     dpumap_mmap_set_dm_memrange(life->map, life->dm, 0, LEN));
	else if (life->source->umem)
		DOCA_ERROR_PROPAGATE(result,
				     dpumap_mmap_set_umem_memrange(life->map, life->umem, 0, LEN));
	else
		DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(life->map, memory, LEN));
	return result;
}

static doca_error_t add_to_bounce(struct life *life)
{
	return doca_mmap_add_dev(life->bounce, life->devs[0]);
}

static doca_error_t add_first(struct life *life)
{
	return doca_mmap_add_dev(life->map, life->devs[0]);
}

static doca_error_t add_second(struct life *life)
{
	if (!life->source->all_devices || life->ndevs < 2)
		return DOCA_SUCCESS;
	return doca_mmap_add_dev(life->map, life->devs[1]);
}

/* In place of a random number. */
static doca_error_t set_token(struct life *life)
{
	static const uint8_t token[] = "0123456789abcdef";

	if (!life->source->all_devices)
		return DOCA_SUCCESS;
	return doca_mmap_set_export_access_token(life->map, life->devs[0], token, sizeof(token));
}

static doca_error_t start_bounce(struct life *life)
{
	return doca_mmap_start(life->bounce);
}

static doca_error_t start_map(struct life *life)
{
	return doca_mmap_start(life->map);
}

static doca_error_t export_map(struct life *life)
{
	return doca_mmap_export_pci(life->map, life->devs[0], &life->desc, &life->desc_len);
}

static doca_error_t export_second(struct life *life)
{
	const void *desc;
	size_t len;

	if (!life->source->all_devices || life->ndevs < 2)
		return DOCA_SUCCESS;
	return doca_mmap_export_pci(life->map, life->devs[1], &desc, &len);
}

static doca_error_t export_to_peers(struct life *life)
{
	const void *desc;
	size_t len;

	if (!(life->source->access & RDMA_READ))
		return DOCA_SUCCESS;
	return doca_mmap_export_rdma(life->map, life->devs[0], &desc, &len);
}

static doca_error_t share_with_threads(struct life *life)
{
	return doca_mmap_enable_thread_safety(life->map);
}

static doca_error_t import_map(struct life *life)
{
	return doca_mmap_create_from_export(NULL, life->desc, life->desc_len, life->devs[0],
					    &life->import);
}

static const struct step making[] = {
	{"dma_create", create_dma, DOCA_ERROR_DRIVER},
	{"dm_alloc", alloc_dm, DOCA_ERROR_DRIVER},
	{"dm_export_dmabuf", export_dm, DOCA_ERROR_DRIVER},
	{"umem_register", register_umem, DOCA_ERROR_DRIVER},
	{"umem_export", export_umem, DOCA_ERROR_DRIVER},
	{"umem_import", import_umem, DOCA_ERROR_DRIVER},
	{"create", create_bounce, DOCA_ERROR_DRIVER},
	{"create", create_map, DOCA_ERROR_DRIVER},
	{"set", set_ranges, DOCA_ERROR_DRIVER},
	{"add_dev", add_to_bounce, DOCA_ERROR_DRIVER},
	{"add_dev", add_first, DOCA_ERROR_DRIVER},
	{"add_dev", add_second, DOCA_ERROR_DRIVER},
	{"set_export_access_token", set_token, DOCA_ERROR_DRIVER},
	{"enable_thread_safety", share_with_threads, DOCA_ERROR_DRIVER},
	{"start", start_bounce, DOCA_ERROR_DRIVER},
	{"start", start_map, DOCA_ERROR_DRIVER},
	{"export_pci", export_map, DOCA_ERROR_DRIVER},
	{"export_pci", export_second, DOCA_ERROR_DRIVER},
	{"export_rdma", export_to_peers, DOCA_ERROR_DRIVER},
	{"create_from_export", import_map, DOCA_ERROR_DRIVER},
};

/* Undo only what was done, so that a life can end anywhere. */
static doca_error_t stop_map(struct life *life)
{
	return life->map ? doca_mmap_stop(life->map) : DOCA_SUCCESS;
}

static doca_error_t destroy(struct doca_mmap **mmap)
{
	doca_error_t result = *mmap ? doca_mmap_destroy(*mmap) : DOCA_SUCCESS;

	if (result == DOCA_SUCCESS)
		*mmap = NULL;
	return result;
}

static doca_error_t destroy_import(struct life *life)
{
	return destroy(&life->import);
}

static doca_error_t destroy_map(struct life *life)
{
	return destroy(&life->map);
}

static doca_error_t destroy_bounce(struct life *life)
{
	return destroy(&life->bounce);
}

static doca_error_t free_dm(struct life *life)
{
	doca_error_t result = life->dm ? dpumap_dm_free(life->dm) : DOCA_SUCCESS;

	if (dmabuf)
		close(dmabuf);
	dmabuf = 0;
	if (result == DOCA_SUCCESS)
		life->dm = NULL;
	return result;
}

static doca_error_t unimport_umem(struct life *life)
{
	doca_error_t result = life->umem ? dpumap_umem_unimport(life->umem) : DOCA_SUCCESS;

	if (result == DOCA_SUCCESS)
		life->umem = NULL;
	return result;
}

static doca_error_t deregister_umem(struct life *life)
{
	doca_error_t result = DOCA_SUCCESS;

	if (life->registered)
		result = dpumap_umem_deregister(life->registered);
	if (result == DOCA_SUCCESS)
		life->registered = NULL;
	return result;
}

static doca_error_t destroy_dma(struct life *life)
{
	doca_error_t result = life->dma ? dpumap_dma_destroy(life->dma) : DOCA_SUCCESS;

	if (result == DOCA_SUCCESS)
		life->dma = NULL;
	return result;
}

static const struct step ending[] = {
	{"stop", stop_map, DOCA_ERROR_NOT_PERMITTED},
	{"destroy", destroy_import, DOCA_ERROR_NOT_PERMITTED},
	{"destroy", destroy_map, DOCA_ERROR_NOT_PERMITTED},
	{"destroy", destroy_bounce, DOCA_ERROR_NOT_PERMITTED}, /* stops it as well */
	{"dm_free", free_dm, DOCA_ERROR_DRIVER},
	{"umem_unimport", unimport_umem, DOCA_ERROR_DRIVER},
	{"umem_deregister", deregister_umem, DOCA_ERROR_DRIVER},
	{"dma_destroy", destroy_dma, DOCA_ERROR_DRIVER},
};

#define N_STEPS(steps) ARRAY_SIZE(steps)

static const char *kind_name(enum fault_kind kind)
{
	static const char *const names[] = {
		[FAULT_NONE] = "no fault",
		[FAULT_ALLOC] = "allocation",
		[FAULT_COMMAND] = "command",
		[FAULT_DESTROY] = "destroying command",
	};

	return names[kind];
}

#define require(what, life, point, ...)                                                           \
	do {                                                                                      \
		if (!(what)) {                                                                    \
			print_error("%s: %s %u fails with %s, %s: ", (life)->source->name,        \
				    kind_name((point)->kind), (point)->n, strerror((point)->err), \
				    (point)->again ? "again" : "give up");                        \
			fail_msg(__VA_ARGS__);                                                    \
		}                                                                                 \
	} while (0)

static bool is_documented(const struct step *step, const struct point *point, doca_error_t result)
{
	if (point->kind == FAULT_ALLOC)
		return result == DOCA_ERROR_NO_MEMORY;
	/* The protection domain comes from a command. */
	if (result == DOCA_ERROR_NO_MEMORY)
		return step->run == open_devices || step->run == open_from_fd ||
		       (point->kind == FAULT_COMMAND && point->err == ENOMEM);
	/* A device that refuses to share an mkey cannot share such memory. */
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return (step->run == export_map || step->run == export_second) &&
		       point->err == EREMOTEIO;
	return result == step->error;
}

/* Returns false if a step failed and the life ended early. */
static bool take(const struct step *steps, size_t n, struct life *life, const struct point *point)
{
	for (size_t i = 0; i < n; i++) {
		bool before = fault_fired();
		struct life copy = *life;
		doca_error_t result = steps[i].run(life);

		if (result == DOCA_SUCCESS) {
			absorbed += !before && fault_fired();
			continue;
		}
		require(!before && fault_fired(), life, point, "%s: %s without a fault",
			steps[i].name, doca_error_get_name(result));
		require(is_documented(&steps[i], point, result), life, point,
			"%s: %s is not documented", steps[i].name, doca_error_get_name(result));
		require(steps[i].run == open_devices || !memcmp(&copy, life, sizeof(copy)), life,
			point, "%s: failed and changed its output", steps[i].name);
		if (!point->again)
			return false;
		result = steps[i].run(life);
		require(result == DOCA_SUCCESS, life, point, "%s again: %s", steps[i].name,
			doca_error_get_name(result));
	}
	return true;
}

static doca_error_t copy(struct life *life, struct doca_mmap *dst, struct doca_mmap *src)
{
	struct fixture card = {.dev = life->devs[0], .dma = life->dma};
	void *to, *from;
	size_t len;

	assert_ok(doca_mmap_get_memrange(dst, &to, &len));
	assert_ok(doca_mmap_get_memrange(src, &from, &len));
	return fixture_copy(&card, &(struct fixture_copy){dst, to, src, from, LEN});
}

/* All maps of the life can copy. */
static void use(struct life *life, const struct point *point)
{
	unsigned int commands;
	const void *desc;
	size_t len;

	fixture_fill(bounce_bytes, LEN, point->n);
	memset(memory, 0, LEN);
	assert_ok(copy(life, life->import, life->bounce));
	memset(bounce_bytes, 0, LEN);
	assert_ok(copy(life, life->bounce, life->import));
	if (!life->source->device_memory)
		assert_memory_equal(bounce_bytes, memory, LEN);
	fixture_fill(memory, LEN, point->n);
	assert_memory_equal(bounce_bytes, memory, LEN);

	commands = fault_count_commands();
	assert_ok(doca_mmap_export_pci(life->map, life->devs[0], &desc, &len));
	require(desc == life->desc && len == life->desc_len && commands == fault_count_commands(),
		life, point, "a second export is not the first");
}

/* Returns true if there was an n-th event to fail. */
static bool live(const struct life *base, const struct point *point)
{
	unsigned int allocations = fault_count_live();
	struct life life = *base;

	fault_arm(point->kind, point->n, point->err);
	if (take(making, N_STEPS(making), &life, point))
		use(&life, point);
	take(ending, N_STEPS(ending), &life, point);
	fault_disarm();
	require(objects_wait(&at_rest), &life, point, "left on the device");
	require(fault_count_live() == allocations, &life, point, "%u allocations left",
		fault_count_live() - allocations);
	return fault_fired();
}

static bool live_on_new_device(const struct life *base, const struct point *point)
{
	unsigned int allocations = fault_count_live();
	struct life life = *base;

	fault_arm(point->kind, point->n, point->err);
	take(opening, N_STEPS(opening), &life, point);
	take(closing, N_STEPS(closing), &life, point);
	fault_disarm();
	require(objects_wait(&at_rest), &life, point, "left on the device");
	require(fault_count_live() == allocations, &life, point, "%u allocations left",
		fault_count_live() - allocations);
	return fault_fired();
}

static unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static bool live_on_shared_context(const struct life *base, const struct point *point)
{
	unsigned int allocations = fault_count_live();
	unsigned int fds = count_fds();
	struct life life = *base;

	fault_arm(point->kind, point->n, point->err);
	take(adopting, N_STEPS(adopting), &life, point);
	take(leaving, N_STEPS(leaving), &life, point);
	fault_disarm();
	require(objects_wait(&at_rest), &life, point, "left on the device");
	require(fault_count_live() == allocations, &life, point, "%u allocations left",
		fault_count_live() - allocations);
	require(count_fds() == fds, &life, point, "%u descriptors before, %u after", fds,
		count_fds());
	return fault_fired();
}

/* DPUMAP_SWEEP_STRIDE=N: run every Nth point only; each sweep runs other ones. */
static unsigned int stride = 1, start;

typedef bool life_fn(const struct life *base, const struct point *point);

static unsigned int sweep_with(const struct life *base, life_fn *run, enum fault_kind kind, int err,
			       bool again)
{
	struct point point = {.kind = kind, .n = 1 + start++ % stride, .err = err, .again = again};

	while (run(base, &point)) {
		assert_true(point.n < ENDLESS);
		point.n += stride;
		swept++;
	}
	return point.n - 1;
}

static const int command_errors[] = {EIO, ENOMEM, EREMOTEIO};
#define N_ERRORS ARRAY_SIZE(command_errors)

static void sweep(const struct life *base, life_fn *run)
{
	unsigned int allocations = 0, commands = 0, destroys = 0;

	swept = 0;
	absorbed = 0;
	assert_true(objects_read(&at_rest));
	for (int again = 0; again <= 1; again++)
		allocations = sweep_with(base, run, FAULT_ALLOC, ENOMEM, again);
	for (size_t i = 0; i < N_ERRORS; i++) {
		for (int again = 0; again <= 1; again++)
			commands = sweep_with(base, run, FAULT_COMMAND, command_errors[i], again);
		/*
		 * A life that ends at a failed destroy leaves the object, so all of them repeat it.
		 */
		if (run == live)
			destroys = sweep_with(base, run, FAULT_DESTROY, command_errors[i], true);
	}
	print_message("%s: %u points swept: %u allocations, %u commands, %u destroying commands; "
		      "%u did no harm\n",
		      base->source->name, swept, allocations, commands, destroys, absorbed);
	assert_true(swept > 0);
}

/* What libmlx5 creates with the first queue remains with the device. */
static void warm_up(const struct life *base)
{
	struct dpumap_dma *dma;

	assert_ok(dpumap_dma_create(base->devs[0], QUEUE_DEPTH, &dma));
	assert_ok(dpumap_dma_destroy(dma));
}

static void sweep_source(const struct source *source)
{
	static const struct point no_fault = {.kind = FAULT_NONE};
	struct life base = {.source = source};

	assert_true(take(opening, N_STEPS(opening), &base, &no_fault));
	warm_up(&base);
	sweep(&base, live);
	assert_true(take(closing, N_STEPS(closing), &base, &no_fault));
}

static void each_fault_of_a_map_of_memory_leaves_nothing(void **state)
{
	sweep_source(&sources[0]);
}

static void each_fault_of_a_map_of_read_only_memory_leaves_nothing(void **state)
{
	sweep_source(&sources[1]);
}

static void each_fault_of_a_map_on_all_devices_leaves_nothing(void **state)
{
	sweep_source(&sources[2]);
}

static void each_fault_of_a_map_of_device_memory_leaves_nothing(void **state)
{
	sweep_source(&sources[3]);
}

static void each_fault_of_a_map_for_peers_leaves_nothing(void **state)
{
	sweep_source(&sources[4]);
}

static void each_fault_of_device_memory_for_peers_leaves_nothing(void **state)
{
	sweep_source(&sources[5]);
}

static void each_fault_of_a_map_of_a_umem_leaves_nothing(void **state)
{
	sweep_source(&sources[6]);
}

static void each_fault_of_a_umem_for_peers_leaves_nothing(void **state)
{
	sweep_source(&sources[7]);
}

static void each_fault_of_a_dmabuf_of_device_memory_leaves_nothing(void **state)
{
	if (dlsym(RTLD_DEFAULT, "ibv_dm_export_dmabuf_fd"))
		sweep_source(&sources[8]);
}

static void each_fault_while_a_device_is_opened_leaves_nothing(void **state)
{
	static const struct source none = {.name = "open and close"};

	sweep(&(struct life){.source = &none}, live_on_new_device);
}

static void each_fault_of_opening_by_descriptor_leaves_nothing(void **state)
{
	static const struct point no_fault = {.kind = FAULT_NONE};
	static const struct source none = {.name = "open from a descriptor"};
	struct life base = {.source = &none};

	assert_true(take(opening, N_STEPS(opening), &base, &no_fault));
	sweep(&base, live_on_shared_context);
	assert_true(take(closing, N_STEPS(closing), &base, &no_fault));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(each_fault_while_a_device_is_opened_leaves_nothing),
		counted_test(each_fault_of_opening_by_descriptor_leaves_nothing),
		counted_test(each_fault_of_a_map_of_memory_leaves_nothing),
		counted_test(each_fault_of_a_map_of_read_only_memory_leaves_nothing),
		counted_test(each_fault_of_a_map_on_all_devices_leaves_nothing),
		counted_test(each_fault_of_a_map_of_device_memory_leaves_nothing),
		counted_test(each_fault_of_a_map_for_peers_leaves_nothing),
		counted_test(each_fault_of_device_memory_for_peers_leaves_nothing),
		counted_test(each_fault_of_a_map_of_a_umem_leaves_nothing),
		counted_test(each_fault_of_a_umem_for_peers_leaves_nothing),
		counted_test(each_fault_of_a_dmabuf_of_device_memory_leaves_nothing),
	};
	/* Devices without indirect sharing share these in another way. */
	const struct CMUnitTest direct[] = {
		counted_test(each_fault_of_a_map_of_memory_leaves_nothing),
		counted_test(each_fault_of_a_map_of_read_only_memory_leaves_nothing),
	};
	const char *text = getenv("DPUMAP_SWEEP_STRIDE");

	test_parse_options(argc, argv);
	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	if (text)
		stride = (unsigned int)strtoul(text, NULL, 0);
	if (!stride)
		return 2;
	if (test_options.shares_direct)
		return cmocka_run_group_tests(direct, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
