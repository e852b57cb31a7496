/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure the emulated device, compared with possible replacements: DPDK's dma_skeleton, memcpy, a plain
 * socket. The methods alternate in short rounds, so each ratio compares adjacent measurements. Both sides of
 * a copy spin. If the CPUs are busy, compare the best rounds, which ran undisturbed, not the medians.
 */
#include <dirent.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dma.h>

#include "base/array.h"
#include "peer.h"
#include "raw.h"
#include "ring.h"
#include "stats.h"
#ifdef DPUMAP_BENCH_DPDK
#include "dmadev.h"
#endif

#define MEMORY	   ((size_t)32 << 20) /* the source, followed by the destination */
#define SMALL	   ((size_t)64)
#define BIG	   ((size_t)1 << 20)
#define DM	   ((size_t)128 << 10) /* all device memory of the card */
#define DEPTH	   256u
#define BURST	   32u
#define BIG_DEPTH  8u
#define STREAMED   (256 * BURST)
#define SINGLE	   500u
#define COMMANDS   50u
#define MESSAGE	   64
#define REGISTERED ((size_t)4096)
#define CLIENTS	   4
#define IDLE	   5 /* seconds */
#define MAX_ROUNDS 1000
#define PAUSES	   200

struct bench {
	uint8_t *memory;
	struct raw raw;
	struct raw_copy small[DEPTH], big[BIG_DEPTH];
#ifdef DPUMAP_BENCH_DPDK
	struct dmadev_copy dmadev[DEPTH];
#endif
	/* the peer's device memory */
	struct bench_peer peer;
	struct doca_dev *dev;
	struct doca_mmap *near, *far;
	struct dpumap_dma *dma;
	uint8_t *shared; /* the memory that memcpy reads instead */
	int socket;	 /* to a process that echoes all bytes */
	pid_t echo;
	const char *only; /* a part of the names of the comparisons to run; NULL: all */
	size_t rounds;
};

/* Do n operations of one kind; return false after printing an error. */
typedef bool method(struct bench *bench, size_t n);

static bool failed(const char *what)
{
	return bench_fail(what, DOCA_ERROR_IO_FAILED) == 0;
}

/* --- copies in one process -------------------------------------------------------------------- */

/* Post copies in bursts, and keep as many in flight as the queue is deep. */
static bool stream(struct bench *bench, size_t n, size_t burst, size_t depth,
		   bool (*post)(struct bench *bench, size_t first, size_t burst),
		   int (*reap)(struct bench *bench, int n))
{
	size_t posted = 0, done = 0;
	int got;

	while (done < n) {
		for (; posted < n && posted - done + burst <= depth; posted += burst)
			if (!post(bench, posted % depth, burst))
				return failed("a copy is not taken");
		got = reap(bench, (int)burst);
		if (got < 0)
			return failed("a copy");
		done += (size_t)got;
	}
	return true;
}

static bool post_big(struct bench *bench, size_t first, size_t burst)
{
	return raw_post(&bench->raw, &bench->big[first], burst);
}

static int reap_raw(struct bench *bench, int n)
{
	return raw_reap(&bench->raw, n);
}

static bool big_mmo(struct bench *bench, size_t n)
{
	return stream(bench, n, 1, BIG_DEPTH, post_big, reap_raw);
}

static bool big_memcpy(struct bench *bench, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct raw_copy *copy = &bench->big[i % BIG_DEPTH];

		memcpy((void *)(uintptr_t)copy->dst, (const void *)(uintptr_t)copy->src, copy->len);
		__asm__ volatile("" ::: "memory");
	}
	return true;
}

static bool post_small(struct bench *bench, size_t first, size_t burst)
{
	return raw_post(&bench->raw, &bench->small[first], burst);
}

static bool single_mmo(struct bench *bench, size_t n)
{
	return stream(bench, n, 1, 1, post_small, reap_raw);
}

#ifdef DPUMAP_BENCH_DPDK
static bool stream_mmo(struct bench *bench, size_t n)
{
	return stream(bench, n, BURST, DEPTH, post_small, reap_raw);
}

static bool post_dmadev(struct bench *bench, size_t first, size_t burst)
{
	return dmadev_post(&bench->dmadev[first], burst);
}

static int reap_dmadev(struct bench *bench, int n)
{
	return dmadev_reap((uint16_t)n);
}

static bool stream_dmadev(struct bench *bench, size_t n)
{
	return stream(bench, n, BURST, DEPTH, post_dmadev, reap_dmadev);
}

static bool single_dmadev(struct bench *bench, size_t n)
{
	return stream(bench, n, 1, 1, post_dmadev, reap_dmadev);
}
#endif

/* --- device memory of another process --------------------------------------------------------- */

static bool read_dm(struct bench *bench, size_t n)
{
	struct dpumap_dma_completion done[BIG_DEPTH];
	size_t posted = 0, completed = 0;
	void *from = (void *)(uintptr_t)bench->peer.exported.addr;
	uint32_t got;

	while (completed < n) {
		for (; posted < n && posted - completed < BIG_DEPTH; posted++)
			if (dpumap_dma_memcpy(bench->dma, bench->near,
					      bench->memory + posted % BIG_DEPTH * DM, bench->far,
					      from, DM, (union doca_data){0}) != DOCA_SUCCESS)
				return failed("a copy of device memory is not taken");
		if (dpumap_dma_poll(bench->dma, done, BIG_DEPTH, &got) != DOCA_SUCCESS)
			return failed("polling");
		for (uint32_t i = 0; i < got; i++)
			if (done[i].status != DOCA_SUCCESS)
				return failed("a copy of device memory");
		completed += got;
	}
	return true;
}

static bool read_shared(struct bench *bench, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		memcpy(bench->memory + i % BIG_DEPTH * DM, bench->shared, DM);
		__asm__ volatile("" ::: "memory");
	}
	return true;
}

/* --- commands --------------------------------------------------------------------------------- */

static bool make_pds(struct bench *bench, size_t n)
{
	for (size_t i = 0; i < n; i += 2) { /* two commands each */
		struct ibv_pd *pd = ibv_alloc_pd(bench->raw.context);

		if (!pd || ibv_dealloc_pd(pd))
			return failed("a protection domain");
	}
	return true;
}

static bool round_trips(struct bench *bench, size_t n)
{
	char message[MESSAGE] = {0};

	for (size_t i = 0; i < n; i++)
		if (send(bench->socket, message, sizeof(message), 0) != sizeof(message) ||
		    recv(bench->socket, message, sizeof(message), 0) != sizeof(message))
			return failed("a round trip");
	return true;
}

/* --- registrations ---------------------------------------------------------------------------- */

/* UVERBS_METHOD_REG_MR of Linux 7.0 and newer, which older headers and libraries lack. */
enum { REG_MR = 5, REG_HANDLE = 0, REG_PD, REG_IOVA = 3, REG_ADDR, REG_LENGTH, REG_ACCESS };
enum { REG_LKEY = 9, REG_RKEY, REG_ATTRS = 8 };

/* The header, with its attributes. */
union command {
	struct ib_uverbs_ioctl_hdr head;
	uint8_t bytes[sizeof(struct ib_uverbs_ioctl_hdr) +
		      REG_ATTRS * sizeof(struct ib_uverbs_attr)];
};

static void add(union command *c, uint16_t id, uint16_t len, uint64_t data)
{
	c->head.attrs[c->head.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
}

static bool issue(const struct bench *bench, union command *c, uint16_t id)
{
	struct ib_uverbs_ioctl_hdr *head = &c->head;

	head->length = (uint16_t)(sizeof(*head) + head->num_attrs * sizeof(head->attrs[0]));
	head->object_id = UVERBS_OBJECT_MR;
	head->method_id = id;
	head->driver_id = RDMA_DRIVER_MLX5;
	return ioctl(bench->raw.context->cmd_fd, RDMA_VERBS_IOCTL, head) == 0;
}

/* Its handle, or -1. */
static int64_t reg_mr(const struct bench *bench, const void *addr, size_t len)
{
	union command c = {.bytes = {0}};
	uint32_t keys[2];

	add(&c, REG_HANDLE, 0, 0);
	add(&c, REG_PD, 0, bench->raw.pd->handle);
	add(&c, REG_IOVA, 8, (uintptr_t)addr);
	add(&c, REG_ADDR, 8, (uintptr_t)addr);
	add(&c, REG_LENGTH, 8, len);
	add(&c, REG_ACCESS, 4, IBV_ACCESS_LOCAL_WRITE);
	add(&c, REG_LKEY, 4, (uintptr_t)&keys[0]);
	add(&c, REG_RKEY, 4, (uintptr_t)&keys[1]);
	return issue(bench, &c, REG_MR) ? (int64_t)c.head.attrs[0].data : -1;
}

static bool destroy_mr(const struct bench *bench, uint32_t handle)
{
	union command c = {.bytes = {0}};

	add(&c, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, handle);
	return issue(bench, &c, UVERBS_METHOD_MR_DESTROY);
}

static bool register_by_ioctl(struct bench *bench, size_t n)
{
	for (size_t i = 0; i < n; i += 2) { /* two commands each */
		int64_t handle = reg_mr(bench, bench->memory, REGISTERED);

		if (handle < 0 || !destroy_mr(bench, (uint32_t)handle))
			return failed("a registration by REG_MR");
	}
	return true;
}

static bool register_by_verb(struct bench *bench, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		struct ibv_mr *mr = ibv_reg_mr(bench->raw.pd, bench->memory, REGISTERED,
					       IBV_ACCESS_LOCAL_WRITE);

		if (!mr || ibv_dereg_mr(mr))
			return failed("a registration");
	}
	return true;
}

static void echo(int socket)
{
	char message[MESSAGE];
	ssize_t len;

	while ((len = recv(socket, message, sizeof(message), 0)) > 0)
		if (send(socket, message, (size_t)len, 0) != len)
			break;
	_exit(0);
}

static bool start_echo(struct bench *bench)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return failed("a pair of sockets");
	bench->echo = fork();
	if (!bench->echo) {
		close(pair[0]);
		echo(pair[1]);
	}
	close(pair[1]);
	bench->socket = pair[0];
	return bench->echo > 0 || failed("a process");
}

/* --- clients that do nothing ------------------------------------------------------------------ */

/* Return the process id of the emulator, which listens in its directory. */
static pid_t server_pid(void)
{
	const char *dir = getenv("DPUMAP_EMU_DIR");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/control", dir ? dir : "");
	if (fd >= 0 && (connect(fd, (const void *)&addr, sizeof(addr)) ||
			getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len)))
		peer.pid = 0;
	if (fd >= 0)
		close(fd);
	return peer.pid;
}

static double cpu_of(pid_t pid)
{
	struct timespec t = {0};
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void be_idle(int ready)
{
	struct raw raw;
	void *memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || !raw_open(&raw, DEPTH, false, memory, BIG))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* How often threads of the process were scheduled. */
static long switches_of(pid_t pid)
{
	char path[64], line[128];
	struct dirent *entry;
	long sum = 0, n;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid, entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1 ||
			    sscanf(line, "nonvoluntary_ctxt_switches: %ld", &n) == 1)
				sum += n;
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static long switches_of_all(const pid_t *pids, size_t n)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += switches_of(pids[i]);
	return sum;
}

static double cpu_of_all(const pid_t *pids, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += cpu_of(pids[i]);
	return sum;
}

static bool start_clients(pid_t *pids)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		return failed("a pipe");
	for (size_t i = 0; i < CLIENTS; i++) {
		pids[i] = fork();
		if (!pids[i])
			be_idle(ready[1]);
		if (pids[i] < 0 || read(ready[0], &byte, 1) != 1)
			return failed("an idle client");
	}
	close(ready[0]);
	close(ready[1]);
	return true;
}

/* Called before this process opens a device, because each child opens its own. */
static bool measure_idle(void)
{
	pid_t pids[CLIENTS + 1] = {0};
	double cpu[2];
	long switches[2];
	bool done = start_clients(pids);

	pids[CLIENTS] = server_pid();
	if (done) {
		sleep(1);
		cpu[0] = cpu_of_all(pids, CLIENTS + 1);
		switches[0] = switches_of_all(pids, CLIENTS + 1);
		sleep(IDLE);
		cpu[1] = cpu_of_all(pids, CLIENTS + 1);
		switches[1] = switches_of_all(pids, CLIENTS + 1);
		printf("idle for %d s: %d clients with a queue each%s: %.3f %% of a core, %ld "
		       "context switches (goal: none)\n",
		       IDLE, CLIENTS, pids[CLIENTS] ? " and the server" : "",
		       100 * (cpu[1] - cpu[0]) / IDLE, switches[1] - switches[0]);
	}
	for (size_t i = 0; i < CLIENTS; i++) {
		if (pids[i] <= 0)
			continue;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return done;
}

/* --- comparing -------------------------------------------------------------------------------- */

struct comparison {
	const char *name;
	const char *other_name;
	method *run, *other;
	size_t n;
	size_t bytes; /* bytes of one operation, to print its speed; 0: print its time */
	double goal;  /* for the ratio of the speeds, or of the times */
	int cpus;     /* the number of CPUs for both processes of a round trip; 0: no limit */
	bool (*power)(bool on); /* starts or stops the other method; or NULL */
};

#ifdef DPUMAP_BENCH_DPDK
static const struct comparison with_dmadev[] = {
	{"64-byte MMO copies streamed", "dma_skeleton", stream_mmo, stream_dmadev, STREAMED, 0, 2.5,
	 0, dmadev_run},
	{"64-byte MMO copies, one in flight", "dma_skeleton", single_mmo, single_dmadev, SINGLE, 0,
	 3, 0, dmadev_run},
};
#endif

static const struct comparison comparisons[] = {
	{"1 MiB MMO copies", "memcpy", big_mmo, big_memcpy, 256, BIG, 0.9, 0, NULL},
	{"128 KiB of a peer's device memory", "memcpy of a shared mapping", read_dm, read_shared,
	 2048, DM, 0.9, 0, NULL},
	{"a command (PD alloc, PD dealloc) on one processor", "round trip of a Unix socket",
	 make_pds, round_trips, COMMANDS, 0, 2, 1, NULL},
	{"a command (PD alloc, PD dealloc) on two processors", "round trip of a Unix socket",
	 make_pds, round_trips, COMMANDS, 0, 1, 2, NULL},
	{"a registration of 4 KiB, and its end, by REG_MR", "ibv_reg_mr()", register_by_ioctl,
	 register_by_verb, COMMANDS, 0, 1.1, 0, NULL},
};

/* First wake the threads that slept while the other method ran: one sixteenth is not measured. */
static bool time_of(struct bench *bench, method *run, size_t n, double *seconds)
{
	double begin;

	if (!run(bench, n / 16))
		return false;
	begin = bench_now();
	if (!run(bench, n))
		return false;
	*seconds = (bench_now() - begin) / (double)n;
	return true;
}

static bool time_other(struct bench *bench, const struct comparison *c, double *seconds)
{
	bool done;

	if (c->power && !c->power(true))
		return failed("starting the other method");
	done = time_of(bench, c->other, c->n, seconds);
	return (!c->power || c->power(false)) && done;
}

static void print_ratio(const struct comparison *c, double *mine, double *others, double *ratios,
			size_t rounds)
{
	struct bench_stats own, other, ratio;
	double scale = c->bytes ? 1e-9 * (double)c->bytes : 1e9;
	char goal[32];

	bench_stats(mine, rounds, &own);
	bench_stats(others, rounds, &other);
	bench_stats(ratios, rounds, &ratio);
	snprintf(goal, sizeof(goal), "%s %.2f", c->bytes ? "at least" : "at most", c->goal);
	printf("%s : %s, goal %s\n  median %.2f (%.2f to %.2f), best : best %.2f\n", c->name,
	       c->other_name, goal, ratio.median, ratio.min, ratio.max,
	       c->bytes ? other.min / own.min : own.min / other.min);
	if (c->bytes)
		printf("  best %.2f GB/s : %.2f GB/s\n", scale / own.min, scale / other.min);
	else
		printf("  best %.0f ns : %.0f ns\n", scale * own.min, scale * other.min);
	bench_record(&ratio, goal, "%s : %s", c->name, c->other_name);
}

/* Seconds: one copy among others, and after a pause the first copy, a round trip, and a store that wakes a thread. */
struct pause_times {
	double flight, first, trip, ring;
};

static bool pause_once(struct bench *bench, const struct bench_ring *ring, useconds_t pause_us,
		       struct pause_times *t)
{
	double begin = bench_now();

	if (!single_mmo(bench, SINGLE))
		return false;
	t->flight = (bench_now() - begin) / SINGLE;
	usleep(pause_us);
	begin = bench_now();
	if (!single_mmo(bench, 1))
		return false;
	t->first = bench_now() - begin;
	usleep(pause_us);
	begin = bench_now();
	if (!round_trips(bench, 1))
		return false;
	t->trip = bench_now() - begin;
	if (!bench_ring_arm(ring))
		return failed("protecting a page");
	usleep(pause_us);
	begin = bench_now();
	*ring->page = 1;
	t->ring = bench_now() - begin;
	return true;
}

static void print_pause(unsigned int pause_ms, const struct pause_times *times, size_t rounds)
{
	double flight[PAUSES], first[PAUSES], trip[PAUSES], ring[PAUSES], ratio[PAUSES];
	struct bench_stats in_flight, after, trips, bare, ratios;

	for (size_t i = 0; i < rounds; i++) {
		flight[i] = times[i].flight;
		first[i] = times[i].first;
		trip[i] = times[i].trip;
		ring[i] = times[i].ring;
		ratio[i] = first[i] / trip[i];
	}
	bench_stats(flight, rounds, &in_flight);
	bench_stats(first, rounds, &after);
	bench_stats(trip, rounds, &trips);
	bench_stats(ring, rounds, &bare);
	bench_stats(ratio, rounds, &ratios);
	printf("first copy after a pause of %u ms : round trip of a Unix socket after it, goal at "
	       "most "
	       "3\n"
	       "  median %.2f (%.2f to %.2f); the longest of %zu : the median of the other %.1f, "
	       "goal "
	       "at most 10\n"
	       "  median %.1f us (%.1f to %.1f) : %.1f us (%.1f to %.1f); a store that wakes a "
	       "thread "
	       "%.1f us; in flight %.2f us\n",
	       pause_ms, ratios.median, ratios.min, ratios.max, rounds, after.max / trips.median,
	       1e6 * after.median, 1e6 * after.min, 1e6 * after.max, 1e6 * trips.median,
	       1e6 * trips.min, 1e6 * trips.max, 1e6 * bare.median, 1e6 * in_flight.median);
	bench_record(&ratios, "at most 3", "first copy after %u ms : a round trip", pause_ms);
}

static bool measure_pause(struct bench *bench, const struct bench_ring *ring, unsigned int pause_ms,
			  size_t rounds)
{
	static struct pause_times times[PAUSES];

	for (size_t i = 0; i < rounds; i++)
		if (!pause_once(bench, ring, pause_ms * 1000, &times[i]))
			return false;
	print_pause(pause_ms, times, rounds);
	return true;
}

static bool measure_pauses(struct bench *bench)
{
	struct bench_ring ring;
	bool done;

	if (bench->only && !strstr("first copy", bench->only))
		return true;
	if (!bench_ring_open(&ring))
		return failed("userfaultfd");
	*ring.page = 1;
	done = measure_pause(bench, &ring, 10, PAUSES) &&
	       measure_pause(bench, &ring, 100, PAUSES / 16) &&
	       measure_pause(bench, &ring, 1000, PAUSES / 40);
	bench_ring_close(&ring);
	return done;
}

static void place(pid_t pid, const cpu_set_t *all, int nth)
{
	cpu_set_t one;
	int cpu = 0;

	CPU_ZERO(&one);
	while (!CPU_ISSET(cpu, all) || nth--)
		cpu++;
	CPU_SET(cpu, &one);
	sched_setaffinity(pid, sizeof(one), &one);
}

/*
 * Place this process and those that answer it on the same CPU or on two CPUs, for both methods. Waking a
 * process on another, sleeping CPU takes several times as long as switching to it on the same CPU. Returns
 * false if there are too few CPUs.
 */
static bool place_both(const struct bench *bench, const cpu_set_t *all, int cpus)
{
	pid_t server = server_pid();

	if (CPU_COUNT(all) < cpus || !server)
		return false;
	place(0, all, 0);
	place(server, all, cpus - 1);
	place(bench->echo, all, cpus - 1);
	return true;
}

static bool take_turns(struct bench *bench, const struct comparison *c)
{
	static double mine[MAX_ROUNDS], others[MAX_ROUNDS], ratios[MAX_ROUNDS];

	for (size_t i = 0; i <= bench->rounds; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */
		bool first = i % 2;

		if ((first && !time_other(bench, c, &others[at])) ||
		    !time_of(bench, c->run, c->n, &mine[at]) ||
		    (!first && !time_other(bench, c, &others[at])))
			return false;
		ratios[at] = c->bytes ? others[at] / mine[at] : mine[at] / others[at];
	}
	print_ratio(c, mine, others, ratios, bench->rounds);
	return true;
}

static bool compare(struct bench *bench, const struct comparison *c)
{
	cpu_set_t all;
	bool done;

	if (bench->only && !strstr(c->name, bench->only))
		return true;
	if (sched_getaffinity(0, sizeof(all), &all))
		return failed("the processors");
	if (c->cpus && !place_both(bench, &all, c->cpus)) {
		printf("%s: not measured, because this machine has too few processors\n", c->name);
		return true;
	}
	done = take_turns(bench, c);
	if (c->cpus) {
		sched_setaffinity(0, sizeof(all), &all);
		sched_setaffinity(server_pid(), sizeof(all), &all);
	}
	return done;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static bool start_memory(struct bench *bench)
{
	bench->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	bench->shared = mmap(NULL, DM, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bench->memory == MAP_FAILED || bench->shared == MAP_FAILED)
		return failed("memory");
	memset(bench->memory, 1, MEMORY);
	for (size_t i = 0; i < DEPTH; i++) {
		uint8_t *from = bench->memory + i * 4096, *to = from + MEMORY / 2;

		bench->small[i] = (struct raw_copy){(uintptr_t)to, (uintptr_t)from, SMALL};
#ifdef DPUMAP_BENCH_DPDK
		bench->dmadev[i] = (struct dmadev_copy){from, to, SMALL};
#endif
	}
	for (size_t i = 0; i < BIG_DEPTH; i++) {
		uint8_t *from = bench->memory + i * BIG;

		bench->big[i] =
			(struct raw_copy){(uintptr_t)from + MEMORY / 2, (uintptr_t)from, BIG};
	}
	return true;
}

static bool open_dm(struct bench *bench)
{
	const struct bench_export *exported = &bench->peer.exported;
	doca_error_t error;

	bench->dev = bench_open_device(doca_mmap_cap_is_create_from_export_pci_supported);
	if (!bench->dev)
		return false;
	bench->near = bench_map(bench->dev, bench->memory, BIG_DEPTH * DM,
				DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	error = doca_mmap_create_from_export(NULL, exported->desc, exported->desc_len, bench->dev,
					     &bench->far);
	DOCA_ERROR_PROPAGATE(error, dpumap_dma_create(bench->dev, BIG_DEPTH, &bench->dma));
	return (bench->near && error == DOCA_SUCCESS) ||
	       bench_fail("importing the peer's device memory", error) == 0;
}

static void close_dm(struct bench *bench)
{
	if (bench->dma)
		dpumap_dma_destroy(bench->dma);
	if (bench->far)
		doca_mmap_destroy(bench->far);
	if (bench->near)
		doca_mmap_destroy(bench->near);
	if (bench->dev)
		doca_dev_close(bench->dev);
}

#ifdef DPUMAP_BENCH_DPDK
static bool compare_dmadev(struct bench *bench)
{
	bool done = dmadev_open(2 * DEPTH);

	if (!done)
		return false;
	for (size_t i = 0; done && i < ARRAY_SIZE(with_dmadev); i++)
		done = compare(bench, &with_dmadev[i]);
	dmadev_close();
	return done;
}
#else
static bool compare_dmadev(struct bench *bench)
{
	printf("dma_skeleton is not measured: bench_emu was built without libdpdk-dev\n");
	return true;
}
#endif

static bool measure(struct bench *bench)
{
	if (!compare_dmadev(bench))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++)
		if (!compare(bench, &comparisons[i]))
			return false;
	return true;
}

static bool run(struct bench *bench)
{
	bool done;

	if ((!bench->only && !measure_idle()) || !start_memory(bench) || !start_echo(bench))
		return false;
	done = raw_open(&bench->raw, DEPTH, false, bench->memory, MEMORY) && open_dm(bench) &&
	       measure_pauses(bench) && measure(bench);
	close_dm(bench);
	raw_close(&bench->raw);
	close(bench->socket);
	waitpid(bench->echo, NULL, 0);
	return done;
}

static int usage(FILE *to)
{
	fprintf(to,
		"usage: bench_emu [--rounds N] [--only TEXT] -- COMMAND...\n"
		"       bench_emu --export\n\n"
		"Runs on one function of an emulated card. COMMAND starts `bench_emu --export` on\n"
		"the other; DPUMAP_EMU_DIR names the emulator. TEXT: of the comparisons, those\n"
		"whose names contain it.\n");
	return to == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"export", no_argument, NULL, 'e'},
						{"rounds", required_argument, NULL, 'r'},
						{"only", required_argument, NULL, 'o'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	static struct bench bench = {.rounds = 101};
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		if (opt == 'e')
			return bench_export_device_memory(DM);
		if (opt == 'o')
			bench.only = optarg;
		else if (opt == 'r')
			bench.rounds = strtoul(optarg, NULL, 10);
		else
			return usage(opt == 'h' ? stdout : stderr);
	}
	if (optind == argc || bench.rounds < 1 || bench.rounds > MAX_ROUNDS)
		return usage(stderr);
	if (bench_peer_start(&bench.peer, argv + optind))
		return 1;
	done = run(&bench);
	bench_peer_stop(&bench.peer);
	return done ? 0 : 1;
}
