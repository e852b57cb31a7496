/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The ids of the connection manager (struct rdma_cm_id and struct ucma_context of the kernel in one). */
#ifndef EMU_UCMA_ID_H
#define EMU_UCMA_ID_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "emu/server/card/topology.h"
#include "emu/server/cm/cm.h"
#include "emu/server/ucma/machine.h"

struct emu_cma_file;

/* enum rdma_cm_event_type of librdmacm. */
enum emu_cma_event_type {
	EMU_CMA_EV_ADDR_RESOLVED,
	EMU_CMA_EV_ADDR_ERROR,
	EMU_CMA_EV_ROUTE_RESOLVED,
	EMU_CMA_EV_ROUTE_ERROR,
	EMU_CMA_EV_CONNECT_REQUEST,
	EMU_CMA_EV_CONNECT_RESPONSE,
	EMU_CMA_EV_CONNECT_ERROR,
	EMU_CMA_EV_UNREACHABLE,
	EMU_CMA_EV_REJECTED,
	EMU_CMA_EV_ESTABLISHED,
	EMU_CMA_EV_DISCONNECTED,
	EMU_CMA_EV_DEVICE_REMOVAL,
	EMU_CMA_EV_MULTICAST_JOIN,
	EMU_CMA_EV_MULTICAST_ERROR,
	EMU_CMA_EV_ADDR_CHANGE,
	EMU_CMA_EV_TIMEWAIT_EXIT,
	EMU_CMA_EV_ADDRINFO_RESOLVED,
	EMU_CMA_EV_ADDRINFO_ERROR,
	EMU_CMA_EV_USER,
	EMU_CMA_EV_INTERNAL,
};

/*
 * The states in which the kernel's enum rdma_cm_state differs for a program. Routes are resolved at once, and
 * addresses unless a fault keeps the neighbours silent.
 */
enum emu_cma_state {
	EMU_CMA_IDLE,
	EMU_CMA_ADDR_BOUND,
	EMU_CMA_ADDR_QUERY,
	EMU_CMA_ADDR_RESOLVED,
	EMU_CMA_ROUTE_RESOLVED,
	EMU_CMA_CONNECT,
	EMU_CMA_DISCONNECT,
	EMU_CMA_LISTEN,
	EMU_CMA_REMOVED, /* its device is gone */
};

/* A multicast group that an id has joined. */
struct emu_cma_group {
	struct emu_cma_group *next;
	struct emu_cma_id *id;
	uint32_t number;
	uint64_t uid;
	struct sockaddr_storage addr;
	uint8_t mgid[16];
	bool send_only;
	uint32_t events_reported;
};

struct emu_cma_id {
	struct emu_cma_id *next;      /* of the file's ids */
	struct emu_cma_id *next_port; /* of its bucket's ids; see `bound_ps` */
	struct emu_cma_file *file;
	struct emu_cma_machine *machine;
	uint32_t number;
	uint64_t uid;
	bool reported; /* a program knows it: it is not an unread connection request */
	uint32_t events_reported;
	enum emu_cma_state state;
	uint16_t ps;	   /* enum rdma_ucm_port_space */
	uint16_t bound_ps; /* the port space in which it has its port; 0: none */
	uint8_t qp_type;
	bool reuseaddr, afonly, afonly_set, has_tos, has_timeout, srq;
	uint8_t tos, timeout;
	uint32_t backlog; /* connection requests that may still be queued */
	struct sockaddr_storage src, dst;
	const struct emu_func *func; /* NULL: not bound to a device */
	bool has_path;
	struct emu_cm_path path;
	struct emu_cm_conn *conn;
	int query_err; /* the result of ADDR_QUERY */
	uint32_t qpn, psn, qkey;
	struct rdma_ucm_ece ece;
	struct emu_cma_group *groups;
};

/* Create an id of a file; it is reported. NULL: no memory. */
struct emu_cma_id *emu_cma_id_new(struct emu_cma_file *f, uint16_t ps, uint8_t qp_type);
/*
 * Destroy an id as the kernel does: end its connection, leave its groups, free its port, and remove
 * its events; connection requests among these are rejected. Returns the number of events that a
 * program has seen.
 */
uint32_t emu_cma_id_destroy(struct emu_cma_id *id);
/* The id of a file with that number: 0, -ENOENT or -EINVAL (another file has it). */
int emu_cma_id_get(struct emu_cma_file *f, uint32_t number, struct emu_cma_id **id);
/* The same for commands that need the id's device: -EINVAL without, -EIO if it is gone. */
int emu_cma_id_get_dev(struct emu_cma_file *f, uint32_t number, struct emu_cma_id **id);
/* Give an id to another file of the same machine. */
void emu_cma_id_move(struct emu_cma_id *id, struct emu_cma_file *to);

/* A group of an id; NULL: no memory. */
struct emu_cma_group *emu_cma_group_new(struct emu_cma_id *id);
/* Forget a group with its events. Returns the number of events that a program has seen. */
uint32_t emu_cma_group_destroy(struct emu_cma_group *g);
int emu_cma_group_get(const struct emu_cma_file *f, uint32_t number, struct emu_cma_group **g);

/* The index of the id's source GID in the table of its port, the newest version of RoCE; 0: none. */
unsigned int emu_cma_sgid_index(const struct emu_cm_path *path);
/* The service ID of an address in the id's port space. */
uint64_t emu_cma_service_id(const struct emu_cma_id *id, const struct sockaddr_storage *addr);
/* The Q_Key of a UD id is fixed by the first use. */
uint32_t emu_cma_qkey(struct emu_cma_id *id);

/* Bind an id that is not bound to any IPv4 address and a free port. As BIND. */
int emu_cma_bind_any(struct emu_cma_id *id, pid_t pid);
/* The neighbours of a function answer, or do not. If they do, the resolutions that wait for them end. */
void emu_cma_set_neighbours(struct emu_func *f, bool answer);

#endif
