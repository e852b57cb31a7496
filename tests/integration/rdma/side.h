/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two RDMA contexts in one process, `here` and `there`, on the first device; with a second card, `there`
 * is on its device. Each has an engine, memory, bufs, and a record of what its callbacks saw.
 */
#ifndef DPUMAP_TESTS_RDMA_SIDE_H
#define DPUMAP_TESTS_RDMA_SIDE_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "fixture.h"

#define SIDE_LEN	 262144u
#define SIDE_TASKS	 64u /* of each kind */
#define SIDE_BUFS	 1024u
#define SIDE_DONE	 8192u
#define SIDE_CONNECTIONS 8u
#define SIDE_LOG	 4096u
#define SIDE_TEXT	 64u
#define SIDE_LIST	 4u /* length of lists that a receive takes */
#define RDMA_ALL                                                               \
	((uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
		    DOCA_ACCESS_FLAG_RDMA_ATOMIC))

enum side_kind {
	SIDE_RECEIVE,
	SIDE_SEND,
	SIDE_SEND_IMM,
	SIDE_READ,
	SIDE_WRITE,
	SIDE_WRITE_IMM,
	SIDE_CMP_SWP,
	SIDE_FETCH_ADD,
	SIDE_KINDS,
};

/* The arguments of a task; each kind takes those that it has. */
struct side_work {
	enum side_kind kind;
	struct doca_rdma_connection *connection; /* NULL: connection 0 */
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct doca_buf *result;
	doca_be32_t imm;
	uint64_t add; /* or the compare data */
	uint64_t swap;
	uint64_t data; /* user data */
};

/* A task that has completed. */
struct side_done {
	enum side_kind kind;
	doca_error_t status;
	bool by_error_cb;
	uint64_t data;
	uint32_t len; /* of a receive or read that succeeded, like the following for receives */
	enum doca_rdma_opcode opcode;
	doca_be32_t imm;
	const struct doca_rdma_connection *connection;
};

struct side {
	struct doca_dev *dev;
	struct doca_pe *pe;
	bool shares_pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap;
	uint8_t *bytes; /* SIDE_LEN */
	uint32_t map_access;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *peer; /* the memory of the other side */
	uint8_t *peer_bytes;
	struct doca_buf *bufs[SIDE_BUFS];
	unsigned int n_bufs;

	/* Exported, or reported by callbacks, in this order. */
	struct doca_rdma_connection *connections[SIDE_CONNECTIONS];
	unsigned int n_connections;
	uint64_t connection_data; /* of the last callback of a connection */

	struct side_done done[SIDE_DONE];
	unsigned int n_done;
	bool keeps_tasks; /* do not free them; the hook may do it */
	void (*hook)(struct side *side, const struct side_done *done, struct doca_task *task);
	void (*on_word)(struct side *side, const char *word);
	char log[SIDE_LOG]; /* words: STARTING RUNNING STOPPING IDLE request:I established:I
			       failure:I disconnection:I */
	size_t log_len;
};

extern struct side here, there;

/* Open and configure; side_close() even if it fails. map_access 0: for everything. */
doca_error_t side_open(struct side *side, struct doca_dev *dev, uint32_t map_access);
/* The same on the device and engine of another side; close it before that one. */
doca_error_t side_open_beside(struct side *side, const struct side *other);
/* Stop, progress until IDLE, and destroy everything. */
doca_error_t side_close(struct side *side);
/* Callbacks of connections that write the log. */
doca_error_t side_set_callbacks(struct side *side);
doca_error_t side_start(struct side *side);
doca_error_t side_stop(struct side *side);
enum doca_ctx_states side_state(const struct side *side);

/* Connect `here` and `there` by details, once more; each imports the memory of the other one. */
doca_error_t side_connect(void);

/* Released by side_close(). */
struct doca_buf *side_data(struct side *side, size_t offset, size_t len);
struct doca_buf *side_room(struct side *side, size_t offset, size_t len);
struct doca_buf *side_peer_data(struct side *side, size_t offset, size_t len);
struct doca_buf *side_peer_room(struct side *side, size_t offset, size_t len);
/* A list: `n` pieces of `len` bytes, `step` bytes apart. */
struct doca_buf *side_list(struct side *side, bool is_data, size_t offset, size_t len, size_t step,
			   unsigned int n);
/* Release it earlier. */
void side_drop(struct side *side, struct doca_buf *buf);
size_t side_data_len(const struct doca_buf *buf);

doca_error_t side_alloc(struct side *side, const struct side_work *work, struct doca_task **task);
/* Allocate and submit. */
doca_error_t side_submit(struct side *side, const struct side_work *work);
doca_error_t side_set_conf(struct side *side, enum side_kind kind, uint32_t num_tasks);

/* Progress of both engines; sleeps for a moment when there has been none for long. */
bool side_progress(void);
/* Progress both sides until this one has n completed tasks in all; false after FIXTURE_TIMEOUT_MS. */
bool side_wait(struct side *side, unsigned int n);
unsigned int side_count(const struct side *side, const char *word);
bool side_wait_word(struct side *side, const char *word, unsigned int times);
bool side_wait_state(struct side *side, enum doca_ctx_states state);
const struct side_done *side_last(const struct side *side);
/* Empty its records: connections, completed tasks and words. */
void side_forget(struct side *side);

/* Submit and wait; the status. */
doca_error_t side_do(struct side *side, const struct side_work *work);
#define side_ok(side, ...)   assert_ok(side_do(side, &(struct side_work){__VA_ARGS__}))
#define side_post(side, ...) assert_ok(side_submit(side, &(struct side_work){__VA_ARGS__}))

/* Set a field of a task of that type to the value, and get it back. */
#define side_check_field(task, type, field, value)                \
	do {                                                      \
		type##_set_##field(task, value);                  \
		assert_true(type##_get_##field(task) == (value)); \
	} while (0)

/* No function of a PCI card, but a device that the kernel computes, as rdma_rxe. */
bool side_is_software(const struct side *side);
/* The device's first IPv4 address, as text of that type (IPv4 or GID); false if it has none. */
bool side_address(struct doca_dev *dev, enum doca_rdma_addr_type type, char text[SIDE_TEXT]);

/* Setup and teardown: both open and IDLE; started and connected. */
int side_setup(void **state);
int side_connected_setup(void **state);
int side_teardown(void **state);
/* Setup of a group: librdmacm keeps each device open after its first use. */
int side_use_manager(void **state);
#define idle_test(function) cmocka_unit_test_setup_teardown(function, side_setup, side_teardown)
#define connected_test(function) \
	cmocka_unit_test_setup_teardown(function, side_connected_setup, side_teardown)

#endif
