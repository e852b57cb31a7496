/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random tasks of two contexts on several connections, compared with a model: tasks of a connection are
 * executed in their order, so the model knows what each of them reads, which message each receive gets,
 * and what the memory contains at the end. A sequence ends in one of these ways: all tasks complete; an
 * access that is not permitted stops one context; the program stops both with tasks in flight; the
 * emulator makes a completion or a queue fail; one side disconnects with tasks in flight; or a peer, a
 * process that only receives, is killed. Each task completes once, tasks of a connection in their order,
 * and nothing succeeds after a failure.
 *
 * DPUMAP_RDMA_MODEL_SECONDS sets the duration, DPUMAP_RDMA_MODEL_SEED the first sequence. The seed of a
 * failing sequence is printed. So is, every 30 seconds, what the test and the emulator use of the machine;
 * after the first seconds neither may grow.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dpumap-emu.h>

#include "emulator.h"
#include "footprint.h"
#include "side.h"

#define CONNECTIONS	4u
#define STEPS		600u
#define DEFAULT_SECONDS 3
#define ROUGH_EVERY	6u    /* sequences: these take seconds */
#define REGION		4096u /* of a connection, in the memory of the target */
#define SLOTS		128u  /* of local bufs */
#define SLOT		1024u
#define FIRST_SLOT	32768u /* the regions are below */
#define MESSAGES	512u
#define PIECES		SIDE_LIST
/*
 * Growth after the warm-up, of a run of any length. The emulator has tables of 42 MiB, whose pages become
 * resident as numbers of objects are used for the first time; they are no part of the heap.
 */
#define WARM_UP_MS 5000
#define HEAP_KIB   2048
#define ANON_KIB   65536
#define OTHERS	   16 /* maps, descriptors, threads */
#define REPORT_MS  30000

/* A task from its submission to its completion. */
struct op {
	bool is_live, is_bad;
	enum side_kind kind;
	unsigned int connection;
	uint64_t number;
	size_t at; /* of the local bytes, in the memory of the side */
	size_t len;
	uint8_t wanted[SLOT]; /* what it reads */
	struct doca_buf *local, *remote;
};

/* A message that no receive has got yet. */
struct message {
	enum side_kind kind;
	doca_be32_t imm;
	size_t len;
	uint8_t bytes[SLOT];
};

/* What a side does on a connection. */
struct lane {
	uint64_t last_number; /* of the last task that completed */
	bool has_failed;
	uint8_t region[REGION]; /* of the other side's memory, after all submitted tasks */
	struct message messages[MESSAGES];
	unsigned int first, n;
};

struct actor {
	struct side *side;
	struct op ops[SLOTS];
	struct lane lanes[CONNECTIONS];
	uint64_t next_number;
	unsigned int n_live, n_receives, n_events;
	bool may_abort; /* its peer has ended */
	bool lost;	/* a receive failed, and maybe a message with it */
};

static struct actor actors[2];
static uint64_t random_state;
static uint64_t sequences, tasks;
/* The rough ones begin with STOPPED. */
static enum { ALL_COMPLETE, BAD_ACCESS, STOPPED, FAULTED, DISCONNECTED, KILLED, ENDS } end;
static struct process victim;	  /* the peer that is killed */
static unsigned int victims_lane; /* of `here`, the connection to it */

static uint32_t draw(uint32_t below)
{
	return test_draw(&random_state, below);
}

static struct actor *actor_of(const struct side *side)
{
	return &actors[side == &there];
}

static struct actor *other_of(const struct actor *a)
{
	return &actors[a == &actors[0]];
}

static void on_state_word(struct side *side, const char *word)
{
	(void)word;
	actor_of(side)->n_events++;
}

/* --- completions ------------------------------------------------------------------------------ */

static unsigned int connection_index(const struct side *side,
				     const struct doca_rdma_connection *connection)
{
	unsigned int i = 0;

	while (side->connections[i] != connection)
		assert_true(++i < side->n_connections);
	return i;
}

static void check_message(const struct actor *a, const struct op *op, const struct side_done *done)
{
	static const enum doca_rdma_opcode opcodes[] = {
		[SIDE_SEND] = DOCA_RDMA_OPCODE_RECV_SEND,
		[SIDE_SEND_IMM] = DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
		[SIDE_WRITE_IMM] = DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
	};
	unsigned int i = connection_index(a->side, done->connection);
	struct lane *lane = &other_of(a)->lanes[i];
	const struct message *m = &lane->messages[lane->first];

	if (a->lost && !lane->n)
		return;
	assert_true(lane->n > 0);
	lane->first = (lane->first + 1) % MESSAGES;
	lane->n--;
	if (a->lost)
		return;
	assert_int_equal(done->opcode, opcodes[m->kind]);
	assert_int_equal(done->len, m->len);
	if (m->kind != SIDE_SEND)
		assert_int_equal(done->imm, m->imm);
	if (m->kind != SIDE_WRITE_IMM)
		assert_memory_equal(a->side->bytes + op->at, m->bytes, m->len);
}

static void check_success(const struct actor *a, const struct op *op, const struct side_done *done)
{
	assert_false(op->is_bad);
	assert_false(done->by_error_cb);
	if (op->kind == SIDE_RECEIVE)
		check_message(a, op, done);
	else if (op->kind == SIDE_READ || op->kind == SIDE_CMP_SWP || op->kind == SIDE_FETCH_ADD)
		assert_memory_equal(a->side->bytes + op->at, op->wanted, op->len);
	if (op->kind == SIDE_READ)
		assert_int_equal(done->len, op->len);
}

static void check_failure(const struct actor *a, const struct op *op, const struct side_done *done)
{
	assert_int_not_equal(end, ALL_COMPLETE);
	assert_true(done->by_error_cb);
	if (op->is_bad) {
		assert_error(done->status, DOCA_ERROR_NOT_PERMITTED);
		return;
	}
	switch (done->status) {
	case DOCA_ERROR_CONNECTION_ABORTED:
		assert_true(a->may_abort);
		break;
	case DOCA_ERROR_NOT_PERMITTED:
		assert_int_equal(end, FAULTED);
		break;
	case DOCA_ERROR_NOT_CONNECTED:
		assert_int_equal(end, DISCONNECTED);
		break;
	default:
		assert_error(done->status, DOCA_ERROR_SHUTDOWN);
	}
}

static void on_completion(struct side *side, const struct side_done *done, struct doca_task *task)
{
	struct actor *a = actor_of(side);
	struct op *op = &a->ops[done->data % SLOTS];
	struct lane *lane = &a->lanes[op->connection];

	assert_true(op->is_live);
	assert_int_equal(op->number, done->data);
	assert_int_equal(op->kind, done->kind);
	if (op->kind != SIDE_RECEIVE) {
		assert_true(op->number > lane->last_number);
		lane->last_number = op->number;
		assert_false(lane->has_failed && done->status == DOCA_SUCCESS);
		lane->has_failed = done->status != DOCA_SUCCESS;
	} else if (done->status != DOCA_SUCCESS) {
		a->lost = true;
	}
	if (done->status == DOCA_SUCCESS)
		check_success(a, op, done);
	else
		check_failure(a, op, done);
	if (op->local)
		side_drop(side, op->local);
	if (op->remote)
		side_drop(side, op->remote);
	op->is_live = false;
	a->n_live--;
	a->n_receives -= op->kind == SIDE_RECEIVE;
	a->n_events++;
	side->n_done = 0;
	doca_task_free(task);
}

/* Progress is non-zero only if something happened. */
static bool progress(struct actor *a)
{
	unsigned int before = a->n_events;
	uint8_t result = doca_pe_progress(a->side->pe);

	if (result)
		assert_true(a->n_events > before);
	return result;
}

/* --- submissions ------------------------------------------------------------------------------ */

/* A local buf of the op, in 1 to PIECES pieces. */
static struct doca_buf *local_buf(struct side *side, const struct op *op, bool is_data)
{
	unsigned int n = op->len ? 1 + draw(PIECES) : 0;

	if (!n)
		return NULL;
	if (op->len % n)
		n = 1;
	return side_list(side, is_data, op->at, op->len / n, op->len / n, n);
}

/* A number whose slot is free; false if there is none. */
static bool new_op(struct actor *a, enum side_kind kind, struct op **op)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		uint64_t number = a->next_number + i;

		*op = &a->ops[number % SLOTS];
		if ((*op)->is_live)
			continue;
		a->next_number = number + 1;
		**op = (struct op){.is_live = true, .kind = kind, .number = number};
		(*op)->at = FIRST_SLOT + number % SLOTS * SLOT;
		return true;
	}
	return false;
}

static bool submit(struct actor *a, struct op *op, struct side_work *work)
{
	doca_error_t result;

	work->kind = op->kind;
	work->data = op->number;
	work->connection = a->side->connections[op->connection];
	result = side_submit(a->side, work);
	if (result == DOCA_SUCCESS) {
		a->n_live++;
		tasks++;
		return true;
	}
	if (end < FAULTED || result != DOCA_ERROR_BAD_STATE)
		assert_error(result, DOCA_ERROR_NO_MEMORY);
	op->is_live = false;
	if (op->local)
		side_drop(a->side, op->local);
	if (op->remote)
		side_drop(a->side, op->remote);
	return false;
}

static bool post_receive(struct actor *a)
{
	struct op *op;

	if (!new_op(a, SIDE_RECEIVE, &op))
		return false;
	op->len = SLOT;
	op->local = local_buf(a->side, op, false);
	if (!submit(a, op, &(struct side_work){.dst = op->local}))
		return false;
	a->n_receives++;
	return true;
}

static void add_message(struct lane *lane, const struct op *op, const uint8_t *bytes,
			doca_be32_t imm)
{
	struct message *m = &lane->messages[(lane->first + lane->n++) % MESSAGES];

	m->kind = op->kind;
	m->imm = imm;
	m->len = op->len;
	memcpy(m->bytes, bytes, op->len);
}

static bool is_to_victim(const struct actor *a, const struct op *op)
{
	return end == KILLED && a == &actors[0] && op->connection == victims_lane;
}

static void submit_send(struct actor *a, struct op *op)
{
	struct lane *lane = &a->lanes[op->connection];
	doca_be32_t imm = draw(UINT32_MAX);

	fixture_fill(a->side->bytes + op->at, SLOT, (uint32_t)op->number);
	op->local = local_buf(a->side, op, true);
	if (submit(a, op, &(struct side_work){.src = op->local, .imm = imm}) &&
	    !is_to_victim(a, op))
		add_message(lane, op, a->side->bytes + op->at, imm);
}

static void submit_write(struct actor *a, struct op *op, size_t at)
{
	struct lane *lane = &a->lanes[op->connection];
	size_t region = (size_t)op->connection * REGION;
	doca_be32_t imm = draw(UINT32_MAX);

	fixture_fill(a->side->bytes + op->at, SLOT, (uint32_t)op->number);
	op->local = local_buf(a->side, op, true);
	if (op->len)
		op->remote = side_peer_room(a->side, region + at, op->len);
	if (!submit(a, op, &(struct side_work){.src = op->local, .dst = op->remote, .imm = imm}))
		return;
	memcpy(lane->region + at, a->side->bytes + op->at, op->len);
	if (op->kind == SIDE_WRITE_IMM)
		add_message(lane, op, lane->region + at, imm);
}

static void submit_read(struct actor *a, struct op *op, size_t at)
{
	struct lane *lane = &a->lanes[op->connection];
	size_t region = (size_t)op->connection * REGION;

	memset(a->side->bytes + op->at, 0xee, SLOT);
	op->local = local_buf(a->side, op, false);
	if (op->len)
		op->remote = side_peer_data(a->side, region + at, op->len);
	memcpy(op->wanted, lane->region + at, op->len);
	submit(a, op, &(struct side_work){.src = op->remote, .dst = op->local});
}

static void submit_atomic(struct actor *a, struct op *op, size_t at)
{
	struct lane *lane = &a->lanes[op->connection];
	size_t region = (size_t)op->connection * REGION;
	uint64_t old, add, swap = draw(UINT32_MAX);

	at &= ~(size_t)7;
	op->len = sizeof(old);
	memcpy(&old, lane->region + at, sizeof(old));
	memcpy(op->wanted, &old, sizeof(old));
	add = op->kind == SIDE_CMP_SWP && draw(2) ? old : draw(UINT32_MAX);
	op->local = side_room(a->side, op->at, sizeof(old));
	op->remote = side_peer_data(a->side, region + at, sizeof(old));
	if (!submit(a, op,
		    &(struct side_work){
			    .dst = op->remote, .result = op->local, .add = add, .swap = swap}))
		return;
	if (op->kind == SIDE_FETCH_ADD)
		old += add;
	else if (old == add)
		old = swap;
	memcpy(lane->region + at, &old, sizeof(old));
}

static void submit_any(struct actor *a)
{
	enum side_kind kind = SIDE_SEND + draw(SIDE_KINDS - SIDE_SEND);
	struct op *op;
	size_t at;

	if (!new_op(a, kind, &op))
		return;
	op->connection = draw(a->side->n_connections);
	op->len = draw(8) ? draw(SLOT + 1) : 0;
	at = draw(REGION - SLOT);
	if (is_to_victim(a, op))
		op->kind = SIDE_SEND + draw(2);
	switch (op->kind) {
	case SIDE_SEND:
	case SIDE_SEND_IMM:
		submit_send(a, op);
		break;
	case SIDE_WRITE:
	case SIDE_WRITE_IMM:
		submit_write(a, op, at);
		break;
	case SIDE_READ:
		submit_read(a, op, at);
		break;
	default:
		submit_atomic(a, op, at);
		break;
	}
}

/* --- how a sequence ends ---------------------------------------------------------------------- */

static unsigned int messages_to(const struct actor *a)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < CONNECTIONS; i++)
		n += other_of(a)->lanes[i].n;
	return n;
}

/* Post a receive for each message, and wait until all tasks but spare receives have completed. */
static void complete_all(void)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (messages_to(&actors[0]) || messages_to(&actors[1]) ||
	       actors[0].n_live > actors[0].n_receives || actors[1].n_live > actors[1].n_receives) {
		for (unsigned int i = 0; i < 2; i++) {
			if (actors[i].n_receives < messages_to(&actors[i]))
				post_receive(&actors[i]);
			progress(&actors[i]);
		}
		if (monotonic_ms() > limit)
			fail_msg("sequence %" PRIu64 ": %u and %u tasks are in flight",
				 random_state, actors[0].n_live, actors[1].n_live);
	}
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int c = 0; c < actors[i].side->n_connections; c++)
			assert_memory_equal(other_of(&actors[i])->side->bytes + (size_t)c * REGION,
					    actors[i].lanes[c].region, REGION);
}

/* A map of `from` that ended after `to` imported it. */
static struct doca_mmap *import_dead(const struct side *from, const struct side *to, void **addr)
{
	static uint8_t bytes[4096];
	struct doca_mmap *own, *imported;
	const void *blob;
	size_t len;

	assert_ok(doca_mmap_create(&own));
	assert_ok(doca_mmap_set_memrange(own, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_set_permissions(own, LOCAL_RW | RDMA_ALL));
	assert_ok(doca_mmap_add_dev(own, from->dev));
	assert_ok(doca_mmap_start(own));
	assert_ok(doca_mmap_export_rdma(own, from->dev, &blob, &len));
	assert_ok(doca_mmap_create_from_export(NULL, blob, len, to->dev, &imported));
	assert_ok(doca_mmap_get_memrange(imported, addr, &len));
	assert_ok(doca_mmap_destroy(own));
	return imported;
}

/* A write to memory that is not exported any more, and sends after it. */
static void access_badly(struct actor *a)
{
	struct doca_mmap *dead;
	unsigned int connection;
	struct op *op;
	void *addr;

	dead = import_dead(other_of(a)->side, a->side, &addr);
	assert_true(new_op(a, SIDE_WRITE, &op));
	op->is_bad = true;
	connection = op->connection = draw(a->side->n_connections);
	op->len = 64;
	op->local = local_buf(a->side, op, true);
	assert_ok(doca_buf_inventory_buf_get_by_addr(a->side->inventory, dead, addr, 64,
						     &op->remote));
	a->side->bufs[a->side->n_bufs++] = op->remote;
	assert_true(submit(a, op, &(struct side_work){.src = op->local, .dst = op->remote}));
	for (unsigned int i = draw(5); i--;) {
		assert_true(new_op(a, SIDE_SEND, &op));
		op->connection = connection;
		op->len = draw(SLOT);
		submit_send(a, op);
	}
	assert_true(side_wait_state(a->side, DOCA_CTX_STATE_IDLE));
	assert_ok(doca_mmap_destroy(dead));
}

static void wait_idle(struct actor *a)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side_state(a->side) != DOCA_CTX_STATE_IDLE) {
		progress(&actors[0]);
		progress(&actors[1]);
		assert_true(monotonic_ms() < limit);
	}
	assert_int_equal(a->n_live, 0);
}

static void stop_actor(struct actor *a)
{
	doca_error_t result = doca_ctx_stop(a->side->ctx);

	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	other_of(a)->may_abort = true;
}

static void submit_some(void)
{
	for (unsigned int n = draw(20); n--;) {
		struct actor *a = &actors[draw(2)];

		if (messages_to(other_of(a)) < MESSAGES / 2)
			submit_any(a);
	}
}

/* Tasks are in flight, or are submitted to a connection that has ended. */
static void disconnect(struct actor *a)
{
	struct side *side = a->side;

	submit_some();
	other_of(a)->may_abort = true;
	assert_ok(doca_rdma_connection_disconnect(side->connections[draw(side->n_connections)]));
	submit_some();
}

static bool has_task_to_victim(const struct actor *a)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (a->ops[i].is_live && is_to_victim(a, &a->ops[i]))
			return true;
	return false;
}

/* False: all tasks are in use. */
static bool send_to_victim(struct actor *a)
{
	struct op *op;

	if (!new_op(a, SIDE_SEND, &op))
		return false;
	op->connection = victims_lane;
	op->len = draw(SLOT);
	submit_send(a, op);
	return op->is_live;
}

/* A task after the death of its peer fails, which stops the context. */
static void kill_victim(void)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct actor *a = &actors[0];

	submit_some();
	assert_true(process_kill(&victim));
	a->may_abort = other_of(a)->may_abort = true;
	submit_some();
	while (side_state(a->side) == DOCA_CTX_STATE_RUNNING) {
		if (!has_task_to_victim(a) && !send_to_victim(a))
			return;
		side_progress();
		assert_true(monotonic_ms() < limit);
	}
}

static void end_sequence(void)
{
	struct actor *a = &actors[draw(2)];

	if (end < STOPPED || (end > FAULTED && draw(2)))
		complete_all();
	if (end == BAD_ACCESS)
		access_badly(a);
	else if (end == DISCONNECTED)
		disconnect(a);
	else if (end == KILLED)
		kill_victim();
	end = end == ALL_COMPLETE ? STOPPED : end; /* spare receives are flushed */
	if (side_state(a->side) == DOCA_CTX_STATE_RUNNING)
		stop_actor(a);
	if (side_state(other_of(a)->side) == DOCA_CTX_STATE_RUNNING)
		stop_actor(other_of(a));
	wait_idle(&actors[0]);
	wait_idle(&actors[1]);
}

/* --- the peer that is killed ------------------------------------------------------------------ */

struct details {
	size_t len;
	uint8_t bytes[512];
};

static struct details export_here(void)
{
	struct doca_rdma_connection *connection;
	struct details details = {0};
	const void *bytes;

	assert_ok(doca_rdma_export(here.rdma, &bytes, &details.len, &connection));
	assert_true(details.len <= sizeof(details.bytes));
	memcpy(details.bytes, bytes, details.len);
	here.connections[here.n_connections++] = connection;
	return details;
}

static void connect_here(const struct details *peer)
{
	assert_ok(doca_rdma_connect(here.rdma, peer->bytes, peer->len,
				    here.connections[here.n_connections - 1]));
}

/* The user data of a task is its index. A message extends the data of the buf, so the room shrinks. */
static struct doca_buf *rooms[SIDE_TASKS];

static void receive_again(struct side *side, const struct side_done *done, struct doca_task *task)
{
	side->n_done = 0;
	if (done->status != DOCA_SUCCESS) {
		doca_task_free(task);
		return;
	}
	assert_ok(doca_buf_reset_data_len(rooms[done->data]));
	(void)doca_task_submit(task);
}

/* Receive until killed, or until the parent has ended. */
static int be_victim(void)
{
	struct pollfd parent = {.fd = STDIN_FILENO, .events = POLLIN};
	struct details own, peer;
	struct doca_dev *dev;

	assert_ok(fixture_open_device(&dev));
	assert_ok(side_open(&here, dev, 0));
	here.hook = receive_again;
	assert_ok(side_start(&here));
	own = export_here();
	if (!process_send(STDOUT_FILENO, &own, sizeof(own)) ||
	    !process_receive(STDIN_FILENO, &peer, sizeof(peer)))
		return 1;
	connect_here(&peer);
	for (unsigned int i = 0; i < SIDE_TASKS; i++) {
		rooms[i] = side_room(&here, 0, SLOT);
		side_post(&here, .kind = SIDE_RECEIVE, .dst = rooms[i], .data = i);
	}
	if (!process_send(STDOUT_FILENO, "", 1))
		return 1;
	while (!poll(&parent, 1, 1))
		while (side_progress())
			;
	return 1;
}

static void connect_victim(void)
{
	const char *as = getenv("DPUMAP_EMU_ROLE");
	struct details own, peer;
	char ready;

	assert_true(process_start_peer(&victim, as));
	assert_true(process_receive(victim.from, &peer, sizeof(peer)));
	own = export_here();
	assert_true(process_send(victim.to, &own, sizeof(own)));
	connect_here(&peer);
	assert_true(process_receive(victim.from, &ready, 1));
	victims_lane = here.n_connections - 1;
}

/* --- sequences -------------------------------------------------------------------------------- */

/* A fault for each sequence that ends that way, and one that changes nothing for some others. */
static bool set_fault(void)
{
	static const char *const syndromes[] = {"RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR",
						"REM_ACCESS_ERR"};
	char rule[96] = "";

	if (end == FAULTED && draw(2))
		snprintf(rule, sizeof(rule), "completion --syndrome %s --nth %u",
			 syndromes[draw(3)], 1 + draw(40));
	else if (end == FAULTED)
		snprintf(rule, sizeof(rule), "queue --silent --nth %u", 1 + draw(8));
	else if (!draw(8))
		snprintf(rule, sizeof(rule), "completion --duplicate --nth %u --count all",
			 1 + draw(20));
	else if (!draw(8))
		snprintf(rule, sizeof(rule), "completion --delay %u --nth %u", 1 + draw(20),
			 1 + draw(20));
	if (*rule)
		assert_int_equal(dpumap_emu_fault(rule), 0);
	return *rule;
}

static void choose_end(uint64_t seed)
{
	if (seed % ROUGH_EVERY)
		end = draw(2) ? ALL_COMPLETE : BAD_ACCESS;
	else
		end = STOPPED + seed / ROUGH_EVERY % (ENDS - STOPPED);
}

static void begin_sequence(uint64_t seed)
{
	void *state = NULL;

	random_state = seed;
	choose_end(seed);
	memset(actors, 0, sizeof(actors));
	assert_int_equal(side_connected_setup(&state), 0);
	actors[0].side = &here;
	actors[1].side = &there;
	for (unsigned int i = 0; i < 2; i++) {
		actors[i].next_number = 1;
		actors[i].side->hook = on_completion;
		actors[i].side->on_word = on_state_word;
		actors[i].may_abort = end == FAULTED;
	}
	for (unsigned int n = draw(CONNECTIONS - (end == KILLED)); n--;)
		assert_ok(side_connect());
	if (end == KILLED)
		connect_victim();
}

static void take_steps(void)
{
	for (unsigned int steps = draw(STEPS); steps; steps--) {
		struct actor *a = &actors[draw(2)];

		switch (draw(8)) {
		case 0:
			post_receive(a);
			break;
		case 1:
		case 2:
			progress(a);
			break;
		default:
			if (messages_to(other_of(a)) < MESSAGES / 2)
				submit_any(a);
		}
	}
}

static void run_sequence(uint64_t seed)
{
	void *state = NULL;
	bool has_fault;

	begin_sequence(seed);
	has_fault = set_fault();
	take_steps();
	end_sequence();
	if (has_fault)
		assert_int_equal(dpumap_emu_fault("clear"), 0);
	assert_int_equal(side_teardown(&state), 0);
	sequences++;
}

/* --- what the test and the emulator use ------------------------------------------------------- */

struct usage {
	struct footprint test, emulator;
};

static struct usage measure(void)
{
	const char *dir = getenv("DPUMAP_EMU_DIR");

	assert_non_null(dir);
	return (struct usage){
		.test = footprint_of(getpid()),
		.emulator = footprint_of(emulator_server_of(dir)),
	};
}

static void print_footprint(const char *of, const struct footprint *f)
{
	print_message(
		"  %s: heap %ld KiB, anonymous %ld KiB, %ld maps, %ld descriptors, %ld threads\n",
		of, f->heap_kib, f->anon_kib, f->maps, f->descriptors, f->threads);
}

static struct usage report(uint64_t begin)
{
	struct usage usage = measure();

	print_message("%" PRIu64 " s: %" PRIu64 " sequences, %" PRIu64 " tasks\n",
		      (monotonic_ms() - begin) / 1000, sequences, tasks);
	print_footprint("test", &usage.test);
	print_footprint("emulator", &usage.emulator);
	return usage;
}

static void assert_no_growth(const struct footprint *before, const struct footprint *after)
{
	assert_true(before->anon_kib > 0 && before->maps > 0 && before->descriptors > 0);
	if (!after->sanitized) {
		assert_true(after->heap_kib - before->heap_kib <= HEAP_KIB);
		assert_true(after->anon_kib - before->anon_kib <= ANON_KIB);
	}
	assert_true(after->maps - before->maps <= OTHERS);
	assert_true(after->descriptors - before->descriptors <= OTHERS);
	assert_true(after->threads - before->threads <= OTHERS);
}

/* --- the test --------------------------------------------------------------------------------- */

static uint64_t running_seed;

static int print_seed(void **state)
{
	if (running_seed)
		print_message("DPUMAP_RDMA_MODEL_SEED=%" PRIu64 " failed\n", running_seed);
	return 0;
}

static void random_tasks_agree_with_the_model(void **state)
{
	uint64_t seconds = test_setting("DPUMAP_RDMA_MODEL_SECONDS", DEFAULT_SECONDS);
	uint64_t seed = test_setting("DPUMAP_RDMA_MODEL_SEED", 1);
	uint64_t begin = monotonic_ms(), next = begin + REPORT_MS;
	struct usage before = {0}, after;
	bool is_warm = false;

	do {
		running_seed = seed;
		run_sequence(seed++);
		if (!is_warm && monotonic_ms() >= begin + WARM_UP_MS) {
			before = report(begin);
			is_warm = true;
		}
		if (monotonic_ms() >= next) {
			next += REPORT_MS;
			report(begin);
		}
	} while (monotonic_ms() < begin + 1000 * seconds);
	running_seed = 0;
	after = report(begin);
	if (!is_warm)
		return;
	assert_no_growth(&before.test, &after.test);
	assert_no_growth(&before.emulator, &after.emulator);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests_of_model[] = {
		cmocka_unit_test_teardown(random_tasks_agree_with_the_model, print_seed),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return be_victim();
	return cmocka_run_group_tests(tests_of_model, NULL, NULL);
}
