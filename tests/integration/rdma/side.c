/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "side.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IS_V4 "\0\0\0\0\0\0\0\0\0\0\xff\xff"

struct side here, there;

static void note(struct side *side, const char *word)
{
	size_t len = strlen(word);

	if (side->log_len + len + 2 > sizeof(side->log))
		abort();
	if (side->log_len)
		side->log[side->log_len++] = ' ';
	memcpy(side->log + side->log_len, word, len + 1);
	side->log_len += len;
	if (side->on_word)
		side->on_word(side, word);
}

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		     enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	note(data.ptr, test_state_name(next));
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void on_done(struct side *side, const struct side_done *done, struct doca_task *task)
{
	if (side->n_done == SIDE_DONE)
		abort();
	side->done[side->n_done++] = *done;
	if (side->hook)
		side->hook(side, done, task);
	else if (!side->keeps_tasks)
		doca_task_free(task);
}

static struct side_done done_as(enum side_kind kind, bool by_error_cb, union doca_data data,
				struct doca_task *task)
{
	return (struct side_done){
		.kind = kind,
		.status = doca_task_get_status(task),
		.by_error_cb = by_error_cb,
		.data = data.u64,
	};
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data data,
		       union doca_data ctx_data)
{
	struct doca_task *base = doca_rdma_task_receive_as_task(task);
	struct side_done done = done_as(SIDE_RECEIVE, false, data, base);

	done.len = doca_rdma_task_receive_get_result_len(task);
	done.opcode = doca_rdma_task_receive_get_result_opcode(task);
	done.connection = doca_rdma_task_receive_get_result_rdma_connection(task);
	if (done.opcode != DOCA_RDMA_OPCODE_RECV_SEND)
		done.imm = doca_rdma_task_receive_get_result_immediate_data(task);
	on_done(ctx_data.ptr, &done, base);
}

static void on_receive_error(struct doca_rdma_task_receive *task, union doca_data data,
			     union doca_data ctx_data)
{
	struct doca_task *base = doca_rdma_task_receive_as_task(task);
	struct side_done done = done_as(SIDE_RECEIVE, true, data, base);

	on_done(ctx_data.ptr, &done, base);
}

static void on_read(struct doca_rdma_task_read *task, union doca_data data,
		    union doca_data ctx_data)
{
	struct doca_task *base = doca_rdma_task_read_as_task(task);
	struct side_done done = done_as(SIDE_READ, false, data, base);

	done.len = doca_rdma_task_read_get_result_len(task);
	on_done(ctx_data.ptr, &done, base);
}

static void on_read_error(struct doca_rdma_task_read *task, union doca_data data,
			  union doca_data ctx_data)
{
	struct doca_task *base = doca_rdma_task_read_as_task(task);
	struct side_done done = done_as(SIDE_READ, true, data, base);

	on_done(ctx_data.ptr, &done, base);
}

/* The callbacks of a kind without results. */
#define CALLBACKS(name, type, kind)                                                              \
	static void on_##name(struct type *task, union doca_data data, union doca_data ctx_data) \
	{                                                                                        \
		struct doca_task *base = type##_as_task(task);                                   \
		struct side_done done = done_as(kind, false, data, base);                        \
                                                                                                 \
		on_done(ctx_data.ptr, &done, base);                                              \
	}                                                                                        \
	static void on_##name##_error(struct type *task, union doca_data data,                   \
				      union doca_data ctx_data)                                  \
	{                                                                                        \
		struct doca_task *base = type##_as_task(task);                                   \
		struct side_done done = done_as(kind, true, data, base);                         \
                                                                                                 \
		on_done(ctx_data.ptr, &done, base);                                              \
	}
CALLBACKS(send, doca_rdma_task_send, SIDE_SEND)
CALLBACKS(send_imm, doca_rdma_task_send_imm, SIDE_SEND_IMM)
CALLBACKS(write, doca_rdma_task_write, SIDE_WRITE)
CALLBACKS(write_imm, doca_rdma_task_write_imm, SIDE_WRITE_IMM)
CALLBACKS(cmp_swp, doca_rdma_task_atomic_cmp_swp, SIDE_CMP_SWP)
CALLBACKS(fetch_add, doca_rdma_task_atomic_fetch_add, SIDE_FETCH_ADD)

doca_error_t side_set_conf(struct side *side, enum side_kind kind, uint32_t n)
{
	struct doca_rdma *rdma = side->rdma;

	switch (kind) {
	case SIDE_RECEIVE:
		return doca_rdma_task_receive_set_conf(rdma, on_receive, on_receive_error, n);
	case SIDE_SEND:
		return doca_rdma_task_send_set_conf(rdma, on_send, on_send_error, n);
	case SIDE_SEND_IMM:
		return doca_rdma_task_send_imm_set_conf(rdma, on_send_imm, on_send_imm_error, n);
	case SIDE_READ:
		return doca_rdma_task_read_set_conf(rdma, on_read, on_read_error, n);
	case SIDE_WRITE:
		return doca_rdma_task_write_set_conf(rdma, on_write, on_write_error, n);
	case SIDE_WRITE_IMM:
		return doca_rdma_task_write_imm_set_conf(rdma, on_write_imm, on_write_imm_error, n);
	case SIDE_CMP_SWP:
		return doca_rdma_task_atomic_cmp_swp_set_conf(rdma, on_cmp_swp, on_cmp_swp_error,
							      n);
	default:
		return doca_rdma_task_atomic_fetch_add_set_conf(rdma, on_fetch_add,
								on_fetch_add_error, n);
	}
}

/* Allocate a task of that type with the arguments after the connection. */
#define ALLOC(type, ...)                                                                        \
	do {                                                                                    \
		struct type *made;                                                              \
		doca_error_t result =                                                           \
			type##_allocate_init(side->rdma, connection, __VA_ARGS__, data, &made); \
                                                                                                \
		if (result == DOCA_SUCCESS)                                                     \
			*task = type##_as_task(made);                                           \
		return result;                                                                  \
	} while (0)

static doca_error_t alloc_receive(struct side *side, const struct side_work *work,
				  struct doca_task **task)
{
	struct doca_rdma_task_receive *made;
	doca_error_t result = doca_rdma_task_receive_allocate_init(
		side->rdma, work->dst, (union doca_data){.u64 = work->data}, &made);

	if (result == DOCA_SUCCESS)
		*task = doca_rdma_task_receive_as_task(made);
	return result;
}

doca_error_t side_alloc(struct side *side, const struct side_work *work, struct doca_task **task)
{
	struct doca_rdma_connection *connection =
		work->connection ? work->connection : side->connections[0];
	union doca_data data = {.u64 = work->data};

	switch (work->kind) {
	case SIDE_RECEIVE:
		return alloc_receive(side, work, task);
	case SIDE_SEND:
		ALLOC(doca_rdma_task_send, work->src);
	case SIDE_SEND_IMM:
		ALLOC(doca_rdma_task_send_imm, work->src, work->imm);
	case SIDE_READ:
		ALLOC(doca_rdma_task_read, work->src, work->dst);
	case SIDE_WRITE:
		ALLOC(doca_rdma_task_write, work->src, work->dst);
	case SIDE_WRITE_IMM:
		ALLOC(doca_rdma_task_write_imm, work->src, work->dst, work->imm);
	case SIDE_CMP_SWP:
		ALLOC(doca_rdma_task_atomic_cmp_swp, work->dst, work->result, work->add,
		      work->swap);
	default:
		ALLOC(doca_rdma_task_atomic_fetch_add, work->dst, work->result, work->add);
	}
}

doca_error_t side_submit(struct side *side, const struct side_work *work)
{
	struct doca_task *task;
	doca_error_t result = side_alloc(side, work, &task);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(task);
	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

/* --- connections ------------------------------------------------------------------------------ */

static unsigned int index_of(const struct side *side, const struct doca_rdma_connection *connection)
{
	unsigned int i = 0;

	while (i < side->n_connections && side->connections[i] != connection)
		i++;
	return i;
}

static void note_connection(struct side *side, const char *what,
			    struct doca_rdma_connection *connection)
{
	unsigned int i = index_of(side, connection);
	char word[32];

	if (i == SIDE_CONNECTIONS)
		abort();
	if (i == side->n_connections)
		side->connections[side->n_connections++] = connection;
	snprintf(word, sizeof(word), "%s:%u", what, i);
	note(side, word);
}

static void on_request(struct doca_rdma_connection *connection, union doca_data data)
{
	note_connection(data.ptr, "request", connection);
}

static void on_established(struct doca_rdma_connection *connection, union doca_data of_connection,
			   union doca_data data)
{
	((struct side *)data.ptr)->connection_data = of_connection.u64;
	note_connection(data.ptr, "established", connection);
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data of_connection,
		       union doca_data data)
{
	((struct side *)data.ptr)->connection_data = of_connection.u64;
	note_connection(data.ptr, "failure", connection);
}

static void on_disconnection(struct doca_rdma_connection *connection, union doca_data of_connection,
			     union doca_data data)
{
	((struct side *)data.ptr)->connection_data = of_connection.u64;
	note_connection(data.ptr, "disconnection", connection);
}

doca_error_t side_set_callbacks(struct side *side)
{
	return doca_rdma_set_connection_state_callbacks(side->rdma, on_request, on_established,
							on_failure, on_disconnection);
}

/* --- a side ----------------------------------------------------------------------------------- */

static doca_error_t open_memory(struct side *side)
{
	doca_error_t result;

	side->bytes = aligned_alloc(4096, SIDE_LEN);
	if (!side->bytes)
		return DOCA_ERROR_NO_MEMORY;
	memset(side->bytes, 0, SIDE_LEN);
	result = doca_mmap_create(&side->mmap);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(side->mmap, side->bytes, SIDE_LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(side->mmap, side->map_access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(side->mmap, side->dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(side->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(SIDE_BUFS, &side->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(side->inventory));
	return result;
}

static doca_error_t open_context(struct side *side)
{
	doca_error_t result = side->shares_pe ? DOCA_SUCCESS : doca_pe_create(&side->pe);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(side->dev, &side->rdma);
	if (result != DOCA_SUCCESS)
		return result;
	side->ctx = doca_rdma_as_ctx(side->rdma);
	result = doca_pe_connect_ctx(side->pe, side->ctx);
	DOCA_ERROR_PROPAGATE(result,
			     doca_ctx_set_user_data(side->ctx, (union doca_data){.ptr = side}));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(side->ctx, on_state));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_permissions(side->rdma, LOCAL_RW | RDMA_ALL));
	DOCA_ERROR_PROPAGATE(result,
			     doca_rdma_set_max_num_connections(side->rdma, SIDE_CONNECTIONS));
	DOCA_ERROR_PROPAGATE(result,
			     doca_rdma_task_receive_set_dst_buf_list_len(side->rdma, SIDE_LIST));
	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++)
		DOCA_ERROR_PROPAGATE(result, side_set_conf(side, kind, SIDE_TASKS));
	return result;
}

doca_error_t side_open(struct side *side, struct doca_dev *dev, uint32_t map_access)
{
	doca_error_t result;

	memset(side, 0, sizeof(*side));
	side->dev = dev;
	side->map_access = map_access ? map_access : LOCAL_RW | RDMA_ALL;
	result = open_memory(side);
	return result == DOCA_SUCCESS ? open_context(side) : result;
}

doca_error_t side_open_beside(struct side *side, const struct side *other)
{
	doca_error_t result;

	memset(side, 0, sizeof(*side));
	side->dev = other->dev;
	side->map_access = LOCAL_RW | RDMA_ALL;
	side->pe = other->pe;
	side->shares_pe = true;
	result = open_memory(side);
	return result == DOCA_SUCCESS ? open_context(side) : result;
}

static doca_error_t forget_peer(struct side *side)
{
	doca_error_t result = side->peer ? doca_mmap_destroy(side->peer) : DOCA_SUCCESS;

	side->peer = NULL;
	return result;
}

static doca_error_t close_context(struct side *side)
{
	doca_error_t result = DOCA_SUCCESS;

	side->hook = NULL;
	side->on_word = NULL;
	side->keeps_tasks = false;
	if (side->rdma) {
		if (side_state(side) != DOCA_CTX_STATE_IDLE)
			result = side_stop(side);
		DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(side->rdma));
	}
	if (side->pe && !side->shares_pe)
		DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(side->pe));
	return result;
}

doca_error_t side_close(struct side *side)
{
	doca_error_t result = close_context(side);

	while (side->n_bufs)
		DOCA_ERROR_PROPAGATE(result,
				     doca_buf_dec_refcount(side->bufs[--side->n_bufs], NULL));
	if (side->inventory)
		DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_destroy(side->inventory));
	DOCA_ERROR_PROPAGATE(result, forget_peer(side));
	if (side->mmap)
		DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(side->mmap));
	free(side->bytes);
	memset(side, 0, sizeof(*side));
	return result;
}

doca_error_t side_start(struct side *side)
{
	return doca_ctx_start(side->ctx);
}

doca_error_t side_stop(struct side *side)
{
	doca_error_t result = doca_ctx_stop(side->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		return result;
	return side_wait_state(side, DOCA_CTX_STATE_IDLE) ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
}

enum doca_ctx_states side_state(const struct side *side)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(side->ctx, &state);
	return state;
}

struct blob {
	uint8_t bytes[512];
	size_t len;
	struct doca_rdma_connection *connection;
};

static doca_error_t export_connection(struct side *side, struct blob *blob)
{
	const void *bytes;
	doca_error_t result = doca_rdma_export(side->rdma, &bytes, &blob->len, &blob->connection);

	if (result != DOCA_SUCCESS)
		return result;
	if (side->n_connections == SIDE_CONNECTIONS || blob->len > sizeof(blob->bytes))
		return DOCA_ERROR_TOO_BIG;
	memcpy(blob->bytes, bytes, blob->len);
	side->connections[side->n_connections++] = blob->connection;
	return DOCA_SUCCESS;
}

static doca_error_t import_memory(struct side *side, const struct side *from)
{
	doca_error_t result;
	const void *blob;
	size_t len;
	void *addr;

	if (side->peer || !(from->map_access & RDMA_ALL))
		return DOCA_SUCCESS;
	result = doca_mmap_export_rdma(from->mmap, from->dev, &blob, &len);
	DOCA_ERROR_PROPAGATE(result,
			     doca_mmap_create_from_export(NULL, blob, len, side->dev, &side->peer));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(side->peer, &addr, &len));
	if (result == DOCA_SUCCESS)
		side->peer_bytes = addr;
	return result;
}

doca_error_t side_connect(void)
{
	struct blob of_here, of_there;
	doca_error_t result = export_connection(&here, &of_here);

	if (result == DOCA_SUCCESS)
		result = export_connection(&there, &of_there);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect(here.rdma, of_there.bytes, of_there.len,
					   of_here.connection);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect(there.rdma, of_here.bytes, of_here.len,
					   of_there.connection);
	if (result == DOCA_SUCCESS)
		result = import_memory(&here, &there);
	return result == DOCA_SUCCESS ? import_memory(&there, &here) : result;
}

/* --- bufs ------------------------------------------------------------------------------------- */

static struct doca_buf *new_buf(struct side *side, struct doca_mmap *mmap, uint8_t *at, size_t len,
				bool is_data)
{
	struct doca_buf *buf = NULL;

	if (side->n_bufs == SIDE_BUFS)
		abort();
	if (is_data)
		assert_ok(doca_buf_inventory_buf_get_by_data(side->inventory, mmap, at, len, &buf));
	else
		assert_ok(doca_buf_inventory_buf_get_by_addr(side->inventory, mmap, at, len, &buf));
	side->bufs[side->n_bufs++] = buf;
	return buf;
}

struct doca_buf *side_data(struct side *side, size_t offset, size_t len)
{
	return new_buf(side, side->mmap, side->bytes + offset, len, true);
}

struct doca_buf *side_room(struct side *side, size_t offset, size_t len)
{
	return new_buf(side, side->mmap, side->bytes + offset, len, false);
}

struct doca_buf *side_peer_data(struct side *side, size_t offset, size_t len)
{
	return new_buf(side, side->peer, side->peer_bytes + offset, len, true);
}

struct doca_buf *side_peer_room(struct side *side, size_t offset, size_t len)
{
	return new_buf(side, side->peer, side->peer_bytes + offset, len, false);
}

/* The list is released with its head. */
struct doca_buf *side_list(struct side *side, bool is_data, size_t offset, size_t len, size_t step,
			   unsigned int n)
{
	struct doca_buf *head = new_buf(side, side->mmap, side->bytes + offset, len, is_data);

	for (unsigned int i = 1; i < n; i++) {
		struct doca_buf *piece =
			new_buf(side, side->mmap, side->bytes + offset + i * step, len, is_data);

		side->n_bufs--;
		assert_ok(doca_buf_chain_list(head, piece));
	}
	return head;
}

void side_drop(struct side *side, struct doca_buf *buf)
{
	unsigned int i = 0;

	while (i < side->n_bufs && side->bufs[i] != buf)
		i++;
	assert_true(i < side->n_bufs);
	side->bufs[i] = side->bufs[--side->n_bufs];
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

size_t side_data_len(const struct doca_buf *buf)
{
	size_t len = 0;

	assert_ok(doca_buf_get_data_len(buf, &len));
	return len;
}

/* --- waiting ---------------------------------------------------------------------------------- */

#define LOOKS  256
#define NAP_US 500

bool side_progress(void)
{
	static unsigned int in_vain;
	bool any = here.pe && doca_pe_progress(here.pe);

	any = (there.pe && doca_pe_progress(there.pe)) || any;
	in_vain = any ? 0 : in_vain + 1;
	if (in_vain > LOOKS)
		usleep(NAP_US);
	return any;
}

bool side_wait(struct side *side, unsigned int n)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side->n_done < n) {
		side_progress();
		if (monotonic_ms() > limit) {
			fprintf(stderr, "%u of %u tasks completed\n", side->n_done, n);
			return false;
		}
	}
	return true;
}

unsigned int side_count(const struct side *side, const char *word)
{
	return test_count_word(side->log, word);
}

bool side_wait_word(struct side *side, const char *word, unsigned int times)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side_count(side, word) < times) {
		side_progress();
		if (monotonic_ms() > limit) {
			fprintf(stderr, "no %u times \"%s\" in \"%s\"\n", times, word, side->log);
			return false;
		}
	}
	return true;
}

bool side_wait_state(struct side *side, enum doca_ctx_states state)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side_state(side) != state) {
		side_progress();
		if (monotonic_ms() > limit) {
			fprintf(stderr, "not in state %d: \"%s\"\n", (int)state, side->log);
			return false;
		}
	}
	return true;
}

const struct side_done *side_last(const struct side *side)
{
	assert_true(side->n_done > 0);
	return &side->done[side->n_done - 1];
}

doca_error_t side_do(struct side *side, const struct side_work *work)
{
	unsigned int n = side->n_done + 1;
	doca_error_t result = side_submit(side, work);

	if (result != DOCA_SUCCESS)
		return result;
	return side_wait(side, n) ? side->done[n - 1].status : DOCA_ERROR_TIME_OUT;
}

/* --- the device ------------------------------------------------------------------------------- */

bool side_is_software(const struct side *side)
{
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];

	return doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(side->dev), address) ==
	       DOCA_ERROR_NOT_SUPPORTED;
}

bool side_address(struct doca_dev *dev, enum doca_rdma_addr_type type, char text[SIDE_TEXT])
{
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	struct doca_rdma_gid gid;
	uint32_t n = 0;

	assert_ok(doca_rdma_cap_get_gid_table_size(info, &n));
	for (uint32_t i = 0; i < n; i++) {
		assert_ok(doca_rdma_cap_get_gid(info, i, 1, &gid));
		if (memcmp(gid.raw, IS_V4, 12) != 0)
			continue;
		if (type == DOCA_RDMA_ADDR_TYPE_IPv4)
			return inet_ntop(AF_INET, gid.raw + 12, text, SIDE_TEXT);
		return inet_ntop(AF_INET6, gid.raw, text, SIDE_TEXT);
	}
	return false;
}

/* --- both sides ------------------------------------------------------------------------------- */

/* The devices of `here` and `there`: of two cards, or the same one twice. */
static doca_error_t open_devices(struct doca_dev *devs[2])
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	if (!n)
		result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < 2 && result == DOCA_SUCCESS; i++)
		result = doca_dev_open(list[i % n], &devs[i]);
	doca_devinfo_destroy_list(list);
	return result;
}

static struct doca_dev *devs[2];

int side_setup(void **state)
{
	if (fixture_count(state) || open_devices(devs) != DOCA_SUCCESS ||
	    side_open(&here, devs[0], 0) != DOCA_SUCCESS ||
	    side_open(&there, devs[1], 0) != DOCA_SUCCESS)
		return -1;
	return 0;
}

int side_connected_setup(void **state)
{
	if (side_setup(state) || side_start(&here) != DOCA_SUCCESS ||
	    side_start(&there) != DOCA_SUCCESS || side_connect() != DOCA_SUCCESS)
		return -1;
	return 0;
}

static doca_error_t close_both(void)
{
	doca_error_t result = side_close(&here);

	DOCA_ERROR_PROPAGATE(result, side_close(&there));
	for (unsigned int i = 0; i < 2; i++)
		DOCA_ERROR_PROPAGATE(result, doca_dev_close(devs[i]));
	return result;
}

int side_use_manager(void **state)
{
	doca_error_t result;

	if (side_setup(state))
		return -1;
	result = side_start(&here);
	DOCA_ERROR_PROPAGATE(result, side_start(&there));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_start_listen_to_port(here.rdma, 1025));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_start_listen_to_port(there.rdma, 1026));
	DOCA_ERROR_PROPAGATE(result, close_both());
	return result == DOCA_SUCCESS ? 0 : -1;
}

int side_teardown(void **state)
{
	doca_error_t result = close_both();

	if (result != DOCA_SUCCESS) {
		fprintf(stderr, "teardown: %s\n", doca_error_get_name(result));
		return -1;
	}
	return fixture_recount(state);
}

void side_forget(struct side *side)
{
	side->n_connections = side->n_done = 0;
	side->log_len = 0;
	side->log[0] = '\0';
}
