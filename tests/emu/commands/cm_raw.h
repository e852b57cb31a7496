/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands of <rdma/rdma_user_cm.h> without librdmacm, on the device of the test's function. */
#ifndef DPUMAP_TESTS_CM_RAW_H
#define DPUMAP_TESTS_CM_RAW_H

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_PATH "/dev/infiniband/rdma_cm"
/* By default the address of the DPU's function is .1, that of the host's .2. */
#define CM_DPU	"127.100.0.1"
#define CM_HOST "127.100.0.2"

/* enum rdma_cm_event_type */
enum {
	CM_ADDR_RESOLVED,
	CM_ADDR_ERROR,
	CM_ROUTE_RESOLVED,
	CM_CONNECT_REQUEST = 4,
	CM_CONNECT_RESPONSE,
	CM_UNREACHABLE = 7,
	CM_REJECTED,
	CM_ESTABLISHED,
	CM_DISCONNECTED,
	CM_DEVICE_REMOVAL,
	CM_MULTICAST_JOIN,
	CM_TIMEWAIT_EXIT = 15,
};

/* Open the device; `flags` besides O_RDWR and O_CLOEXEC. */
int cm_open(int flags);
/* A command with its answer of `out_len` bytes: 0 or an errno. `out` may be NULL. */
int cm_command(int fd, uint32_t cmd, const void *in, size_t in_len, const void *out,
	       size_t out_len);

/* The number of the queue pair in the last CONNECT or ACCEPT. Each is new: the kernel rejects those in use. */
extern uint32_t cm_qpn;

struct sockaddr_in cm_addr(const char *ip, uint16_t port);

/* Each returns 0 or an errno. */
int cm_create(int fd, uint16_t ps, uint64_t uid, uint32_t *id);
int cm_destroy(int fd, uint32_t id, uint32_t *events);
int cm_bind(int fd, uint32_t id, const char *ip, uint16_t port);
int cm_listen(int fd, uint32_t id, uint32_t backlog);
int cm_resolve(int fd, uint32_t id, const char *ip, uint16_t port);
int cm_route(int fd, uint32_t id);
int cm_connect(int fd, uint32_t id, const void *data, uint8_t len);
/* With `uid` and parameters, or, if it is 0, without: the active side is ready. */
int cm_accept(int fd, uint32_t id, uint64_t uid, const void *data, uint8_t len);
int cm_reject(int fd, uint32_t id, const void *data, uint8_t len);
int cm_disconnect(int fd, uint32_t id);
int cm_event(int fd, struct rdma_ucm_event_resp *e);
int cm_set_option(int fd, uint32_t id, uint32_t level, uint32_t name, const void *value,
		  uint32_t len);
int cm_query_addr(int fd, uint32_t id, struct rdma_ucm_query_addr_resp *r);

/* Is an event waiting within this time? */
bool cm_readable(int fd, int ms);
/* The next event must be of this type. */
struct rdma_ucm_event_resp cm_expect(int fd, uint32_t type);
/* An id that listens on a free port of the address; `*port` becomes its number. */
uint32_t cm_listener(int fd, uint16_t ps, const char *ip, uint64_t uid, uint16_t *port);
/* An id with a route. */
uint32_t cm_routed(int fd, uint16_t ps, const char *ip, uint16_t port, uint64_t uid);

#endif
