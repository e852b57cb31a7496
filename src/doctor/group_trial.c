/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is tried, harmlessly, because a capability bit is a promise only. All of it is undone. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <doca_log.h>
#include <dpumap/dm.h>
#include <dpumap/umem.h>

#include "common/clock.h"
#include "doctor/patient.h"

#define PAGE	       4096u
#define COPY_LEN       64u
#define DM_LEN	       64u

#define ADVICE_VERBOSE "--verbose shows the library's log; look at dmesg for mlx5_core"

/* -- the library's own words -- */

static char said_line[1024];
static struct patient *listener;

/* A line begins with fields in brackets; what is told is behind them. */
static void hear(char *line)
{
	const char *text = line;

	while (*text == '[' && strchr(text, ']')) {
		text = strchr(text, ']') + 1;
		text += strspn(text, " ");
	}
	snprintf(listener->trial.said, sizeof(listener->trial.said), "%.*s",
		 (int)strcspn(text, "\n"), text);
}

static void begin_hearing(struct patient *patient)
{
	struct doca_log_backend *backend;

	listener = patient;
	if (doca_log_backend_create_with_buf_sdk(said_line, sizeof(said_line), hear, &backend) ==
	    DOCA_SUCCESS)
		doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR);
}

static void advise_for(struct finding *finding, doca_error_t result)
{
	switch (result) {
	case DOCA_ERROR_NO_MEMORY:
		doctor_advise(finding,
			      "raise the limit of locked memory (system.memlock), end other "
			      "users of the device, and see system.cgroup");
		return;
	case DOCA_ERROR_NOT_PERMITTED:
		doctor_advise(finding, "run it as a user that may use the device (device.file)");
		return;
	case DOCA_ERROR_NOT_CONNECTED:
		doctor_advise(finding, "see port.state and port.gid; else " ADVICE_VERBOSE);
		return;
	case DOCA_ERROR_NOT_SUPPORTED:
		doctor_advise(finding, "see cap.devx and cap.sharing; " ADVICE_VERBOSE);
		return;
	default:
		doctor_advise(finding, ADVICE_VERBOSE);
		return;
	}
}

/* A failed call of the library, with what it said. */
static void fail_doca(const struct patient *patient, struct finding *finding, doca_error_t result,
		      const char *what)
{
	doctor_fail(finding, dpumap_fault_exit(result), "%s: %s", what,
		    patient->trial.said[0] ? patient->trial.said : doca_error_get_descr(result));
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

static void note_left(struct patient *patient, const char *what, const char *why)
{
	struct trial *trial = &patient->trial;

	trial->num_left++;
	snprintf(trial->left + strlen(trial->left), sizeof(trial->left) - strlen(trial->left),
		 "%s%s (%s)", trial->left[0] ? ", " : "", what, why);
}

static void note_doca(struct patient *patient, doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		note_left(patient, what, doca_error_get_descr(result));
}

/* -- plain verbs -- */

/* Opens the device, unless it was found that it does not open. */
static void check_open(struct patient *patient, struct finding *finding)
{
	struct device *device = &patient->device;
	doca_error_t result;

	if (!doctor_found_fact(patient->findings, "device.chosen", "name")) {
		doctor_follows(finding, "device.chosen");
		return;
	}
	begin_hearing(patient);
	doctor_device_list(device);
	doctor_device_choose(device, patient->options);
	if (!device->ibdev || !doctor_device_open(device)) {
		fail_errno(finding, errno ? errno : ENODEV, "the device does not open");
		return;
	}
	if (!device->info) {
		doctor_say(finding, DOCTOR_WARN, "the library has no use for %s",
			   doctor_device_name(device));
		doctor_advise(finding, "see device.driver");
		return;
	}
	result = doca_dev_open(device->info, &patient->trial.dev);
	if (result != DOCA_SUCCESS)
		fail_doca(patient, finding, result, "the library cannot open the device");
	else
		doctor_say(finding, DOCTOR_OK, "the library opens %s", doctor_device_name(device));
}

static void check_pd(struct patient *patient, struct finding *finding)
{
	if (!patient->device.context) {
		doctor_follows(finding, "try.open");
		return;
	}
	patient->trial.pd = ibv_alloc_pd(patient->device.context);
	if (patient->trial.pd)
		doctor_say(finding, DOCTOR_OK, "a protection domain can be had");
	else
		fail_errno(finding, errno, "no protection domain");
}

static bool get_page(struct patient *patient, struct finding *finding)
{
	void *page;

	if (patient->trial.page)
		return true;
	page = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "there is no memory: %s", strerror(errno));
		doctor_advise(finding, "see system.cgroup and ulimit -v");
		return false;
	}
	patient->trial.page = page;
	return true;
}

static void check_register(struct patient *patient, struct finding *finding)
{
	struct trial *trial = &patient->trial;

	if (!trial->pd) {
		doctor_follows(finding, "try.pd");
		return;
	}
	if (!get_page(patient, finding))
		return;
	trial->mr = ibv_reg_mr(trial->pd, trial->page, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!trial->mr) {
		fail_errno(finding, errno, "4096 bytes cannot be registered");
		return;
	}
	doctor_say(finding, DOCTOR_OK, "4096 bytes can be registered");
	if (ibv_dereg_mr(trial->mr))
		note_left(patient, "a registration", strerror(errno));
	trial->mr = NULL;
}

/* With a descriptor that is none, the kernel complains of it, or of what it cannot do at all. */
static void check_dmabuf(struct patient *patient, struct finding *finding)
{
	struct ibv_mr *mr;
	int err;

	if (!patient->trial.pd) {
		doctor_follows(finding, "try.pd");
		return;
	}
	errno = 0;
	mr = ibv_reg_dmabuf_mr(patient->trial.pd, 0, PAGE, 0, -1, IBV_ACCESS_LOCAL_WRITE);
	err = errno;
	if (mr)
		ibv_dereg_mr(mr);
	doctor_fact_bool(finding, "supported", err == EBADF);
	if (err == EBADF) {
		doctor_say(finding, DOCTOR_OK, "dma-bufs can be registered");
	} else if (err == EOPNOTSUPP || err == EPROTONOSUPPORT || err == ENOTTY) {
		doctor_say(finding, DOCTOR_WARN, "dma-bufs cannot be registered");
		doctor_advise(finding, "only exports of kind dmabuf need it: Linux 5.12 or later, "
				       "mlx5, and rdma-core 34 or later");
	} else {
		doctor_say(finding, DOCTOR_UNKNOWN, "the kernel does not tell: %s", strerror(err));
		doctor_advise(finding, "only exports of kind dmabuf need it; look at dmesg");
	}
}

/* -- by the library -- */

static bool has_dev(const struct patient *patient, struct finding *finding)
{
	if (!patient->trial.dev)
		doctor_follows(finding, "try.open");
	return patient->trial.dev;
}

/* A promise of the device that is looked at; what it does not promise is not tried. */
static bool is_promised(const struct patient *patient, struct finding *finding, const char *id,
			const char *fact)
{
	struct json_object *value = doctor_found_fact(patient->findings, id, fact);
	bool promised = value && json_object_get_boolean(value);

	if (!promised)
		doctor_follows(finding, id);
	return promised;
}

static void check_device_memory(struct patient *patient, struct finding *finding)
{
	uint64_t longest, total;
	struct dpumap_dm *dm;
	doca_error_t result;

	if (!has_dev(patient, finding) ||
	    !is_promised(patient, finding, "cap.device-memory", "bytes"))
		return;
	result = dpumap_dm_alloc(patient->trial.dev, DM_LEN, 0, &dm);
	if (result != DOCA_SUCCESS) {
		fail_doca(patient, finding, result, "no device memory");
		finding->state = DOCTOR_WARN;
		doctor_advise(finding,
			      "others have it all, if the device is well: end them, or use "
			      "kind dram; dpumap info tells what a dpumapd has left");
		return;
	}
	note_doca(patient, dpumap_dm_free(dm), "device memory");
	if (dpumap_dm_query_free(patient->trial.dev, &longest, &total) != DOCA_SUCCESS) {
		doctor_say(finding, DOCTOR_OK, "it can be had");
		return;
	}
	doctor_fact_number(finding, "free", total);
	doctor_fact_number(finding, "longest", longest);
	doctor_say(finding, DOCTOR_OK,
		   "it can be had: %" PRIu64 " bytes are free, %" PRIu64 " in one piece", total,
		   longest);
}

static void check_umem(struct patient *patient, struct finding *finding)
{
	struct dpumap_umem *umem;
	doca_error_t result;

	if (!has_dev(patient, finding) || !is_promised(patient, finding, "cap.devx", "devx") ||
	    !get_page(patient, finding))
		return;
	result = dpumap_umem_register(patient->trial.dev, patient->trial.page, PAGE,
				      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &umem);
	if (result != DOCA_SUCCESS) {
		fail_doca(patient, finding, result, "memory cannot be shared by several processes");
		finding->state = DOCTOR_WARN;
		return;
	}
	doctor_say(finding, DOCTOR_OK, "memory can be shared by several processes (umem)");
	note_doca(patient, dpumap_umem_deregister(umem), "a umem");
}

static doca_error_t start_map(struct patient *patient, uint32_t permissions, struct doca_mmap **map)
{
	doca_error_t result = doca_mmap_create(map);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_set_memrange(*map, patient->trial.page, (size_t)2 * PAGE);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(*map, permissions);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(*map, patient->trial.dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(*map);
	return result;
}

static void drop_map(struct patient *patient, struct doca_mmap **map)
{
	if (*map)
		note_doca(patient, doca_mmap_destroy(*map), "a map");
	*map = NULL;
}

static void check_export(struct patient *patient, struct finding *finding)
{
	struct doca_mmap *map = NULL;
	doca_error_t result;
	const void *bytes;
	size_t len;

	if (!has_dev(patient, finding) ||
	    !is_promised(patient, finding, "cap.pci-export", "supported") ||
	    !get_page(patient, finding))
		return;
	result = start_map(
		patient, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &map);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_export_pci(map, patient->trial.dev, &bytes, &len);
	if (result == DOCA_SUCCESS)
		doctor_say(finding, DOCTOR_OK, "8192 bytes can be exported; the key is gone again");
	else
		fail_doca(patient, finding, result, "memory cannot be exported");
	if (result != DOCA_SUCCESS && patient->options->side == DPUMAP_DOCTOR_HOST)
		finding->state = DOCTOR_WARN;
	drop_map(patient, &map);
}

static uint64_t copy_limit_ns(const struct patient *patient)
{
	unsigned int s = patient->options->timeout_s;

	return (s && s < DPUMAP_DOCTOR_TIMEOUT_S ? s : DPUMAP_DOCTOR_TIMEOUT_S) *
	       DPUMAP_NSEC_PER_SEC;
}

static doca_error_t wait_for_copy(struct patient *patient, doca_error_t *status)
{
	const struct timespec pause = {.tv_nsec = 100000};
	uint64_t deadline = dpumap_clock_ns() + copy_limit_ns(patient);
	struct dpumap_dma_completion completion = {0};
	doca_error_t result;
	uint32_t n = 0;

	while ((result = dpumap_dma_poll(patient->trial.dma, &completion, 1, &n)) == DOCA_SUCCESS &&
	       !n) {
		if (dpumap_clock_ns() >= deadline)
			return DOCA_ERROR_TIME_OUT;
		nanosleep(&pause, NULL);
	}
	*status = completion.status;
	return result;
}

static void judge_copy(struct patient *patient, struct finding *finding, doca_error_t result,
		       doca_error_t status, uint64_t ns)
{
	const uint8_t *page = patient->trial.page;

	if (result == DOCA_ERROR_TIME_OUT) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "no completion came within %u s",
			    (unsigned int)(copy_limit_ns(patient) / DPUMAP_NSEC_PER_SEC));
		doctor_advise(finding,
			      "the device lost it: look at dmesg for mlx5_core, then reload "
			      "the driver or reset the card");
	} else if (result != DOCA_SUCCESS) {
		fail_doca(patient, finding, result, "the queue does not take a copy");
	} else if (status != DOCA_SUCCESS) {
		fail_doca(patient, finding, status, "the copy failed");
	} else if (memcmp(page, page + PAGE, COPY_LEN) != 0) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "the bytes that arrived are others");
		doctor_advise(finding, "do not trust this device; look at dmesg and report it");
	} else {
		doctor_fact_number(finding, "ns", ns);
		doctor_say(finding, DOCTOR_OK, "64 bytes are copied by the device, in %.1f us",
			   (double)ns / 1000.);
	}
}

static void copy(struct patient *patient, struct finding *finding)
{
	doca_error_t result, status = DOCA_SUCCESS;
	uint8_t *page = patient->trial.page;
	uint64_t began;

	for (unsigned int i = 0; i < COPY_LEN; i++)
		page[i] = (uint8_t)(i ^ 0xa5);
	memset(page + PAGE, 0, COPY_LEN);
	began = dpumap_clock_ns();
	result = dpumap_dma_memcpy(patient->trial.dma, patient->trial.map, page + PAGE,
				   patient->trial.map, page, COPY_LEN, (union doca_data){0});
	if (result == DOCA_SUCCESS)
		result = wait_for_copy(patient, &status);
	judge_copy(patient, finding, result, status, dpumap_clock_ns() - began);
}

static void check_copy(struct patient *patient, struct finding *finding)
{
	struct trial *trial = &patient->trial;
	enum dpumap_dma_engine engine;
	doca_error_t result;

	if (!has_dev(patient, finding))
		return;
	if (!patient->device.is_mlx5) {
		doctor_follows(finding, "device.driver");
		return;
	}
	if (!get_page(patient, finding))
		return;
	result = start_map(patient, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &trial->map);
	if (result != DOCA_SUCCESS) {
		fail_doca(patient, finding, result, "a map cannot be started");
		return;
	}
	result = dpumap_dma_create(trial->dev, 1, &trial->dma);
	if (result != DOCA_SUCCESS) {
		fail_doca(patient, finding, result, "there is no copy queue");
		return;
	}
	if (dpumap_dma_get_engine(trial->dma, &engine) == DOCA_SUCCESS)
		doctor_fact(finding, "engine", engine == DPUMAP_DMA_ENGINE_MMO ? "mmo" : "rdma");
	copy(patient, finding);
}

/* -- everything back -- */

static void give_back(struct patient *patient)
{
	struct trial *trial = &patient->trial;

	if (trial->dma)
		note_doca(patient, dpumap_dma_destroy(trial->dma), "a copy queue");
	trial->dma = NULL;
	drop_map(patient, &trial->map);
	if (trial->dev)
		note_doca(patient, doca_dev_close(trial->dev), "the library's device");
	trial->dev = NULL;
	if (trial->pd && ibv_dealloc_pd(trial->pd))
		note_left(patient, "a protection domain", strerror(errno));
	trial->pd = NULL;
	if (trial->page)
		munmap(trial->page, (size_t)2 * PAGE);
	trial->page = NULL;
}

static void check_undo(struct patient *patient, struct finding *finding)
{
	const struct trial *trial = &patient->trial;

	if (!patient->device.context) {
		doctor_follows(finding, "try.open");
		return;
	}
	give_back(patient);
	if (trial->num_left) {
		doctor_say(finding, DOCTOR_WARN, "not given back: %s", trial->left);
		doctor_advise(finding,
			      "the kernel takes it back as the process ends; the device is "
			      "not well: look at dmesg for mlx5_core");
	} else {
		doctor_say(finding, DOCTOR_OK, "all that was tried is given back");
	}
}

static void end(struct patient *patient)
{
	give_back(patient);
	doctor_device_close(&patient->device);
}

static const struct check checks[] = {
	{"try.open", "Opening by the library", check_open},
	{"try.pd", "A protection domain", check_pd},
	{"try.register", "Registering 4 KiB", check_register},
	{"cap.dma-buf", "Registering dma-bufs", check_dmabuf},
	{"try.device-memory", "Device memory", check_device_memory},
	{"try.umem", "A umem", check_umem},
	{"try.export", "Exporting over PCI", check_export},
	{"try.copy", "A copy by the device to itself", check_copy},
	{"try.undo", "Giving all back", check_undo},
	{0},
};

const struct group doctor_group_trial = {.title = "Trial", .checks = checks, .end = end};
