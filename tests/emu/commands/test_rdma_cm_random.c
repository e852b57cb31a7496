/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /dev/infiniband/rdma_cm under random commands, most of them almost valid, and under processes that
 * are killed in any state of a connection. Every command is answered, and no id, connection, port,
 * event or descriptor of the server is left. DPUMAP_RANDOM_MS sets the duration, DPUMAP_KILLS the number
 * of processes, DPUMAP_RANDOM_SEED the sequence.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "cm_raw.h"
#include "emulator.h"
#include "fixture.h"
#include "footprint.h"

#define FILES	   3
#define BODY	   800
#define SCRATCH	   8192
#define FIRST_PORT 17100u
#define PORTS	   6u
#define KILLS	   500
#define AT_ONCE	   4
#define LIFE_MS	   30
#define NONE	   0xffffu
#define COMMANDS   25u

static uint64_t sequence;
static uint8_t scratch[SCRATCH];

static uint32_t draw(uint32_t below)
{
	return test_draw(&sequence, below);
}

/* --- random commands -------------------------------------------------------------------------- */

/* Where a command has its members; NONE: it lacks them. */
static const struct layout {
	uint16_t in, out, response, id, addr;
} layouts[COMMANDS] = {
#define AT(type, member) offsetof(struct rdma_ucm_##type, member)
#define SIZE(type)	 sizeof(struct rdma_ucm_##type)
	[RDMA_USER_CM_CMD_CREATE_ID] = {SIZE(create_id), 4, AT(create_id, response), NONE, NONE},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {SIZE(destroy_id), 4, AT(destroy_id, response),
					 AT(destroy_id, id), NONE},
	[RDMA_USER_CM_CMD_BIND_IP] = {SIZE(bind_ip), 0, NONE, AT(bind_ip, id), AT(bind_ip, addr)},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {SIZE(resolve_ip), 0, NONE, AT(resolve_ip, id),
					 AT(resolve_ip, dst_addr)},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {SIZE(resolve_route), 0, NONE, AT(resolve_route, id),
					    NONE},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {SIZE(query), SIZE(query_route_resp), AT(query, response),
					  AT(query, id), NONE},
	[RDMA_USER_CM_CMD_CONNECT] = {SIZE(connect), 0, NONE, AT(connect, id), NONE},
	[RDMA_USER_CM_CMD_LISTEN] = {SIZE(listen), 0, NONE, AT(listen, id), NONE},
	[RDMA_USER_CM_CMD_ACCEPT] = {SIZE(accept), 0, NONE, AT(accept, id), NONE},
	[RDMA_USER_CM_CMD_REJECT] = {SIZE(reject), 0, NONE, AT(reject, id), NONE},
	[RDMA_USER_CM_CMD_DISCONNECT] = {SIZE(disconnect), 0, NONE, AT(disconnect, id), NONE},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {SIZE(init_qp_attr), sizeof(struct ib_uverbs_qp_attr),
					   AT(init_qp_attr, response), AT(init_qp_attr, id), NONE},
	[RDMA_USER_CM_CMD_GET_EVENT] = {SIZE(get_event), SIZE(event_resp), AT(get_event, response),
					NONE, NONE},
	[RDMA_USER_CM_CMD_GET_OPTION] = {16, 0, NONE, NONE, NONE},
	[RDMA_USER_CM_CMD_SET_OPTION] = {SIZE(set_option), 0, AT(set_option, optval),
					 AT(set_option, id), NONE},
	[RDMA_USER_CM_CMD_NOTIFY] = {SIZE(notify), 0, NONE, AT(notify, id), NONE},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {SIZE(join_ip_mcast), 4, AT(join_ip_mcast, response),
					    AT(join_ip_mcast, id), AT(join_ip_mcast, addr)},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {SIZE(destroy_id), 4, AT(destroy_id, response),
					  AT(destroy_id, id), NONE},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {SIZE(migrate_id), 4, AT(migrate_id, response),
					 AT(migrate_id, id), NONE},
	[RDMA_USER_CM_CMD_QUERY] = {SIZE(query), 512, AT(query, response), AT(query, id), NONE},
	[RDMA_USER_CM_CMD_BIND] = {SIZE(bind), 0, NONE, AT(bind, id), AT(bind, addr)},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {SIZE(resolve_addr), 0, NONE, AT(resolve_addr, id),
					   AT(resolve_addr, dst_addr)},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {SIZE(join_mcast), 4, AT(join_mcast, response),
					 AT(join_mcast, id), AT(join_mcast, addr)},
	[23] = {16, 0, NONE, 0, NONE},
	[24] = {24, 0, NONE, 0, NONE},
#undef AT
#undef SIZE
};

static void put(uint8_t *body, uint16_t at, const void *value, size_t len)
{
	if (at != NONE)
		memcpy(body + at, value, len);
}

static void fill_words(uint32_t *body)
{
	static const uint32_t likely[] = {0, 0, 0, 1, 2, 3, 16, 28, RDMA_PS_TCP, RDMA_PS_UDP, ~0u};

	for (size_t i = 0; i < BODY / sizeof(*body); i++)
		body[i] = draw(8) ? likely[draw(ARRAY_SIZE(likely))] : draw(UINT32_MAX);
}

static void random_command(const int *files)
{
	static const char *const ips[] = {CM_DPU, CM_HOST, "127.0.0.1", "0.0.0.0", "239.1.1.1"};
	struct {
		struct rdma_ucm_cmd_hdr h;
		uint32_t body[BODY / 4];
	} c;
	const struct layout *l;
	size_t len;
	struct sockaddr_in a = cm_addr(ips[draw(5)], (uint16_t)(FIRST_PORT + draw(PORTS)));
	uint64_t response = draw(10) ? (uintptr_t)scratch : draw(2) ? 16 : draw(UINT32_MAX);
	uint32_t id = draw(10);

	fill_words(c.body);
	c.h.cmd = draw(COMMANDS + 1);
	l = &layouts[c.h.cmd % COMMANDS];
	put((uint8_t *)c.body, l->response, &response, sizeof(response));
	put((uint8_t *)c.body, l->id, &id, sizeof(id));
	if (draw(4))
		put((uint8_t *)c.body, l->addr, &a, sizeof(a));
	c.h.in = draw(8) ? l->in : (uint16_t)draw(BODY);
	c.h.out = draw(8) ? l->out : (uint16_t)draw(SCRATCH);
	len = sizeof(c.h) + (draw(8) ? c.h.in : draw(BODY));
	if (write(files[draw(FILES)], &c, len) < 0)
		assert_int_not_equal(errno, EIO); /* the server has ended */
}

static void random_commands_leave_nothing(void **state)
{
	uint64_t end = monotonic_ms() + test_setting("DPUMAP_RANDOM_MS", 1500);
	int files[FILES], i;
	unsigned long n = 0;

	for (i = 0; i < FILES; i++)
		files[i] = cm_open(O_NONBLOCK);
	for (; monotonic_ms() < end; n++) {
		random_command(files);
		if (draw(200))
			continue;
		i = (int)draw(FILES);
		close(files[i]);
		files[i] = cm_open(O_NONBLOCK);
		assert_true(files[i] >= 0);
	}
	printf("%lu commands\n", n);
	for (i = 0; i < FILES; i++)
		close(files[i]);
}

/* --- killed processes ------------------------------------------------------------------------- */

static uint16_t any_port(void)
{
	return (uint16_t)(FIRST_PORT + draw(PORTS));
}

static void handle(int fd, const struct rdma_ucm_event_resp *e)
{
	switch (e->event) {
	case CM_CONNECT_REQUEST:
		if (draw(4))
			cm_accept(fd, e->id, 1 + draw(100), "hi", 3);
		else if (draw(2))
			cm_reject(fd, e->id, NULL, 0);
		break;
	case CM_ADDR_RESOLVED:
		cm_route(fd, e->id);
		break;
	case CM_ROUTE_RESOLVED:
		cm_connect(fd, e->id, "ho", 3);
		break;
	case CM_CONNECT_RESPONSE:
		if (draw(8))
			cm_accept(fd, e->id, 0, NULL, 0);
		break;
	case CM_ESTABLISHED:
		if (draw(2))
			cm_disconnect(fd, e->id);
		break;
	default:
		if (draw(2))
			cm_destroy(fd, e->id, NULL);
		break;
	}
}

/* Talk to the other processes, and to itself, until it is killed. */
static void live(uint64_t seed)
{
	struct rdma_ucm_event_resp e;
	uint16_t ps;
	uint32_t id;
	int fd = cm_open(O_NONBLOCK);

	sequence = seed;
	cm_qpn = (uint32_t)(seed & 0xffff) << 8;
	for (;;) {
		ps = draw(3) ? RDMA_PS_TCP : RDMA_PS_UDP;
		if (!cm_create(fd, ps, 1 + draw(100), &id)) {
			if (draw(2))
				cm_resolve(fd, id, CM_DPU, any_port());
			else if (!cm_bind(fd, id, CM_DPU, any_port()))
				cm_listen(fd, id, draw(4));
		}
		while (!cm_event(fd, &e))
			handle(fd, &e);
		if (!draw(20)) {
			close(fd);
			fd = cm_open(draw(2) ? O_NONBLOCK : 0);
			if (draw(2))
				cm_event(fd, &e); /* may wait for ever */
			fcntl(fd, F_SETFL, O_NONBLOCK);
		}
	}
}

static pid_t start(void)
{
	uint64_t seed = draw(UINT32_MAX);
	pid_t pid = fork();

	if (!pid) {
		alarm(FIXTURE_TIMEOUT_MS / 1000);
		live(seed);
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void killed_processes_leave_nothing(void **state)
{
	pid_t server = emulator_server_of(getenv("DPUMAP_EMU_DIR")), pids[AT_ONCE];
	unsigned int kills = (unsigned int)test_setting("DPUMAP_KILLS", KILLS), i;
	long before;
	uint64_t deadline;
	int fd = cm_open(0); /* the connection of this process */

	assert_true(fd >= 0);
	/* The first message creates the server's timer. */
	assert_int_equal(cm_connect(fd, cm_routed(fd, RDMA_PS_TCP, CM_DPU, 1, 1), NULL, 0), 0);
	cm_expect(fd, CM_REJECTED);
	before = footprint_descriptors(server);
	for (i = 0; i < AT_ONCE; i++)
		pids[i] = start();
	for (i = 0; i < kills; i++) {
		usleep(draw(LIFE_MS) * 1000 / AT_ONCE);
		end(pids[i % AT_ONCE]);
		pids[i % AT_ONCE] = start();
	}
	for (i = 0; i < AT_ONCE; i++)
		end(pids[i]);
	deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	while (footprint_descriptors(server) != before && monotonic_ms() < deadline)
		usleep(10000);
	assert_int_equal(footprint_descriptors(server), before);
	/* All ports are free again. */
	for (i = 0; i < PORTS; i++) {
		uint32_t id;

		assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
		assert_int_equal(cm_bind(fd, id, "0.0.0.0", (uint16_t)(FIRST_PORT + i)), 0);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(random_commands_leave_nothing),
		counted_test(killed_processes_leave_nothing),
	};

	test_parse_options(argc, argv);
	sequence = test_setting("DPUMAP_RANDOM_SEED", (unsigned long)monotonic_ms());
	printf("seed %llu\n", (unsigned long long)sequence);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
