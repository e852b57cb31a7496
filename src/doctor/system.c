/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The machine: kernel, modules, rdma-core, limits. */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor/check.h"
#include "doctor/loaded.h"
#include "doctor/patient.h"

#define MEMLOCK_WISH (UINT64_C(16) << 20)
#define NOFILE_WISH  256u
#define IPC_LOCK_BIT 14 /* CAP_IPC_LOCK */
#define PATH_ROOM    (PATH_MAX + 64)

static void check_config(struct patient *patient, struct finding *finding)
{
	const struct dpumap_doctor_options *options = patient->options;
	const struct dpumap_fault *fault = options->config_fault;

	if (options->config)
		doctor_fact(finding, "file", options->config);
	if (fault && fault->code != DOCA_SUCCESS) {
		doctor_fail(finding, dpumap_fault_exit(fault->code), "%s", fault->text);
		doctor_advise(finding, "correct it: the other commands stop at it as well");
	} else if (options->config) {
		doctor_say(finding, DOCTOR_OK, "%s is right", options->config);
	} else {
		doctor_say(finding, DOCTOR_OK, "there is none: all is as the command line says");
	}
}

static void check_kernel(struct patient *patient, struct finding *finding)
{
	struct utsname name;

	(void)patient;
	if (uname(&name) != 0) {
		doctor_say(finding, DOCTOR_UNKNOWN, "the kernel does not say what it is");
		doctor_advise(finding, "is a sandbox in the way?");
		return;
	}
	doctor_say(finding, DOCTOR_OK, "%s %s on %s", name.sysname, name.release, name.machine);
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

static void check_modules(struct patient *patient, struct finding *finding)
{
	static const char *const wanted[] = {"ib_uverbs", "mlx5_core", "mlx5_ib"};
	char loaded[80] = "", missing[80] = "";

	(void)patient;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool is_there = is_module(wanted[i]);
		char *list = is_there ? loaded : missing;

		snprintf(list + strlen(list), sizeof(loaded) - strlen(list), " %s", wanted[i]);
		doctor_fact_bool(finding, wanted[i], is_there);
	}
	if (!missing[0]) {
		doctor_say(finding, DOCTOR_OK, "loaded:%s", loaded);
	} else if (has_devices()) {
		doctor_say(finding, DOCTOR_OK,
			   "not among the modules:%s; there are RDMA devices all the same",
			   missing);
	} else {
		doctor_say(finding, DOCTOR_WARN, "not loaded:%s", missing);
		doctor_advise(finding, "modprobe -a%s (in a container: on the machine around it)",
			      missing);
	}
}

/* -- rdma-core -- */

static void check_library(struct finding *finding, const char *name, unsigned int *major)
{
	struct loaded_library library;

	*major = 0;
	if (!doctor_find_loaded(name, &library)) {
		doctor_say(finding, DOCTOR_UNKNOWN, "%s is not loaded as a library of its own",
			   name);
		doctor_advise(finding, "ask your package manager which rdma-core it is");
		return;
	}
	doctor_fact(finding, name, library.path);
	if (!library.version[0]) {
		doctor_say(finding, DOCTOR_UNKNOWN, "%s does not tell its version", library.path);
		doctor_advise(finding, "ask your package manager which rdma-core it is");
		return;
	}
	*major = (unsigned int)strtoul(library.version, NULL, 10);
	doctor_fact(finding, "version", library.version);
}

static void check_rdma_core(struct patient *patient, struct finding *finding)
{
	unsigned int ibverbs = 0, mlx5 = 0;

	(void)patient;
	check_library(finding, "libibverbs", &ibverbs);
	if (ibverbs)
		check_library(finding, "libmlx5", &mlx5);
	if (finding->state != DOCTOR_OK)
		return;
	if (ibverbs != mlx5) {
		doctor_say(finding, DOCTOR_WARN, "libibverbs is of rdma-core %u, libmlx5 of %u",
			   ibverbs, mlx5);
		doctor_advise(finding, "install both from one rdma-core, and look at "
				       "LD_LIBRARY_PATH and /etc/ld.so.conf.d");
	} else if (ibverbs < DOCTOR_RDMA_CORE_MIN) {
		doctor_say(finding, DOCTOR_WARN,
			   "rdma-core %u is older than %u, with which dpumap "
			   "is tested",
			   ibverbs, DOCTOR_RDMA_CORE_MIN);
		doctor_advise(finding, "install rdma-core %u or later", DOCTOR_RDMA_CORE_MIN);
	} else {
		doctor_say(finding, DOCTOR_OK, "rdma-core %u, by the names of the libraries loaded",
			   ibverbs);
	}
}

/* -- limits -- */

static bool may_lock_all(void)
{
	char line[256];
	uint64_t caps = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %" SCNx64, &caps) == 1)
			break;
	fclose(f);
	return caps >> IPC_LOCK_BIT & 1;
}

static void check_memlock(struct patient *patient, struct finding *finding)
{
	struct rlimit limit;

	(void)patient;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
		doctor_say(finding, DOCTOR_UNKNOWN, "the limit cannot be read");
		doctor_advise(finding, "see ulimit -l");
		return;
	}
	doctor_fact_bool(finding, "cap_ipc_lock", may_lock_all());
	if (limit.rlim_cur == RLIM_INFINITY) {
		doctor_say(finding, DOCTOR_OK, "memory may be locked without limit");
		return;
	}
	doctor_fact_number(finding, "bytes", limit.rlim_cur);
	if (may_lock_all()) {
		doctor_say(finding, DOCTOR_OK,
			   "%" PRIu64 " KiB, which do not count: we have CAP_IPC_LOCK",
			   (uint64_t)limit.rlim_cur >> 10);
	} else if (limit.rlim_cur < MEMLOCK_WISH) {
		doctor_say(finding, DOCTOR_WARN,
			   "no more than %" PRIu64 " KiB may be locked: exports and buffers in "
			   "all have to fit",
			   (uint64_t)limit.rlim_cur >> 10);
		doctor_advise(finding, "ulimit -l unlimited, memlock in /etc/security/limits.conf, "
				       "or LimitMEMLOCK=infinity in a systemd unit");
	} else {
		doctor_say(finding, DOCTOR_OK, "%" PRIu64 " MiB may be locked",
			   (uint64_t)limit.rlim_cur >> 20);
	}
}

static void check_nofile(struct patient *patient, struct finding *finding)
{
	struct rlimit limit;

	(void)patient;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		doctor_say(finding, DOCTOR_UNKNOWN, "the limit cannot be read");
		doctor_advise(finding, "see ulimit -n");
		return;
	}
	doctor_fact_number(finding, "files", limit.rlim_cur);
	doctor_say(finding, limit.rlim_cur < NOFILE_WISH ? DOCTOR_WARN : DOCTOR_OK,
		   "%" PRIu64 " files may be open", (uint64_t)limit.rlim_cur);
	if (limit.rlim_cur < NOFILE_WISH)
		doctor_advise(finding, "ulimit -n 1024, or LimitNOFILE=1024 in a systemd unit: "
				       "devices, queues and clients need some each");
}

static uint64_t read_number(const char *dir, const char *name, const char *file)
{
	char path[PATH_ROOM], line[64];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	return doctor_read_line(path, line, sizeof(line)) ? strtoull(line, NULL, 10) : 0;
}

static void check_huge_pages(struct patient *patient, struct finding *finding)
{
	static const char path[] = "/sys/kernel/mm/hugepages";
	struct json_object *sizes = json_object_new_array();
	const struct dirent *entry;
	DIR *dir = opendir(path);
	char text[320] = "";
	uint64_t kb;

	(void)patient;
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
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%" PRIu64 " free of %" PRIu64 " of %" PRIu64 " KiB",
			 text[0] ? ", " : "", unused, all, kb);
	}
	if (dir)
		closedir(dir);
	doctor_fact_object(finding, "sizes", sizes);
	doctor_say(finding, DOCTOR_OK, "%s; only exports of huge pages need them",
		   text[0] ? text : "the kernel has none");
	if (!strstr(text, " free of ") || strncmp(text, "0 free", 6) == 0)
		doctor_advise(finding, "if wanted: sysctl vm.nr_hugepages=NUMBER");
}

static void check_numa(struct patient *patient, struct finding *finding)
{
	DIR *dir = opendir("/sys/devices/system/node");
	const struct dirent *entry;
	unsigned int nodes = 0, number;
	char end;

	(void)patient;
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%u%c", &number, &end) == 1)
			nodes++;
	if (dir)
		closedir(dir);
	doctor_fact_number(finding, "nodes", nodes ? nodes : 1);
	doctor_say(finding, DOCTOR_OK,
		   nodes > 1 ? "%u nodes: memory next to the device is fastest" : "%u node",
		   nodes ? nodes : 1);
}

/* Our own group's directory; false where there are no groups of version 2. */
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

static void check_cgroup(struct patient *patient, struct finding *finding)
{
	static const char *const files[] = {"rdma.max", "memory.max"};
	char path[PATH_MAX], file[PATH_ROOM], line[256], limits[320] = "";

	(void)patient;
	if (!find_cgroup(path, sizeof(path))) {
		doctor_say(finding, DOCTOR_OK, "no control group of version 2 holds us");
		return;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		if (!doctor_read_line(file, line, sizeof(line)))
			continue;
		doctor_fact(finding, files[i], line);
		/* Of rdma: "mlx5_0 hca_handle=max hca_object=20". */
		if (strcspn(line, "=") < strlen(line)
			    ? strpbrk(strchr(line, '='), "0123456789") != NULL
			    : strcmp(line, "max") != 0)
			snprintf(limits + strlen(limits), sizeof(limits) - strlen(limits),
				 "%s%s %s", limits[0] ? ", " : "", files[i], line);
	}
	doctor_fact(finding, "path", path);
	doctor_say(finding, DOCTOR_OK, limits[0] ? "limits us: %s" : "sets no limit%s", limits);
}

static void check_rdma_cm(struct patient *patient, struct finding *finding)
{
	static const char path[] = "/dev/infiniband/rdma_cm";
	bool is_there = access(path, F_OK) == 0;
	bool is_ours = access(path, R_OK | W_OK) == 0;

	(void)patient;
	doctor_fact_bool(finding, "there", is_there);
	doctor_fact_bool(finding, "usable", is_ours);
	doctor_say(finding, DOCTOR_OK, "%s is %s; dpumap does not need it", path,
		   is_ours    ? "usable"
		   : is_there ? "not for us"
			      : "not there");
}

static const struct check checks[] = {
	{"config.file", "Configuration", check_config},
	{"system.kernel", "Kernel", check_kernel},
	{"system.modules", "Kernel modules", check_modules},
	{"system.rdma-core", "rdma-core in use", check_rdma_core},
	{"system.memlock", "Limit of locked memory", check_memlock},
	{"system.nofile", "Limit of open files", check_nofile},
	{"system.huge-pages", "Huge pages", check_huge_pages},
	{"system.numa", "NUMA nodes", check_numa},
	{"system.cgroup", "Control group", check_cgroup},
	{"system.rdma-cm", "Device file of the connection manager", check_rdma_cm},
	{0},
};

const struct group doctor_group_system = {.title = "System", .checks = checks};
