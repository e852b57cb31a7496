/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/checks.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "common/memlock.h"
#include "doctor/check_context.h"
#include "doctor/loaded_library.h"

#define MEMLOCK_WISH (UINT64_C(16) << 20)
#define NOFILE_WISH  256u
#define PATH_ROOM    (PATH_MAX + 64)

static void check_config(struct check_context *context, struct finding *finding)
{
	const struct dpumap_doctor_options *options = context->options;
	const struct dpumap_error *error = options->config_fault;

	if (options->config)
		doctor_fact(finding, "file", options->config);
	if (error && error->code != DOCA_SUCCESS) {
		doctor_fail(finding, dpumap_error_exit(error->code), "%s", error->text);
		doctor_advise(finding,
			      "correct the configuration: other commands fail because of it too");
	} else if (options->failed_export) {
		doctor_report(finding, DOCTOR_WARN, "an export has failed: %s",
			      options->failed_export);
		doctor_advise(finding, "remove the cause, then run dpumapd ctl reload; dpumapd ctl "
				       "list shows all failed exports");
	} else if (options->config) {
		doctor_report(finding, DOCTOR_OK, "%s is valid", options->config);
	} else {
		doctor_report(finding, DOCTOR_OK, "no configuration file");
	}
}

static void check_kernel(struct check_context *context, struct finding *finding)
{
	struct utsname name;

	(void)context;
	if (uname(&name) != 0) {
		doctor_report(finding, DOCTOR_UNKNOWN, "cannot query the kernel version");
		doctor_advise(finding, "check whether a sandbox blocks uname()");
		return;
	}
	doctor_report(finding, DOCTOR_OK, "%s %s on %s", name.sysname, name.release, name.machine);
	doctor_fact(finding, "release", name.release);
	doctor_fact(finding, "version", name.version);
	doctor_fact(finding, "machine", name.machine);
}

static bool is_module(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return access(path, F_OK) == 0;
}

static bool has_devices(void)
{
	DIR *dir = opendir("/sys/class/infiniband");
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.';
	closedir(dir);
	return found;
}

static void check_modules(struct check_context *context, struct finding *finding)
{
	static const char *const wanted[] = {"ib_uverbs", "mlx5_core", "mlx5_ib"};
	char loaded[80] = "", missing[80] = "";

	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		bool is_there = is_module(wanted[i]);
		char *list = is_there ? loaded : missing;

		snprintf(list + strlen(list), sizeof(loaded) - strlen(list), " %s", wanted[i]);
		doctor_fact_bool(finding, wanted[i], is_there);
	}
	if (!missing[0]) {
		doctor_report(finding, DOCTOR_OK, "loaded:%s", loaded);
	} else if (has_devices()) {
		doctor_report(finding, DOCTOR_OK, "not loaded as modules:%s; RDMA devices exist",
			      missing);
	} else {
		doctor_report(finding, DOCTOR_WARN, "not loaded:%s", missing);
		doctor_advise(finding, "load them (modprobe -a%s; for a container, on its host)",
			      missing);
	}
}

/* --- rdma-core -------------------------------------------------------------------------------- */

static void check_library(struct finding *finding, const char *name, unsigned int *major)
{
	struct loaded_library library;

	*major = 0;
	if (!doctor_find_loaded(name, &library)) {
		doctor_report(finding, DOCTOR_UNKNOWN, "%s is not loaded as a shared library",
			      name);
		doctor_advise(finding, "ask the package manager for the version of rdma-core");
		return;
	}
	doctor_fact(finding, name, library.path);
	if (!library.version[0]) {
		doctor_report(finding, DOCTOR_UNKNOWN, "cannot tell the version of %s",
			      library.path);
		doctor_advise(finding, "ask the package manager for the version of rdma-core");
		return;
	}
	*major = (unsigned int)strtoul(library.version, NULL, 10);
	doctor_fact(finding, "version", library.version);
}

static void check_rdma_core(struct check_context *context, struct finding *finding)
{
	unsigned int ibverbs = 0, mlx5 = 0;

	(void)context;
	check_library(finding, "libibverbs", &ibverbs);
	if (ibverbs)
		check_library(finding, "libmlx5", &mlx5);
	if (finding->state != DOCTOR_OK)
		return;
	if (ibverbs != mlx5) {
		doctor_report(finding, DOCTOR_WARN,
			      "libibverbs is from rdma-core %u, libmlx5 from rdma-core %u", ibverbs,
			      mlx5);
		doctor_advise(finding, "install both from the same rdma-core; check "
				       "LD_LIBRARY_PATH and /etc/ld.so.conf.d");
	} else if (ibverbs < DOCTOR_RDMA_CORE_MIN) {
		doctor_report(finding, DOCTOR_WARN,
			      "rdma-core %u is older than %u, the oldest tested version", ibverbs,
			      DOCTOR_RDMA_CORE_MIN);
		doctor_advise(finding, "install rdma-core %u or later", DOCTOR_RDMA_CORE_MIN);
	} else {
		doctor_report(finding, DOCTOR_OK,
			      "rdma-core %u, according to the names of the loaded libraries",
			      ibverbs);
	}
}

/* --- limits ----------------------------------------------------------------------------------- */

static void check_memlock(struct check_context *context, struct finding *finding)
{
	struct rlimit limit;

	(void)context;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
		doctor_report(finding, DOCTOR_UNKNOWN, "cannot read the limit");
		doctor_advise(finding, "check ulimit -l");
		return;
	}
	doctor_fact_bool(finding, "cap_ipc_lock", dpumap_memlock_is_exempt());
	if (limit.rlim_cur == RLIM_INFINITY) {
		doctor_report(finding, DOCTOR_OK, "unlimited");
		return;
	}
	doctor_fact_number(finding, "bytes", limit.rlim_cur);
	if (dpumap_memlock_is_exempt()) {
		doctor_report(finding, DOCTOR_OK,
			      "limit %" PRIu64 " KiB, not enforced (CAP_IPC_LOCK)",
			      (uint64_t)limit.rlim_cur >> 10);
	} else if (limit.rlim_cur < MEMLOCK_WISH) {
		doctor_report(finding, DOCTOR_WARN,
			      "limit %" PRIu64 " KiB: all exports and buffers together must fit",
			      (uint64_t)limit.rlim_cur >> 10);
		doctor_advise(
			finding,
			"raise it: ulimit -l unlimited, memlock in /etc/security/limits.conf, or "
			"LimitMEMLOCK=infinity in a systemd unit");
	} else {
		doctor_report(finding, DOCTOR_OK, "limit %" PRIu64 " MiB",
			      (uint64_t)limit.rlim_cur >> 20);
	}
}

static void check_nofile(struct check_context *context, struct finding *finding)
{
	struct rlimit limit;

	(void)context;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		doctor_report(finding, DOCTOR_UNKNOWN, "cannot read the limit");
		doctor_advise(finding, "check ulimit -n");
		return;
	}
	doctor_fact_number(finding, "files", limit.rlim_cur);
	doctor_report(finding, limit.rlim_cur < NOFILE_WISH ? DOCTOR_WARN : DOCTOR_OK,
		      "limit %" PRIu64 " files", (uint64_t)limit.rlim_cur);
	if (limit.rlim_cur < NOFILE_WISH)
		doctor_advise(finding, "raise it: ulimit -n 1024, or LimitNOFILE=1024 in a systemd "
				       "unit; devices, queues and clients need several each");
}

static uint64_t read_number(const char *dir, const char *name, const char *file)
{
	char path[PATH_ROOM], line[64];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	return doctor_read_line(path, line, sizeof(line)) ? strtoull(line, NULL, 10) : 0;
}

static void check_huge_pages(struct check_context *context, struct finding *finding)
{
	static const char path[] = "/sys/kernel/mm/hugepages";
	struct json_object *sizes = json_object_new_array();
	const struct dirent *entry;
	DIR *dir = opendir(path);
	char text[320] = "";
	bool any_free = false;
	uint64_t kb;

	(void)context;
	while (dir && (entry = readdir(dir))) {
		struct json_object *size;
		uint64_t all, unused;

		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &kb) != 1)
			continue;
		all = read_number(path, entry->d_name, "nr_hugepages");
		unused = read_number(path, entry->d_name, "free_hugepages");
		size = json_object_new_object();
		json_object_object_add(size, "bytes", json_object_new_uint64(kb << 10));
		json_object_object_add(size, "pages", json_object_new_uint64(all));
		json_object_object_add(size, "free", json_object_new_uint64(unused));
		json_object_array_add(sizes, size);
		any_free = any_free || unused;
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%" PRIu64 " of %" PRIu64 " pages of %" PRIu64 " KiB free",
			 text[0] ? ", " : "", unused, all, kb);
	}
	if (dir)
		closedir(dir);
	doctor_fact_object(finding, "sizes", sizes);
	doctor_report(finding, DOCTOR_OK, "%s; needed only for exports with huge pages",
		      text[0] ? text : "not supported by the kernel");
	if (!any_free)
		doctor_advise(finding, "to reserve some: sysctl vm.nr_hugepages=NUMBER");
}

static void check_numa(struct check_context *context, struct finding *finding)
{
	DIR *dir = opendir("/sys/devices/system/node");
	const struct dirent *entry;
	unsigned int nodes = 0, number;
	char end;

	(void)context;
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%u%c", &number, &end) == 1)
			nodes++;
	if (dir)
		closedir(dir);
	doctor_fact_number(finding, "nodes", nodes ? nodes : 1);
	doctor_report(finding, DOCTOR_OK,
		      nodes > 1 ? "%u nodes: memory of the device's node is fastest" : "%u node",
		      nodes ? nodes : 1);
}

/* The directory of the process's own group; false without cgroup v2. */
static bool find_cgroup(char *path, size_t size)
{
	char line[PATH_MAX];
	bool found = false;
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, "0::", 3) == 0 && access("/sys/fs/cgroup", F_OK) == 0 &&
			snprintf(path, size, "/sys/fs/cgroup%s", line + 3) < (int)size;
	}
	fclose(f);
	return found;
}

static void check_cgroup(struct check_context *context, struct finding *finding)
{
	static const char *const files[] = {"rdma.max", "memory.max"};
	char path[PATH_MAX], file[PATH_ROOM], line[256], limits[320] = "";

	(void)context;
	if (!find_cgroup(path, sizeof(path))) {
		doctor_report(finding, DOCTOR_OK, "not in a control group (cgroup v2)");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		if (!doctor_read_line(file, line, sizeof(line)))
			continue;
		doctor_fact(finding, files[i], line);
		/* rdma.max has lines like "mlx5_0 hca_handle=max hca_object=20". */
		if (strcspn(line, "=") < strlen(line)
			    ? strpbrk(strchr(line, '='), "0123456789") != NULL
			    : strcmp(line, "max") != 0)
			snprintf(limits + strlen(limits), sizeof(limits) - strlen(limits),
				 "%s%s %s", limits[0] ? ", " : "", files[i], line);
	}
	doctor_fact(finding, "path", path);
	doctor_report(finding, DOCTOR_OK, limits[0] ? "limits: %s" : "no limits%s", limits);
}

static void check_rdma_cm(struct check_context *context, struct finding *finding)
{
	static const char path[] = "/dev/infiniband/rdma_cm";
	bool is_there = access(path, F_OK) == 0;
	bool is_ours = access(path, R_OK | W_OK) == 0;

	(void)context;
	doctor_fact_bool(finding, "there", is_there);
	doctor_fact_bool(finding, "usable", is_ours);
	doctor_report(finding, DOCTOR_OK, "%s is %s; only connections by address need it", path,
		      is_ours	 ? "usable"
		      : is_there ? "not accessible"
				 : "absent");
}

static const struct check checks[] = {
	{"config.file", "Configuration", check_config},
	{"system.kernel", "Kernel", check_kernel},
	{"system.modules", "Kernel modules", check_modules},
	{"system.rdma-core", "rdma-core in use", check_rdma_core},
	{"system.memlock", "Locked memory limit", check_memlock},
	{"system.nofile", "Open files limit", check_nofile},
	{"system.huge-pages", "Huge pages", check_huge_pages},
	{"system.numa", "NUMA nodes", check_numa},
	{"system.cgroup", "Control group", check_cgroup},
	{"system.rdma-cm", "Device file of the connection manager", check_rdma_cm},
	{0},
};

const struct group doctor_group_system = {.title = "System", .checks = checks};
