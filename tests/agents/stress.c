/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Many host agents at once, while exports are replaced.
 *
 *   stress ADDRESS CERT CA ADMIN DIRECTORY SECONDS
 *
 * Each thread of each process is an agent with its own connection. The exports are files that contain
 * the number and the generation of the export. Another process replaces one export after the other by its
 * next generation, and announces it in shared memory. An agent may only read bytes of the generation that
 * it imported, and nothing once the next generation is announced. Prints the number of answered requests.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "importer.h"

#define PROCESSES 8 /* DPUMAP_STRESS_PROCESSES overrides it */
#define THREADS	  8 /* of each */
#define EXPORTS	  16
#define BYTES	  4096u
#define PAUSE_NS  5000000
#define PATIENCE  60.0

/* In memory that all processes share. */
static struct shared {
	_Atomic uint64_t
		generation[EXPORTS]; /* the current one, or the last one that was current */
	_Atomic bool ending;
	_Atomic uint64_t requests, copies, refused, missing, events, changes;
} * shared;

static const char *address, *cert, *ca, *admin, *directory;
static unsigned long processes = PROCESSES;

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "stress: %s: %s\n", what, why);
	_exit(1);
}

/* --- replacing exports ------------------------------------------------------------------------ */

static int reach_admin(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", admin);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		die("administrator", strerror(errno));
	return fd;
}

static void ask_admin(const char *question)
{
	char answer[1024];
	size_t len = 0;
	ssize_t n;
	int fd = reach_admin();

	if (write(fd, question, strlen(question)) < 0)
		die("administrator", strerror(errno));
	while ((n = read(fd, answer + len, sizeof(answer) - 1 - len)) > 0)
		len += (size_t)n;
	answer[len] = '\0';
	close(fd);
	if (!strstr(answer, "\"DOCA_SUCCESS\""))
		die(question, answer);
}

static void write_file(unsigned int nth, uint64_t generation)
{
	char path[256], bytes[BYTES] = "";
	FILE *file;

	for (size_t at = 0; at + 64 <= BYTES; at += 64)
		snprintf(bytes + at, 64, "export %u generation %" PRIu64, nth, generation);
	snprintf(path, sizeof(path), "%s/%u.%" PRIu64, directory, nth, generation);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, BYTES, file) != BYTES || fclose(file) != 0)
		die(path, strerror(errno));
}

static void remove_file(unsigned int nth, uint64_t generation)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u.%" PRIu64, directory, nth, generation);
	unlink(path);
}

static void add(unsigned int nth, uint64_t generation)
{
	char question[512];

	write_file(nth, generation);
	snprintf(question, sizeof(question),
		 "add name=e%u,kind=file,path=%s/%u.%" PRIu64 ",size=max,perm=ro,allow=*\n", nth,
		 directory, nth, generation);
	ask_admin(question);
}

/* When dpumapd has answered, the removed export cannot be accessed. Only then is it announced. */
static void replace(unsigned int nth)
{
	uint64_t generation = atomic_load(&shared->generation[nth]);
	char question[64];

	snprintf(question, sizeof(question), "remove e%u\n", nth);
	ask_admin(question);
	atomic_store(&shared->generation[nth], generation + 1);
	remove_file(nth, generation);
	sleep_ns(PAUSE_NS);
	add(nth, generation + 1);
	atomic_fetch_add(&shared->changes, 1);
}

static void change_exports(double until)
{
	unsigned int nth = 0;

	while (seconds_now() < until) {
		replace(nth);
		nth = (nth + 7) % EXPORTS;
		sleep_ns(PAUSE_NS);
	}
	atomic_store(&shared->ending, true);
}

/* --- agents ----------------------------------------------------------------------------------- */

struct agent {
	struct dpumap_channel *channel;
	struct doca_dev *dev;
	struct importer importer;
	struct doca_mmap *map; /* the import; NULL: none */
	unsigned int nth;
	uint64_t generation; /* read from its bytes; 0: not yet read */
	bool is_gone;	     /* dpumapd has reported its removal */
	unsigned int seed;
};

static void count(doca_error_t result, struct agent *agent, const char *what)
{
	atomic_fetch_add(&shared->requests, 1);
	if (result == DOCA_SUCCESS)
		return;
	if (result != DOCA_ERROR_NOT_FOUND && result != DOCA_ERROR_NOT_PERMITTED)
		die(what, dpumap_channel_get_error(agent->channel));
	atomic_fetch_add(&shared->missing, 1);
}

static void hear(union doca_data user_data, enum dpumap_channel_event event, const char *name)
{
	struct agent *agent = user_data.ptr;
	char mine[16];

	if (event == DPUMAP_CHANNEL_LOST)
		die("connection lost", dpumap_channel_get_error(agent->channel));
	atomic_fetch_add(&shared->events, 1);
	snprintf(mine, sizeof(mine), "e%u", agent->nth);
	if (event != DPUMAP_CHANNEL_ADDED && agent->map && strcmp(name, mine) == 0)
		agent->is_gone = true;
}

static void listen_to(struct agent *agent)
{
	importer_must(dpumap_channel_process(agent->channel), "process");
}

static void check_bytes(struct agent *agent, uint64_t announced)
{
	const char *bytes = (const char *)agent->importer.bytes;
	uint64_t generation = 0;
	unsigned int nth = EXPORTS;

	if (sscanf(bytes, "export %u generation %" SCNu64, &nth, &generation) != 2 ||
	    nth != agent->nth)
		die("bytes of another export", bytes);
	if (generation < announced)
		die("stale access", bytes);
	if (agent->generation && agent->generation != generation)
		die("the bytes changed under a map", bytes);
	for (size_t at = 64; at < BYTES; at += 64)
		if (strcmp(bytes, bytes + at) != 0)
			die("bytes of several generations", bytes + at);
	agent->generation = generation;
}

/* Only copies of a removed export are refused. Its removal is announced a little later. */
static void expect_replacement(const struct agent *agent)
{
	double until = seconds_now() + PATIENCE;

	while (agent->generation &&
	       atomic_load(&shared->generation[agent->nth]) == agent->generation) {
		if (seconds_now() > until)
			die("copy of an export that was not removed", "refused");
		sleep_ns(PAUSE_NS);
	}
}

/* What was announced before the copy begins determines its permitted results. */
static void read_once(struct agent *agent)
{
	uint64_t announced = atomic_load(&shared->generation[agent->nth]);
	bool was_gone = agent->is_gone;
	doca_error_t result;

	memset(agent->importer.bytes, 0, BYTES);
	result = importer_read(&agent->importer, agent->map);
	if (result == DOCA_SUCCESS) {
		if (was_gone)
			die("copy after dpumapd reported the removal", "succeeded");
		check_bytes(agent, announced);
		atomic_fetch_add(&shared->copies, 1);
		return;
	}
	if (result != DOCA_ERROR_NOT_PERMITTED)
		die("copy", doca_error_get_name(result));
	expect_replacement(agent);
	atomic_fetch_add(&shared->refused, 1);
}

/* The export was removed between two requests of the import, so the second one failed. */
static bool came_too_late(struct agent *agent)
{
	if (!strstr(dpumap_channel_get_error(agent->channel), "cannot import"))
		return false;
	count(DOCA_SUCCESS, agent, "get");
	count(DOCA_ERROR_NOT_FOUND, agent, "release");
	return true;
}

static bool import(struct agent *agent)
{
	doca_error_t result;
	char name[16];

	agent->nth = (unsigned int)rand_r(&agent->seed) % EXPORTS;
	snprintf(name, sizeof(name), "e%u", agent->nth);
	result = dpumap_channel_import(agent->channel, name, agent->dev, &agent->map);
	if (result != DOCA_SUCCESS) {
		agent->map = NULL;
		if (!came_too_late(agent))
			count(result, agent, "import");
		return false;
	}
	count(result, agent, "import");
	/* Events before the reply are about the previous generation. */
	listen_to(agent);
	agent->generation = 0;
	agent->is_gone = false;
	return true;
}

static void give_back(struct agent *agent)
{
	char name[16];

	importer_must(doca_mmap_destroy(agent->map), "unmapping");
	agent->map = NULL;
	snprintf(name, sizeof(name), "e%u", agent->nth);
	count(dpumap_channel_release(agent->channel, name), agent, "release");
}

static void see(union doca_data user_data, const struct dpumap_channel_export *export_info)
{
	unsigned int *num = user_data.ptr;

	if (export_info->size == BYTES)
		(*num)++;
}

static void list(struct agent *agent)
{
	unsigned int num = 0;

	count(dpumap_channel_list(agent->channel, see, (union doca_data){.ptr = &num}), agent,
	      "list");
	if (num < EXPORTS - 1)
		die("list", "exports are missing");
}

static void *run_agent(void *context)
{
	struct agent *agent = context;

	agent->channel = importer_create_channel(address, cert, ca);
	if (dpumap_channel_connect(agent->channel) != DOCA_SUCCESS)
		die("connect", dpumap_channel_get_error(agent->channel));
	count(DOCA_SUCCESS, agent, "hello");
	count(dpumap_channel_watch(agent->channel, hear, (union doca_data){.ptr = agent}), agent,
	      "watch");
	importer_open(&agent->importer, agent->dev, BYTES);
	while (!atomic_load(&shared->ending)) {
		list(agent);
		if (!import(agent))
			continue;
		for (int i = 0; i < 4; i++) {
			listen_to(agent);
			read_once(agent);
		}
		give_back(agent);
		sleep_ns(PAUSE_NS);
	}
	importer_close(&agent->importer);
	dpumap_channel_destroy(agent->channel);
	return NULL;
}

static void run_process(unsigned int nth)
{
	struct agent agents[THREADS] = {0};
	pthread_t threads[THREADS];
	struct doca_dev *dev;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev = importer_open_device(0);
	for (unsigned int i = 0; i < THREADS; i++) {
		agents[i].dev = dev;
		agents[i].seed = nth * THREADS + i;
		if (pthread_create(&threads[i], NULL, run_agent, &agents[i]) != 0)
			die("thread", "cannot start");
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	importer_must(doca_dev_close(dev), "device");
	_exit(0);
}

/* --- all -------------------------------------------------------------------------------------- */

static int wait_for_all(const pid_t *pids)
{
	int status, result = 0;

	for (unsigned int i = 0; i < processes; i++) {
		if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
			result = 1;
	}
	return result;
}

int main(int argc, char **argv)
{
	const char *fewer = getenv("DPUMAP_STRESS_PROCESSES");
	pid_t pids[PROCESSES];
	int result;

	if (fewer)
		processes = strtoul(fewer, NULL, 10);
	if (argc != 7 || !processes || processes > PROCESSES)
		return 2;
	address = argv[1];
	cert = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
	ca = argv[3];
	admin = argv[4];
	directory = argv[5];
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("memory", strerror(errno));
	for (unsigned int i = 0; i < EXPORTS; i++) {
		atomic_store(&shared->generation[i], 1);
		add(i, 1);
	}
	for (unsigned int i = 0; i < processes; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork", strerror(errno));
		if (!pids[i])
			run_process(i);
	}
	change_exports(seconds_now() + strtod(argv[6], NULL));
	result = wait_for_all(pids);
	for (unsigned int i = 0; i < EXPORTS; i++)
		remove_file(i, atomic_load(&shared->generation[i]));
	printf("requests %" PRIu64 "\nmissing %" PRIu64 "\ncopies %" PRIu64 "\nrefused %" PRIu64
	       "\nevents %" PRIu64 "\nchanges %" PRIu64 "\n",
	       shared->requests, shared->missing, shared->copies, shared->refused, shared->events,
	       shared->changes);
	return result;
}
