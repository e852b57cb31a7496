/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An engine that sleeps without a timer wakes for each way to ring, and for the end of the server. An
 * engine sleeps like that if its thread is in a futex call without a timeout.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "base/array.h"
#include "emulator.h"
#include "fixture.h"
#include "rc.h"

#define SOCKET_ENV   "DPUMAP_TEST_SOCKET"
#define ENGINE	     "emu-dma-engine"
#define WATCHER	     "emu-doorbells"
#define PAUSES	     2000
#define THREADS	     3
#define LONGEST_US   200 /* an engine falls asleep after 60 us */
#define IDLE_SECONDS 2
#define OFFSET	     4096

/* --- threads of a process --------------------------------------------------------------------- */

static bool read_file(const char *thread, const char *file, char *text, size_t len)
{
	char path[80];
	size_t n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/%s", thread, file);
	in = fopen(path, "re");
	if (in) {
		n = fread(text, 1, len - 1, in);
		fclose(in);
	}
	text[n] = '\0';
	return n > 0;
}

static bool in_threads(const char *name, bool (*visit)(const char *thread, void *arg), void *arg)
{
	const struct dirent *entry;
	bool all = true, any = false;
	char comm[32];
	DIR *tasks = opendir("/proc/self/task");

	while (tasks && (entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    !read_file(entry->d_name, "comm", comm, sizeof(comm)))
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		if (strcmp(comm, name) != 0)
			continue;
		any = true;
		all = visit(entry->d_name, arg) && all;
	}
	if (tasks)
		closedir(tasks);
	return any && all;
}

/* The arguments are the word, the operation, the value and the timeout. */
static bool sleeps(const char *thread, void *arg)
{
	unsigned long timeout;
	char text[256];
	long number;

	(void)arg;
	return read_file(thread, "syscall", text, sizeof(text)) &&
	       sscanf(text, "%ld %*x %*x %*x %lx", &number, &timeout) == 2 && number == SYS_futex &&
	       !timeout;
}

static bool waits(const char *thread, void *arg)
{
	char text[256];

	(void)arg;
	return read_file(thread, "syscall", text, sizeof(text)) && strncmp(text, "running", 7) != 0;
}

/* The watcher executes what was rung, and wakes the engine afterwards: the engine sleeps once the watcher waits. */
static bool await_sleep(void)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (!in_threads(WATCHER, waits, NULL) || !in_threads(ENGINE, sleeps, NULL)) {
		if (monotonic_ms() > deadline)
			return false;
		usleep(100);
	}
	return true;
}

static bool add_switches(const char *thread, void *arg)
{
	unsigned long *sum = arg, n;
	char text[4096];
	const char *at;

	if (!read_file(thread, "status", text, sizeof(text)))
		return false;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!at || sscanf(at, " voluntary_ctxt_switches: %lu", &n) != 1)
		return false;
	*sum += n;
	return true;
}

static unsigned long switches(void)
{
	unsigned long sum = 0;

	assert_true(in_threads(ENGINE, add_switches, &sum));
	assert_true(in_threads(WATCHER, add_switches, &sum));
	return sum;
}

/* --- fixture ---------------------------------------------------------------------------------- */

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct rc rc;

static bool open_queue(void)
{
	context = fixture_open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	return pd && rc_open_loopback(&rc, pd);
}

static bool close_queue(void)
{
	return rc_close(&rc) && !ibv_dealloc_pd(pd) && !ibv_close_device(context);
}

static int copy_on(struct rc *to)
{
	return rc_write(to, to->mr->rkey, (uintptr_t)to->bytes + OFFSET, 64);
}

/* The line of `dpumap-emu status` about a process. */
static void read_way(const char *dir, pid_t pid, char *way, size_t len)
{
	const char *const argv[] = {test_options.emu, "status", "--dir", dir, NULL};
	char line[256], begin[40];
	FILE *in;
	int from;
	pid_t child = process_spawn(argv, NULL, &from);

	assert_true(child > 0);
	in = fdopen(from, "r");
	assert_non_null(in);
	snprintf(begin, sizeof(begin), "process %d doorbells ", (int)pid);
	way[0] = '\0';
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, begin, strlen(begin)))
			snprintf(way, len, "%.*s", (int)strcspn(line + strlen(begin), "\n"),
				 line + strlen(begin));
	fclose(in);
	assert_int_equal(process_exit_code(child), 0);
}

static void needs_rings(void)
{
	char way[128];

	read_way(getenv("DPUMAP_EMU_DIR"), getpid(), way, sizeof(way));
	if (strcmp(way, "userfaultfd") != 0)
		test_lacks(way);
}

static int setup(void **state)
{
	return fixture_count(state) || !open_queue() ? -1 : 0;
}

static int teardown(void **state)
{
	return close_queue() ? fixture_recount(state) : -1;
}

/* --- a send queue that the test writes itself ------------------------------------------------- */

struct manual {
	struct rc rc;
	struct mlx5dv_qp qp;
	uint16_t posted;
};

static void open_manual(struct manual *m)
{
	struct mlx5dv_obj objects = {.qp = {.out = &m->qp}};

	memset(m, 0, sizeof(*m));
	assert_true(rc_open_loopback(&m->rc, pd));
	objects.qp.in = m->rc.qp;
	assert_int_equal(mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP), 0);
}

static void post_nop(struct manual *m, void *page)
{
	struct mlx5_wqe_ctrl_seg *wqe =
		(void *)((uint8_t *)m->qp.sq.buf +
			 (size_t)(m->posted % m->qp.sq.wqe_cnt) * m->qp.sq.stride);
	uint64_t ring;

	memset(wqe, 0, sizeof(*wqe));
	wqe->opmod_idx_opcode = htobe32((uint32_t)m->posted << 8 | MLX5_OPCODE_NOP);
	wqe->qpn_ds = htobe32(m->rc.qp->qp_num << 8 | 1);
	wqe->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	m->posted++;
	__atomic_store_n(&m->qp.dbrec[MLX5_SND_DBR], htobe32(m->posted), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&ring, wqe, sizeof(ring));
	*(volatile uint64_t *)page = ring;
}

/* --- ways to ring ----------------------------------------------------------------------------- */

static void a_posted_send_wakes(void **state)
{
	needs_rings();
	for (int i = 0; i < 20; i++) {
		assert_true(await_sleep());
		assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
	}
}

/* The first pass after a pause is made by another thread than those before it. */
static void missing_memory_after_a_pause_is_an_error(void **state)
{
	const int both = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, len, both, flags, -1, 0);
	struct ibv_sge sge = {(uintptr_t)page, 64, 0};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mr *mr;

	needs_rings();
	wr.wr.rdma.rkey = rc.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)rc.bytes + OFFSET;
	for (int i = 0; i < 10; i++) {
		assert_ptr_equal(mmap(page, len, both, flags | MAP_FIXED, -1, 0), page);
		mr = ibv_reg_mr(pd, page, len, 0);
		assert_non_null(mr);
		sge.lkey = mr->lkey;
		assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS); /* the engine checks the handlers */
		assert_true(await_sleep());
		assert_int_equal(munmap(page, len), 0);
		assert_true(rc_post(&rc, &wr));
		assert_int_equal(rc_wait(&rc, FIXTURE_TIMEOUT_MS), IBV_WC_LOC_PROT_ERR);
		assert_int_equal(ibv_dereg_mr(mr), 0);
		assert_true(rc_reconnect(&rc));
	}
}

static void a_devx_page_wakes(void **state)
{
	struct mlx5dv_devx_uar *uar;
	struct manual m;

	needs_rings();
	open_manual(&m);
	for (int i = 0; i < 3; i++) { /* the engine sleeps when the page is mapped */
		assert_true(await_sleep());
		uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
		assert_non_null(uar);
		assert_true(await_sleep());
		post_nop(&m, uar->reg_addr);
		assert_int_equal(rc_wait(&m.rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
		assert_true(await_sleep());
		mlx5dv_devx_free_uar(uar);
		assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
	}
	assert_true(rc_close(&m.rc));
}

static void an_armed_queue_wakes(void **state)
{
	struct ibv_sge sge = {(uintptr_t)rc.bytes, 64, rc.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};
	struct pollfd event = {rc.channel->fd, POLLIN, 0};
	struct ibv_cq *cq;
	void *arg;

	needs_rings();
	wr.wr.rdma.rkey = rc.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)rc.bytes + OFFSET;
	for (int i = 0; i < 3; i++) {
		assert_true(rc_post(&rc, &wr));
		assert_true(await_sleep());
		assert_int_equal(ibv_req_notify_cq(rc.cq, 0), 0);
		assert_int_equal(poll(&event, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_int_equal(ibv_get_cq_event(rc.channel, &cq, &arg), 0);
		ibv_ack_cq_events(cq, 1);
		assert_int_equal(rc_wait(&rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
	}
}

/* A receive is posted without a ring: the engine must not sleep while a message waits for one. */
static void a_receive_for_a_waiting_message_is_seen(void **state)
{
	struct ibv_sge sge = {(uintptr_t)rc.bytes + OFFSET, 64, rc.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	needs_rings();
	assert_true(await_sleep());
	assert_true(rc_post(&rc, &wr));
	usleep(5000);
	assert_true(rc_receive(&rc, 64));
	assert_int_equal(rc_wait(&rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
	assert_int_equal(rc_wait(&rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
	assert_true(await_sleep());
}

/* A failed queue pair flushes receives, which are posted without a ring. */
static void a_receive_of_a_failed_queue_is_flushed(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	needs_rings();
	assert_true(await_sleep());
	assert_int_equal(ibv_modify_qp(rc.qp, &attr, IBV_QP_STATE), 0);
	for (int i = 0; i < 3; i++) {
		usleep(2000);
		assert_true(rc_receive(&rc, 64));
		assert_int_equal(rc_wait(&rc, FIXTURE_TIMEOUT_MS), IBV_WC_WR_FLUSH_ERR);
	}
	assert_true(rc_reconnect(&rc));
	assert_true(await_sleep());
	assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
}

/* --- several processes ------------------------------------------------------------------------ */

/* A child has its own mapping of each page, without protection: it must not hang. */
static void a_forked_child_may_ring(void **state)
{
	struct mlx5dv_devx_uar *uar;
	pid_t child;

	needs_rings();
	uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
	assert_non_null(uar);
	assert_true(await_sleep());
	child = fork();
	if (!child) {
		alarm(FIXTURE_TIMEOUT_MS / 1000);
		*(volatile uint64_t *)uar->reg_addr = 0;
		_exit(0);
	}
	assert_int_equal(process_exit_code(child), 0);
	assert_true(await_sleep());
	assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
	mlx5dv_devx_free_uar(uar);
}

static void *shared_memory(struct ibv_pd *domain, void *arg, size_t size, size_t alignment,
			   uint64_t type)
{
	void *p = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	(void)domain;
	(void)arg;
	(void)type;
	return p == MAP_FAILED ? NULL
			       : (void *)(((uintptr_t)p + alignment - 1) / alignment * alignment);
}

static void keep_memory(struct ibv_pd *domain, void *arg, void *p, uint64_t type)
{
	(void)domain;
	(void)arg;
	(void)p;
	(void)type;
}

/* Its ring is not seen, so the engine looks. */
static void a_child_that_shares_a_queue_may_post(void **state)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = shared_memory,
		.free = keep_memory,
	};
	struct ibv_pd *own = pd, *shared;
	struct manual m;
	char way[128];
	pid_t child;

	needs_rings();
	shared = ibv_alloc_parent_domain(context, &attr);
	assert_non_null(shared);
	assert_true(await_sleep());
	pd = shared;
	open_manual(&m);
	pd = own;
	do {
		usleep(1000);
		read_way(getenv("DPUMAP_EMU_DIR"), getpid(), way, sizeof(way));
	} while (!strcmp(way, "userfaultfd"));
	assert_string_equal(way, "naps, queues in shared memory");
	child = fork();
	if (!child) {
		post_nop(&m, m.qp.bf.reg);
		_exit(0);
	}
	assert_int_equal(process_exit_code(child), 0);
	assert_int_equal(rc_wait(&m.rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
	assert_true(rc_close(&m.rc));
	assert_int_equal(ibv_dealloc_pd(shared), 0);
	assert_true(await_sleep());
	assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
}

/* The peer answers each message when its engine sleeps. */
static int be_peer(int socket)
{
	struct rc_address remote;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	char c;

	context = fixture_open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd || !rc_open(&rc, pd) || !process_send(socket, &rc.address, sizeof(rc.address)) ||
	    !process_receive(socket, &remote, sizeof(remote)) || !rc_connect(&rc, &remote))
		return 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	sge = (struct ibv_sge){(uintptr_t)rc.bytes + OFFSET, 64, rc.mr->lkey};
	while (rc_receive(&rc, 64) && await_sleep() && process_send(socket, "r", 1) &&
	       process_receive(socket, &c, 1)) {
		if (rc_wait(&rc, FIXTURE_TIMEOUT_MS) || !await_sleep() || !rc_post(&rc, &wr) ||
		    rc_wait(&rc, FIXTURE_TIMEOUT_MS))
			return 2;
	}
	return close_queue() ? 0 : 3;
}

static void a_message_wakes_both_processes(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct rc_address remote;
	struct process peer;
	struct rc own;
	char c;

	needs_rings();
	wr.send_flags = IBV_SEND_SIGNALED;
	assert_true(rc_open(&own, pd));
	sge = (struct ibv_sge){(uintptr_t)own.bytes + OFFSET, 64, own.mr->lkey};
	assert_true(process_start_on_socket(&peer, test_options.peer_as, SOCKET_ENV));
	assert_true(process_receive(peer.from, &remote, sizeof(remote)));
	assert_true(process_send(peer.to, &own.address, sizeof(own.address)));
	assert_true(rc_connect(&own, &remote));
	for (int i = 0; i < 10; i++) {
		assert_true(rc_receive(&own, 64));
		assert_true(process_receive(peer.from, &c, 1));
		assert_true(await_sleep());
		assert_true(rc_post(&own, &wr));
		assert_true(process_send(peer.to, "g", 1));
		assert_int_equal(rc_wait(&own, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
		assert_int_equal(rc_wait(&own, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
	}
	assert_true(process_receive(peer.from, &c, 1));
	assert_true(process_finish(&peer));
	assert_true(rc_close(&own));
}

/* --- programs --------------------------------------------------------------------------------- */

static volatile sig_atomic_t faults;

static void on_fault(int number)
{
	(void)number;
	faults = faults + 1;
}

static void a_handler_of_the_program_is_not_called(void **state)
{
	struct sigaction ours = {.sa_handler = on_fault}, segv, bus;

	needs_rings();
	assert_int_equal(sigaction(SIGSEGV, &ours, &segv), 0);
	assert_int_equal(sigaction(SIGBUS, &ours, &bus), 0);
	for (int i = 0; i < 10; i++) {
		assert_true(await_sleep());
		assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	assert_int_equal(faults, 0);
}

/* As a container's profile does. */
static bool forbid_userfaultfd(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool report(void)
{
	char c;

	return write(STDOUT_FILENO, "r", 1) == 1 && read(STDIN_FILENO, &c, 1) == 1;
}

static int be_forbidden(void)
{
	if (!forbid_userfaultfd() || !open_queue() || !report())
		return 1;
	for (int i = 0; i < 10; i++) {
		usleep(1000);
		if (copy_on(&rc))
			return 2;
	}
	return close_queue() ? 0 : 3;
}

static int be_asleep(void)
{
	if (!open_queue() || !rc_receive(&rc, 64) || !await_sleep() || !report())
		return 1;
	return rc_wait(&rc, FIXTURE_TIMEOUT_MS) == IBV_WC_WR_FLUSH_ERR ? 0 : 2;
}

/* Start this program in a role on its own emulator, and wait until it is ready. */
static pid_t start_role(struct emulator *emulator, const char *role, int *to)
{
	pid_t pid;
	int from;
	char c;

	assert_true(emulator_start(emulator));
	pid = emulator_spawn(emulator, "dpu", role, to, &from);
	assert_true(pid > 0);
	assert_int_equal(read(from, &c, 1), 1);
	close(from);
	return pid;
}

static void a_program_without_userfaultfd_works(void **state)
{
	struct emulator emulator;
	char way[128];
	int to;
	pid_t pid = start_role(&emulator, "forbidden", &to);

	read_way(emulator.dir, pid, way, sizeof(way));
	assert_int_equal(write(to, "g", 1), 1);
	assert_int_equal(process_exit_code(pid), 0);
	close(to);
	assert_true(emulator_stop(&emulator));
	assert_string_equal(way, "naps, userfaultfd: Operation not permitted");
}

static void the_end_of_the_server_wakes(void **state)
{
	struct emulator emulator;
	pid_t pid;
	int to;

	needs_rings();
	pid = start_role(&emulator, "asleep", &to);
	assert_int_equal(kill(emulator.server, SIGKILL), 0);
	assert_int_equal(write(to, "g", 1), 1);
	assert_int_equal(process_exit_code(pid), 0);
	close(to);
}

/* A completion event takes one wake-up: the server has no part in it. */
static void a_stopped_server_does_not_delay_events(void **state)
{
	struct pollfd event = {.fd = rc.channel->fd, .events = POLLIN};
	pid_t server = emulator_server_of(getenv("DPUMAP_EMU_DIR"));
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_cq *cq;
	bool posted;
	void *arg;
	int n;

	needs_rings();
	assert_true(server > 0);
	wr.wr.rdma.rkey = rc.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)rc.bytes + OFFSET;
	assert_int_equal(ibv_req_notify_cq(rc.cq, 0), 0);
	assert_int_equal(kill(server, SIGSTOP), 0);
	posted = rc_post(&rc, &wr);
	n = posted ? poll(&event, 1, 2000) : 0;
	assert_int_equal(kill(server, SIGCONT), 0);
	assert_true(posted);
	assert_int_equal(n, 1);
	assert_int_equal(ibv_get_cq_event(rc.channel, &cq, &arg), 0);
	assert_ptr_equal(cq, rc.cq);
	ibv_ack_cq_events(cq, 1);
	assert_int_equal(rc_wait(&rc, 1000), IBV_WC_SUCCESS);
}

/* --- counts ----------------------------------------------------------------------------------- */

static void an_idle_process_never_wakes(void **state)
{
	unsigned long before;

	needs_rings();
	assert_int_equal(copy_on(&rc), IBV_WC_SUCCESS);
	assert_true(await_sleep());
	before = switches();
	sleep(IDLE_SECONDS);
	assert_int_equal(switches() - before, 0);
}

struct ringer {
	struct rc rc;
	pthread_t thread;
	uint64_t seed;
	int failed;
};

/* Pauses around the one after which the engine falls asleep. */
static void ring_after_pauses(struct ringer *r, unsigned int n)
{
	while (n-- && !r->failed) {
		usleep(test_draw(&r->seed, LONGEST_US));
		r->failed = copy_on(&r->rc);
	}
}

static void *run_ringer(void *arg)
{
	ring_after_pauses(arg, PAUSES / THREADS);
	return NULL;
}

static void no_ring_is_lost(void **state)
{
	struct ringer *r = calloc(THREADS, sizeof(*r));

	needs_rings();
	assert_non_null(r);
	for (unsigned int i = 0; i < THREADS; i++) {
		r[i].seed = i + 1;
		assert_true(rc_open_loopback(&r[i].rc, pd));
	}
	ring_after_pauses(&r[0], PAUSES);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&r[i].thread, NULL, run_ringer, &r[i]), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(r[i].thread, NULL);
		assert_int_equal(r[i].failed, 0);
		assert_true(rc_close(&r[i].rc));
	}
	free(r);
}

#define rings(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rings(a_posted_send_wakes),
		rings(missing_memory_after_a_pause_is_an_error),
		rings(a_devx_page_wakes),
		rings(an_armed_queue_wakes),
		rings(a_receive_for_a_waiting_message_is_seen),
		rings(a_receive_of_a_failed_queue_is_flushed),
		rings(a_forked_child_may_ring),
		rings(a_child_that_shares_a_queue_may_post),
		rings(a_message_wakes_both_processes),
		rings(a_handler_of_the_program_is_not_called),
		rings(a_program_without_userfaultfd_works),
		rings(the_end_of_the_server_wakes),
		rings(a_stopped_server_does_not_delay_events),
		rings(an_idle_process_never_wakes),
		rings(no_ring_is_lost),
	};
	const char *role = getenv(EMULATOR_ROLE_ENV);
	int socket = process_inherited(SOCKET_ENV);

	test_parse_options(argc, argv);
	if (socket >= 0)
		return be_peer(socket);
	if (role)
		_exit(strcmp(role, "asleep") != 0 ? be_forbidden() : be_asleep());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
