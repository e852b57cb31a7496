/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cm_raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define COMMAND_MAX 1024

uint32_t cm_qpn = 0x1000;

int cm_open(int flags)
{
	return open(CM_PATH, O_RDWR | O_CLOEXEC | flags);
}

int cm_command(int fd, uint32_t cmd, const void *in, size_t in_len, const void *out, size_t out_len)
{
	struct rdma_ucm_cmd_hdr h = {cmd, (uint16_t)in_len, (uint16_t)out_len};
	uint8_t buf[COMMAND_MAX];
	size_t len = sizeof(h) + in_len;

	(void)out; /* the command has its address */
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), in, in_len);
	return write(fd, buf, len) == (ssize_t)len ? 0 : errno;
}

struct sockaddr_in cm_addr(const char *ip, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	assert_int_equal(inet_pton(AF_INET, ip, &a.sin_addr), 1);
	return a;
}

int cm_create(int fd, uint16_t ps, uint64_t uid, uint32_t *id)
{
	struct rdma_ucm_create_id_resp r = {0};
	struct rdma_ucm_create_id c = {.uid = uid, .response = (uintptr_t)&r, .ps = ps};
	int err = cm_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), &r, sizeof(r));

	*id = r.id;
	return err;
}

int cm_destroy(int fd, uint32_t id, uint32_t *events)
{
	struct rdma_ucm_destroy_id_resp r = {0};
	struct rdma_ucm_destroy_id c = {.response = (uintptr_t)&r, .id = id};
	int err = cm_command(fd, RDMA_USER_CM_CMD_DESTROY_ID, &c, sizeof(c), &r, sizeof(r));

	if (events)
		*events = r.events_reported;
	return err;
}

int cm_bind(int fd, uint32_t id, const char *ip, uint16_t port)
{
	struct sockaddr_in a = cm_addr(ip, port);
	struct rdma_ucm_bind c = {.id = id, .addr_size = sizeof(a)};

	memcpy(&c.addr, &a, sizeof(a));
	return cm_command(fd, RDMA_USER_CM_CMD_BIND, &c, sizeof(c), NULL, 0);
}

int cm_listen(int fd, uint32_t id, uint32_t backlog)
{
	const struct rdma_ucm_listen c = {id, backlog};

	return cm_command(fd, RDMA_USER_CM_CMD_LISTEN, &c, sizeof(c), NULL, 0);
}

int cm_resolve(int fd, uint32_t id, const char *ip, uint16_t port)
{
	struct sockaddr_in a = cm_addr(ip, port);
	struct rdma_ucm_resolve_addr c = {.id = id, .timeout_ms = 2000, .dst_size = sizeof(a)};

	memcpy(&c.dst_addr, &a, sizeof(a));
	return cm_command(fd, RDMA_USER_CM_CMD_RESOLVE_ADDR, &c, sizeof(c), NULL, 0);
}

int cm_route(int fd, uint32_t id)
{
	const struct rdma_ucm_resolve_route c = {id, 2000};

	return cm_command(fd, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &c, sizeof(c), NULL, 0);
}

static struct rdma_ucm_conn_param param(const void *data, uint8_t len)
{
	struct rdma_ucm_conn_param p = {
		.qp_num = ++cm_qpn,
		.private_data_len = len,
		.responder_resources = 3,
		.initiator_depth = 5,
		.retry_count = 7,
		.rnr_retry_count = 6,
		.valid = 1,
	};

	if (len)
		memcpy(p.private_data, data, len);
	return p;
}

int cm_connect(int fd, uint32_t id, const void *data, uint8_t len)
{
	const struct rdma_ucm_connect c = {
		.conn_param = param(data, len),
		.id = id,
		.ece = {.vendor_id = 0x15b3, .attr_mod = 7},
	};

	return cm_command(fd, RDMA_USER_CM_CMD_CONNECT, &c, sizeof(c), NULL, 0);
}

int cm_accept(int fd, uint32_t id, uint64_t uid, const void *data, uint8_t len)
{
	struct rdma_ucm_accept c = {.uid = uid, .id = id};

	if (uid)
		c.conn_param = param(data, len);
	return cm_command(fd, RDMA_USER_CM_CMD_ACCEPT, &c, sizeof(c), NULL, 0);
}

int cm_reject(int fd, uint32_t id, const void *data, uint8_t len)
{
	struct rdma_ucm_reject c = {.id = id, .private_data_len = len};

	if (len)
		memcpy(c.private_data, data, len);
	return cm_command(fd, RDMA_USER_CM_CMD_REJECT, &c, sizeof(c), NULL, 0);
}

int cm_disconnect(int fd, uint32_t id)
{
	const struct rdma_ucm_disconnect c = {id};

	return cm_command(fd, RDMA_USER_CM_CMD_DISCONNECT, &c, sizeof(c), NULL, 0);
}

int cm_event(int fd, struct rdma_ucm_event_resp *e)
{
	const struct rdma_ucm_get_event c = {(uintptr_t)e};

	return cm_command(fd, RDMA_USER_CM_CMD_GET_EVENT, &c, sizeof(c), e, sizeof(*e));
}

int cm_set_option(int fd, uint32_t id, uint32_t level, uint32_t name, const void *value,
		  uint32_t len)
{
	const struct rdma_ucm_set_option c = {(uintptr_t)value, id, level, name, len};

	return cm_command(fd, RDMA_USER_CM_CMD_SET_OPTION, &c, sizeof(c), NULL, 0);
}

int cm_query_addr(int fd, uint32_t id, struct rdma_ucm_query_addr_resp *r)
{
	const struct rdma_ucm_query c = {(uintptr_t)r, id, RDMA_USER_CM_QUERY_ADDR};

	memset(r, 0, sizeof(*r));
	return cm_command(fd, RDMA_USER_CM_CMD_QUERY, &c, sizeof(c), r, sizeof(*r));
}

bool cm_readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

struct rdma_ucm_event_resp cm_expect(int fd, uint32_t type)
{
	struct rdma_ucm_event_resp e = {0};

	assert_true(cm_readable(fd, FIXTURE_TIMEOUT_MS));
	assert_int_equal(cm_event(fd, &e), 0);
	assert_int_equal(e.event, type);
	return e;
}

uint32_t cm_listener(int fd, uint16_t ps, const char *ip, uint64_t uid, uint16_t *port)
{
	struct rdma_ucm_query_addr_resp r;
	struct sockaddr_in a;
	uint32_t id;

	assert_int_equal(cm_create(fd, ps, uid, &id), 0);
	assert_int_equal(cm_bind(fd, id, ip, 0), 0);
	assert_int_equal(cm_listen(fd, id, 0), 0);
	assert_int_equal(cm_query_addr(fd, id, &r), 0);
	memcpy(&a, &r.src_addr, sizeof(a));
	*port = ntohs(a.sin_port);
	return id;
}

uint32_t cm_routed(int fd, uint16_t ps, const char *ip, uint16_t port, uint64_t uid)
{
	uint32_t id;

	assert_int_equal(cm_create(fd, ps, uid, &id), 0);
	assert_int_equal(cm_resolve(fd, id, ip, port), 0);
	cm_expect(fd, CM_ADDR_RESOLVED);
	assert_int_equal(cm_route(fd, id), 0);
	cm_expect(fd, CM_ROUTE_RESOLVED);
	return id;
}
