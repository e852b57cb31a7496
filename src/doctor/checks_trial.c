/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <doca_log.h>
#include <dpumap/dm.h>
#include <dpumap/umem.h>

#include "base/clock.h"
#include "doctor/check_context.h"

#define PAGE	       4096u
#define COPY_LEN       64u
#define DM_LEN	       64u

#define ADVICE_VERBOSE "--verbose shows the log of the library; check dmesg for mlx5_core"

/* --- the library's log ------------------------------------------------------------------------ */

static char log_buffer[1024];
static struct check_context *listener;

/* A log line begins with fields in brackets; the message follows. */
static void on_log_line(char *line)
{
	const char *text = line;

	while (*text == '[' && strchr(text, ']')) {
		text = strchr(text, ']') + 1;
		text += strspn(text, " ");
	}
	snprintf(listener->trial.library_error, sizeof(listener->trial.library_error), "%.*s",
		 (int)strcspn(text, "\n"), text);
}

void doctor_capture_library_log(struct check_context *context)
{
	struct doca_log_backend *backend;

	listener = context;
	if (doca_log_backend_create_with_buf_sdk(log_buffer, sizeof(log_buffer), on_log_line,
						 &backend) == DOCA_SUCCESS)
		doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR);
}

static void advise_for(struct finding *finding, doca_error_t result)
{
	switch (result) {
	case DOCA_ERROR_NO_MEMORY:
		doctor_advise(finding, "raise the limit of locked memory (system.memlock), stop "
				       "other users of the device, and see system.cgroup");
		return;
	case DOCA_ERROR_NOT_PERMITTED:
		doctor_advise(finding, "run as a user that may open the device (device.file)");
		return;
	case DOCA_ERROR_NOT_CONNECTED:
		doctor_advise(finding, "see port.state and port.gid; otherwise " ADVICE_VERBOSE);
		return;
	case DOCA_ERROR_NOT_SUPPORTED:
		doctor_advise(finding, "see cap.devx and cap.sharing; " ADVICE_VERBOSE);
		return;
	default:
		doctor_advise(finding, ADVICE_VERBOSE);
		return;
	}
}

void doctor_fail_doca(const struct check_context *context, struct finding *finding,
		      doca_error_t result, const char *what)
{
	doctor_fail(finding, dpumap_error_exit(result), "%s: %s", what,
		    context->trial.library_error[0] ? context->trial.library_error
						    : doca_error_get_descr(result));
	doctor_fact(finding, "error", doca_error_get_name(result));
	advise_for(finding, result);
}

static void fail_errno(struct finding *finding, int err, const char *what)
{
	doctor_fail(finding,
		    err == EACCES || err == EPERM ? DPUMAP_EXIT_REFUSED : DPUMAP_EXIT_DEVICE,
		    "%s: %s", what, strerror(err));
	if (err == ENOMEM || err == EAGAIN)
		advise_for(finding, DOCA_ERROR_NO_MEMORY);
	else
		advise_for(finding, DOCA_ERROR_DRIVER);
}

static void note_left(struct check_context *context, const char *what, const char *why)
{
	struct trial *trial = &context->trial;

	trial->num_left++;
	snprintf(trial->left + strlen(trial->left), sizeof(trial->left) - strlen(trial->left),
		 "%s%s (%s)", trial->left[0] ? ", " : "", what, why);
}

static void note_doca(struct check_context *context, doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		note_left(context, what, doca_error_get_descr(result));
}

/* --- plain verbs ------------------------------------------------------------------------------ */

/* Opens the device, unless an earlier check could not. */
static void check_open(struct check_context *context, struct finding *finding)
{
	struct device *device = &context->device;
	doca_error_t result;

	if (!doctor_found_fact(context->findings, "device.chosen", "name")) {
		doctor_skip(finding, "device.chosen");
		return;
	}
	doctor_capture_library_log(context);
	doctor_device_list(device);
	doctor_device_choose(device, context->options);
	if (!device->ibdev || !doctor_device_open(device)) {
		fail_errno(finding, errno ? errno : ENODEV, "cannot open the device");
		return;
	}
	if (!device->info) {
		doctor_report(finding, DOCTOR_WARN, "the library does not support %s",
			      doctor_device_name(device));
		doctor_advise(finding, "see device.driver");
		return;
	}
	result = doca_dev_open(device->info, &context->trial.dev);
	if (result != DOCA_SUCCESS)
		doctor_fail_doca(context, finding, result, "the library cannot open the device");
	else
		doctor_report(finding, DOCTOR_OK, "the library can open %s",
			      doctor_device_name(device));
}

static void check_pd(struct check_context *context, struct finding *finding)
{
	if (!context->device.context) {
		doctor_skip(finding, "try.open");
		return;
	}
	context->trial.pd = ibv_alloc_pd(context->device.context);
	if (context->trial.pd)
		doctor_report(finding, DOCTOR_OK, "allocated a protection domain");
	else
		fail_errno(finding, errno, "cannot allocate a protection domain");
}

static bool get_page(struct check_context *context, struct finding *finding)
{
	void *page;

	if (context->trial.page)
		return true;
	page = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "cannot allocate memory: %s",
			    strerror(errno));
		doctor_advise(finding, "check system.cgroup and ulimit -v");
		return false;
	}
	context->trial.page = page;
	return true;
}

static void check_register(struct check_context *context, struct finding *finding)
{
	struct trial *trial = &context->trial;

	if (!trial->pd) {
		doctor_skip(finding, "try.pd");
		return;
	}
	if (!get_page(context, finding))
		return;
	trial->mr = ibv_reg_mr(trial->pd, trial->page, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!trial->mr) {
		fail_errno(finding, errno, "cannot register 4096 bytes");
		return;
	}
	doctor_report(finding, DOCTOR_OK, "registered 4096 bytes");
	if (ibv_dereg_mr(trial->mr))
		note_left(context, "a registration", strerror(errno));
	trial->mr = NULL;
}

/* With an invalid descriptor, the kernel reports either that or missing support. */
static void check_dmabuf(struct check_context *context, struct finding *finding)
{
	struct ibv_mr *mr;
	int err;

	if (!context->trial.pd) {
		doctor_skip(finding, "try.pd");
		return;
	}
	errno = 0;
	mr = ibv_reg_dmabuf_mr(context->trial.pd, 0, PAGE, 0, -1, IBV_ACCESS_LOCAL_WRITE);
	err = errno;
	if (mr)
		ibv_dereg_mr(mr);
	doctor_fact_bool(finding, "supported", err == EBADF);
	if (err == EBADF) {
		doctor_report(finding, DOCTOR_OK, "dma-bufs are supported");
	} else if (err == EOPNOTSUPP || err == EPROTONOSUPPORT || err == ENOTTY) {
		doctor_report(finding, DOCTOR_WARN, "dma-bufs are not supported");
		doctor_advise(finding, "only exports of kind dmabuf need them; they require mlx5, "
				       "Linux 5.12 and rdma-core 34 or later");
	} else {
		doctor_report(finding, DOCTOR_UNKNOWN, "the kernel query failed: %s",
			      strerror(err));
		doctor_advise(finding, "only exports of kind dmabuf need them; check dmesg");
	}
}

/* --- library ---------------------------------------------------------------------------------- */

static bool has_dev(const struct check_context *context, struct finding *finding)
{
	if (!context->trial.dev)
		doctor_skip(finding, "try.open");
	return context->trial.dev;
}

/* Does the device report this capability? A check without it is skipped. */
static bool has_capability(const struct check_context *context, struct finding *finding,
			   const char *id, const char *fact)
{
	struct json_object *value = doctor_found_fact(context->findings, id, fact);
	bool supported = value && json_object_get_boolean(value);

	if (!supported)
		doctor_skip(finding, id);
	return supported;
}

static void check_device_memory(struct check_context *context, struct finding *finding)
{
	struct dpumap_dm *dm;
	doca_error_t result;

	if (!has_dev(context, finding) ||
	    !has_capability(context, finding, "cap.device-memory", "bytes"))
		return;
	result = dpumap_dm_alloc(context->trial.dev, DM_LEN, 0, &dm);
	if (result != DOCA_SUCCESS) {
		doctor_fail_doca(context, finding, result, "cannot allocate device memory");
		finding->state = DOCTOR_WARN;
		doctor_advise(finding, "other processes may hold it all: stop them, or use kind "
				       "dram; dpumap info shows what dpumapd exports");
		return;
	}
	note_doca(context, dpumap_dm_free(dm), "device memory");
	doctor_report(finding, DOCTOR_OK, "allocated 64 bytes");
}

static void check_umem(struct check_context *context, struct finding *finding)
{
	struct dpumap_umem *umem;
	doca_error_t result;

	if (!has_dev(context, finding) || !has_capability(context, finding, "cap.devx", "devx") ||
	    !get_page(context, finding))
		return;
	result = dpumap_umem_register(context->trial.dev, context->trial.page, PAGE,
				      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &umem);
	if (result != DOCA_SUCCESS) {
		doctor_fail_doca(context, finding, result,
				 "cannot share memory between processes (umem)");
		finding->state = DOCTOR_WARN;
		return;
	}
	doctor_report(finding, DOCTOR_OK, "shared memory between processes (umem)");
	note_doca(context, dpumap_umem_deregister(umem), "a umem");
}

static doca_error_t start_map(struct check_context *context, uint32_t permissions,
			      struct doca_mmap **map)
{
	doca_error_t result = doca_mmap_create(map);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_set_memrange(*map, context->trial.page, (size_t)2 * PAGE);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(*map, permissions);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(*map, context->trial.dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(*map);
	return result;
}

static void drop_map(struct check_context *context, struct doca_mmap **map)
{
	if (*map)
		note_doca(context, doca_mmap_destroy(*map), "a map");
	*map = NULL;
}

static void check_export(struct check_context *context, struct finding *finding)
{
	struct doca_mmap *map = NULL;
	doca_error_t result;
	const void *bytes;
	size_t len;

	if (!has_dev(context, finding) ||
	    !has_capability(context, finding, "cap.pci-export", "supported") ||
	    !get_page(context, finding))
		return;
	result = start_map(
		context, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &map);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_export_pci(map, context->trial.dev, &bytes, &len);
	if (result == DOCA_SUCCESS)
		doctor_report(finding, DOCTOR_OK, "exported 8192 bytes and revoked them");
	else
		doctor_fail_doca(context, finding, result, "cannot export memory");
	if (result != DOCA_SUCCESS && context->options->side == DPUMAP_DOCTOR_HOST)
		finding->state = DOCTOR_WARN;
	drop_map(context, &map);
}

/* Both roles in one process: the device imports its own export. */
static doca_error_t import_own(struct check_context *context, struct doca_mmap *map)
{
	struct doca_mmap *imported = NULL;
	doca_error_t result;
	const void *bytes;
	size_t len;

	result = doca_mmap_export_pci(map, context->trial.dev, &bytes, &len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create_from_export(NULL, bytes, len, context->trial.dev,
						      &imported);
	drop_map(context, &imported);
	return result;
}

static void check_import(struct check_context *context, struct finding *finding)
{
	struct doca_mmap *map = NULL;
	doca_error_t result;

	if (!has_dev(context, finding) ||
	    !has_capability(context, finding, "cap.pci-export", "supported") ||
	    !has_capability(context, finding, "cap.pci-import", "supported") ||
	    !get_page(context, finding))
		return;
	result = start_map(
		context, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &map);
	if (result == DOCA_SUCCESS)
		result = import_own(context, map);
	if (result == DOCA_SUCCESS) {
		doctor_report(finding, DOCTOR_OK, "imported 8192 bytes that this device exports");
	} else {
		doctor_fail_doca(context, finding, result,
				 "cannot import memory that this device exports");
		/* Another function's export may work; link.import tries it. */
		finding->state = DOCTOR_WARN;
		doctor_advise(finding, "to try an export of the DPU, use --connect ADDRESS "
				       "(link.import)");
	}
	drop_map(context, &map);
}

static uint64_t copy_limit_ns(const struct check_context *context)
{
	unsigned int s = context->options->timeout_s;

	return (s && s < DPUMAP_DOCTOR_TIMEOUT_S ? s : DPUMAP_DOCTOR_TIMEOUT_S) * NSEC_PER_SEC;
}

static doca_error_t wait_for_copy(struct check_context *context, doca_error_t *status)
{
	const struct timespec pause = {.tv_nsec = 100000};
	uint64_t deadline = monotonic_ns() + copy_limit_ns(context);
	struct dpumap_dma_completion completion = {0};
	doca_error_t result;
	uint32_t n = 0;

	while ((result = dpumap_dma_poll(context->trial.dma, &completion, 1, &n)) == DOCA_SUCCESS &&
	       !n) {
		if (monotonic_ns() >= deadline)
			return DOCA_ERROR_TIME_OUT;
		nanosleep(&pause, NULL);
	}
	*status = completion.status;
	return result;
}

static void assess_copy(struct check_context *context, struct finding *finding, doca_error_t result,
			doca_error_t status, uint64_t ns)
{
	const uint8_t *page = context->trial.page;

	if (result == DOCA_ERROR_TIME_OUT) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "no completion within %u s",
			    (unsigned int)(copy_limit_ns(context) / NSEC_PER_SEC));
		doctor_advise(
			finding,
			"check dmesg for mlx5_core, then reload the driver or reset the card");
	} else if (result != DOCA_SUCCESS) {
		doctor_fail_doca(context, finding, result, "cannot post a copy");
	} else if (status != DOCA_SUCCESS) {
		doctor_fail_doca(context, finding, status, "the copy failed");
	} else if (memcmp(page, page + PAGE, COPY_LEN) != 0) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "the copy is corrupt");
		doctor_advise(finding, "do not use this device; check dmesg and report it");
	} else {
		doctor_fact_number(finding, "ns", ns);
		doctor_report(finding, DOCTOR_OK, "the device copied 64 bytes in %.1f us",
			      (double)ns / 1000.);
	}
}

static void copy(struct check_context *context, struct finding *finding)
{
	doca_error_t result, status = DOCA_SUCCESS;
	uint8_t *page = context->trial.page;
	uint64_t began;

	for (unsigned int i = 0; i < COPY_LEN; i++)
		page[i] = (uint8_t)(i ^ 0xa5);
	memset(page + PAGE, 0, COPY_LEN);
	began = monotonic_ns();
	result = dpumap_dma_memcpy(context->trial.dma, context->trial.map, page + PAGE,
				   context->trial.map, page, COPY_LEN, (union doca_data){0});
	if (result == DOCA_SUCCESS)
		result = wait_for_copy(context, &status);
	assess_copy(context, finding, result, status, monotonic_ns() - began);
}

static void check_copy(struct check_context *context, struct finding *finding)
{
	struct trial *trial = &context->trial;
	enum dpumap_dma_engine engine;
	doca_error_t result;

	if (!has_dev(context, finding))
		return;
	if (!context->device.is_mlx5) {
		doctor_skip(finding, "device.driver");
		return;
	}
	if (!get_page(context, finding))
		return;
	result = start_map(context, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &trial->map);
	if (result != DOCA_SUCCESS) {
		doctor_fail_doca(context, finding, result, "cannot start a memory map");
		return;
	}
	result = dpumap_dma_create(trial->dev, 1, &trial->dma);
	if (result != DOCA_SUCCESS) {
		doctor_fail_doca(context, finding, result, "cannot create a copy queue");
		return;
	}
	if (dpumap_dma_get_engine(trial->dma, &engine) == DOCA_SUCCESS)
		doctor_fact(finding, "engine", engine == DPUMAP_DMA_ENGINE_MMO ? "mmo" : "rdma");
	copy(context, finding);
}

/* --- release ---------------------------------------------------------------------------------- */

static void release_all(struct check_context *context)
{
	struct trial *trial = &context->trial;

	if (trial->dma)
		note_doca(context, dpumap_dma_destroy(trial->dma), "a copy queue");
	trial->dma = NULL;
	drop_map(context, &trial->map);
	if (trial->dev)
		note_doca(context, doca_dev_close(trial->dev), "the library's device");
	trial->dev = NULL;
	if (trial->pd && ibv_dealloc_pd(trial->pd))
		note_left(context, "a protection domain", strerror(errno));
	trial->pd = NULL;
	if (trial->page)
		munmap(trial->page, (size_t)2 * PAGE);
	trial->page = NULL;
}

static void check_undo(struct check_context *context, struct finding *finding)
{
	const struct trial *trial = &context->trial;

	if (!context->device.context) {
		doctor_skip(finding, "try.open");
		return;
	}
	release_all(context);
	if (trial->num_left) {
		doctor_report(finding, DOCTOR_WARN, "cannot release: %s", trial->left);
		doctor_advise(
			finding,
			"the kernel releases it when the process ends; check dmesg for mlx5_core");
	} else {
		doctor_report(finding, DOCTOR_OK, "released all resources of the checks");
	}
}

static void end(struct check_context *context)
{
	release_all(context);
	doctor_device_close(&context->device);
}

static const struct check checks[] = {
	{"try.open", "Device open by the library", check_open},
	{"try.pd", "Protection domain", check_pd},
	{"try.register", "Registration of 4 KiB", check_register},
	{"cap.dma-buf", "dma-buf registration", check_dmabuf},
	{"try.device-memory", "Device memory", check_device_memory},
	{"try.umem", "Umem", check_umem},
	{"try.export", "Export over PCI", check_export},
	{"try.import", "Import over PCI", check_import},
	{"try.copy", "Copy within the device", check_copy},
	{"try.undo", "Release of all resources", check_undo},
	{0},
};

const struct group doctor_group_trial = {
	.title = "Trials on the device", .checks = checks, .end = end};
