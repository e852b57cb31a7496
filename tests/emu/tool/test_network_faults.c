/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * `dpumap-emu fault' of the network: queue pairs that are silent, slow or not ready, completions that come
 * twice, bytes that change, and partitions; also partitions of P_Keys.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "verbs.h"

#define FOREVER 7  /* rnr_retry */
#define PATIENT 20 /* timeout: 4.3 s, eight times */
#define HASTY	8  /* 1 ms */

/* Two queue pairs, connected to each other. */
static struct ibv_qp *a, *b;

/* Run a command of dpumap-emu with these words; its exit code. */
static int command(const char *name, const char *words)
{
	const char *argv[16] = {test_options.emu, name};
	char text[128], *save;
	int n = 2;

	snprintf(text, sizeof(text), "%s", words);
	argv[n] = strtok_r(text, " ", &save);
	while (argv[n])
		argv[++n] = strtok_r(NULL, " ", &save);
	return process_run(argv);
}

static int fault(const char *words)
{
	return command("fault", words);
}

static int fault_qp(const struct ibv_qp *qp, const char *words)
{
	char text[128];

	snprintf(text, sizeof(text), "queue --qpn %u %s", qp->qp_num, words);
	return fault(text);
}

static void make_ready_to_send(struct ibv_qp *qp, uint8_t timeout, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = timeout,
				   .retry_cnt = 7,
				   .rnr_retry = rnr_retry,
				   .max_rd_atomic = 1};

	assert_int_equal(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static void open_connection(const struct verbs *n, uint8_t timeout, uint8_t rnr_retry)
{
	a = verbs_make_qp((struct verbs *)n, IBV_QPT_RC, NULL);
	b = verbs_make_qp((struct verbs *)n, IBV_QPT_RC, NULL);
	verbs_make_ready_to_receive(n, a, b->qp_num);
	verbs_make_ready_to_receive(n, b, a->qp_num);
	make_ready_to_send(a, timeout, rnr_retry);
	make_ready_to_send(b, timeout, rnr_retry);
}

static void close_connection(void)
{
	assert_int_equal(fault("clear"), 0);
	assert_int_equal(ibv_destroy_qp(a), 0);
	assert_int_equal(ibv_destroy_qp(b), 0);
}

static void write_from(const struct verbs *n, struct ibv_qp *qp)
{
	struct ibv_sge sge = verbs_piece(n, 0, 64);
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1}, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)n->buf + 4096;
	wr.wr.rdma.rkey = n->mr->rkey;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

/* --- queue pairs ------------------------------------------------------------------------------ */

static void requests_to_a_silent_queue_pair_exhaust_the_retries(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, HASTY, FOREVER);
	verbs_recv_into(n, b, 1024, 64);
	assert_int_equal(fault_qp(b, "--silent"), 0);
	verbs_send_from(n, a, 0, 64);
	verbs_expect(n->cq, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(verbs_state_of(a), IBV_QPS_ERR);
	assert_int_equal(verbs_state_of(b), IBV_QPS_RTS);
	close_connection();
}

static void requests_of_a_silent_queue_pair_exhaust_the_retries(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, HASTY, FOREVER);
	assert_int_equal(fault_qp(a, "--silent"), 0);
	write_from(n, a);
	verbs_expect(n->cq, IBV_WC_RETRY_EXC_ERR);
	close_connection();
}

static void silence_that_ends_before_the_retries_loses_nothing(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	verbs_recv_into(n, b, 1024, 64);
	memset(n->buf, 0x5a, 64);
	assert_int_equal(fault_qp(b, "--silent"), 0);
	verbs_send_from(n, a, 0, 64);
	verbs_expect_nothing(n->cq);
	assert_int_equal(fault_qp(b, "--off"), 0);
	verbs_expect_both(n->cq);
	assert_memory_equal(n->buf + 1024, n->buf, 64);
	close_connection();
}

static void messages_to_an_unready_queue_pair_exhaust_the_rnr_retries(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, 2);
	verbs_recv_into(n, b, 1024, 64);
	assert_int_equal(fault_qp(b, "--rnr"), 0);
	write_from(n, a); /* needs no receive buffer */
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	verbs_send_from(n, a, 0, 64);
	verbs_expect(n->cq, IBV_WC_RNR_RETRY_EXC_ERR);
	close_connection();
}

static void rnr_retries_without_end_succeed_when_the_queue_pair_is_ready(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	verbs_recv_into(n, b, 1024, 64);
	assert_int_equal(fault_qp(b, "--rnr"), 0);
	verbs_send_from(n, a, 0, 64);
	verbs_expect_nothing(n->cq);
	assert_int_equal(fault_qp(b, "--off"), 0);
	verbs_expect_both(n->cq);
	close_connection();
}

static void work_requests_of_a_slow_queue_pair_last_longer(void **state)
{
	const struct verbs *n = *state;
	uint64_t start;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(fault_qp(a, "--delay 150"), 0);
	start = monotonic_ms();
	write_from(n, a);
	write_from(n, a);
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	assert_true(monotonic_ms() - start >= 149);
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	assert_true(monotonic_ms() - start >= 298);
	close_connection();
}

/* The QP is chosen when the fault is set: the third of two is the first. */
static void nth_queue_pair_counts_in_a_circle(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, HASTY, FOREVER);
	assert_int_equal(fault("queue --delay 60000 --nth 3 --as dpu"), 0);
	write_from(n, a);
	write_from(n, b);
	assert_int_equal(verbs_expect(n->cq, IBV_WC_SUCCESS).qp_num, b->qp_num);
	assert_int_equal(fault("queue --off --as host"), 0);
	verbs_expect_nothing(n->cq);
	close_connection();
}

static void fault_of_a_queue_pair_that_does_not_exist_is_refused(void **state)
{
	const struct verbs *n = *state;

	assert_int_equal(fault("queue --silent"), 1);
	open_connection(n, HASTY, FOREVER);
	assert_int_equal(fault("queue --silent --as host"), 1);
	assert_int_equal(fault("queue --silent --qpn 0x1ff0"), 1);
	assert_int_equal(fault("queue --silent"), 0);
	close_connection();
}

/* --- partitions of P_Keys --------------------------------------------------------------------- */

/* Both queue pairs use the entry; a key without a partition matches nothing, not even itself. */
static void requests_without_a_partition_exhaust_the_retries(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, HASTY, FOREVER);
	assert_int_equal(command("port", "pkey 0x8000"), 0);
	write_from(n, a);
	verbs_expect(n->cq, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(command("port", "pkey 0xffff"), 0);
	close_connection();
}

static void change_of_a_pkey_applies_to_connected_queue_pairs(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(command("port", "pkey 0x0001"), 0);
	write_from(n, a);
	verbs_expect_nothing(n->cq);
	assert_int_equal(command("port", "pkey 0x8001"), 0);
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	assert_int_equal(command("port", "pkey 0xffff"), 0);
	close_connection();
}

/* --- completions ------------------------------------------------------------------------------ */

static struct ibv_wc expect_id(const struct verbs *n, uint64_t id)
{
	struct ibv_wc wc = verbs_expect(n->cq, IBV_WC_SUCCESS);

	assert_int_equal(wc.wr_id, id);
	return wc;
}

static void write_with_id(const struct verbs *n, uint64_t id)
{
	struct ibv_send_wr wr = {.wr_id = id, .opcode = IBV_WR_RDMA_WRITE}, *bad;

	assert_int_equal(ibv_post_send(a, &wr, &bad), 0);
	(void)n;
}

static void duplicated_completion_comes_twice(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(fault("completion --duplicate --nth 2"), 0);
	write_with_id(n, 1);
	write_with_id(n, 2);
	write_with_id(n, 3);
	expect_id(n, 1);
	expect_id(n, 2);
	expect_id(n, 2);
	expect_id(n, 3);
	verbs_expect_nothing(n->cq);
	close_connection();
}

/* The driver counts them: it would complete a buffer that is still posted. */
static void completions_of_receives_are_not_duplicated(void **state)
{
	const struct verbs *n = *state;
	unsigned int i, receives = 0;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(fault("completion --duplicate --count all"), 0);
	verbs_recv_into(n, b, 1024, 64);
	verbs_recv_into(n, b, 2048, 64);
	verbs_send_from(n, a, 0, 64);
	for (i = 0; i < 3; i++)
		receives += verbs_expect(n->cq, IBV_WC_SUCCESS).opcode == IBV_WC_RECV;
	assert_int_equal(receives, 1);
	verbs_expect_nothing(n->cq);
	close_connection();
}

/* The queue has room for one completion of each work request. */
static void duplicated_completions_do_not_overrun_the_queue(void **state)
{
	struct verbs small = *(const struct verbs *)*state;
	uint64_t id = 1, expected = 1, last = 0;

	small.cq = ibv_create_cq(small.ctx, 3, NULL, NULL, 0);
	assert_non_null(small.cq);
	open_connection(&small, PATIENT, FOREVER);
	assert_int_equal(fault("completion --duplicate --count all"), 0);
	while (id < 300) {
		for (; id < expected + 3; id++)
			write_with_id(&small, id);
		for (; expected < id; expected += last == expected) {
			last = verbs_expect(small.cq, IBV_WC_SUCCESS).wr_id;
			assert_in_range(last, expected - 1, expected);
		}
	}
	close_connection();
	assert_int_equal(ibv_destroy_cq(small.cq), 0);
}

static void fault_that_is_off_affects_nothing(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(fault("completion --lose --count all"), 0);
	assert_int_equal(fault("completion --off"), 0);
	assert_int_equal(fault("--method pd.create --count all"), 0);
	assert_null(ibv_alloc_pd(n->ctx));
	assert_int_equal(fault("command --off"), 0);
	assert_int_equal(ibv_dealloc_pd(ibv_alloc_pd(n->ctx)), 0);
	write_from(n, a);
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	close_connection();
}

/* --- data ------------------------------------------------------------------------------------- */

#define LEN    64u
#define TO     4096u /* where the bytes arrive */
#define REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static bool needs_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Move the bytes; the memory of the requester is in two pieces. */
static void move(const struct verbs *n, enum ibv_wr_opcode opcode)
{
	uint32_t here = opcode == IBV_WR_RDMA_READ ? TO : 0;
	struct ibv_sge sge[] = {verbs_piece(n, here, 40), verbs_piece(n, here + 40, LEN - 40)};
	struct ibv_send_wr wr = {.opcode = opcode, .sg_list = sge, .num_sge = 2}, *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .qp_access_flags = REMOTE};
	struct ibv_mr *mr = ibv_reg_mr(n->pd, n->buf, VERBS_BUF, IBV_ACCESS_LOCAL_WRITE | REMOTE);

	assert_non_null(mr);
	assert_int_equal(ibv_modify_qp(b, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
	for (uint32_t i = 0; i < LEN; i++)
		n->buf[i] = (uint8_t)i;
	memset(n->buf + TO, 0xff, LEN);
	wr.wr.rdma.remote_addr = (uintptr_t)n->buf + (TO - here);
	wr.wr.rdma.rkey = mr->rkey;
	if (needs_receive(opcode))
		verbs_recv_into(n, b, TO, LEN);
	assert_int_equal(ibv_post_send(a, &wr, &bad), 0);
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	if (needs_receive(opcode))
		verbs_expect(n->cq, IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Only `count` bytes from the first one on have changed. */
static void assert_changed(const struct verbs *n, uint32_t first, uint32_t count)
{
	uint8_t wanted[LEN];

	for (uint32_t i = 0; i < LEN; i++)
		wanted[i] = (uint8_t)(i ^ (i >= first && i - first < count));
	assert_memory_equal(n->buf + TO, wanted, LEN);
}

static void changed_byte_arrives_and_no_completion_shows_it(void **state)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						     IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM};
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		assert_int_equal(fault("data --nth 51 --as dpu"), 0);
		move(n, opcodes[i]);
		assert_changed(n, 50, 1);
		move(n, opcodes[i]);
		assert_changed(n, 0, 0);
	}
	close_connection();
}

static void bytes_are_counted_across_messages(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(fault("data --nth 36 --count 34"), 0);
	move(n, IBV_WR_RDMA_WRITE);
	assert_changed(n, 35, 29);
	move(n, IBV_WR_RDMA_READ);
	assert_changed(n, 0, 5);
	move(n, IBV_WR_RDMA_READ);
	assert_changed(n, 0, 0);
	assert_int_equal(fault("data --count all"), 0);
	move(n, IBV_WR_SEND);
	assert_changed(n, 0, LEN);
	close_connection();
}

static void bytes_of_other_functions_and_without_the_fault_do_not_change(void **state)
{
	const struct verbs *n = *state;

	open_connection(n, PATIENT, FOREVER);
	assert_int_equal(fault("data --count all --as host"), 0);
	move(n, IBV_WR_RDMA_WRITE);
	assert_changed(n, 0, 0);
	assert_int_equal(fault("data --count all"), 0);
	assert_int_equal(fault("data --off"), 0);
	move(n, IBV_WR_RDMA_WRITE);
	assert_changed(n, 0, 0);
	assert_int_equal(fault("data --count all"), 0);
	assert_int_equal(fault("clear"), 0);
	move(n, IBV_WR_RDMA_WRITE);
	assert_changed(n, 0, 0);
	close_connection();
}

/* --- partitions ------------------------------------------------------------------------------- */

/* A process on the DPU of the second card, with a queue pair. */
#define ENV_SOCKET "TEST_FAULTS_SOCKET"

struct address {
	uint32_t qpn;
	union ibv_gid gid;
};

static struct process peer;

static struct address exchange(int socket, const struct verbs *n)
{
	struct address mine = {a->qp_num, n->gid}, other;

	assert_true(process_send(socket, &mine, sizeof(mine)));
	assert_true(process_receive(socket, &other, sizeof(other)));
	return other;
}

static void connect_to(int socket, const struct verbs *n)
{
	struct verbs there = {0};
	struct address other;

	a = verbs_make_qp((struct verbs *)n, IBV_QPT_RC, NULL);
	other = exchange(socket, n);
	there.gid = other.gid;
	verbs_make_ready_to_receive(&there, a, other.qpn);
	exchange(socket, n); /* both are ready */
}

/* The peer: until the other process closes the socket. */
static void be_peer(void **state)
{
	int socket = process_inherited(ENV_SOCKET);
	char c;

	connect_to(socket, verbs_open_device());
	assert_false(process_receive(socket, &c, sizeof(c)));
	_exit(0);
}

static void open_far(const struct verbs *n, uint8_t timeout)
{
	assert_true(process_start_on_socket(&peer, "dpu1", ENV_SOCKET));
	connect_to(peer.to, n);
	make_ready_to_send(a, timeout, FOREVER);
}

static void close_far(void)
{
	assert_int_equal(fault("clear"), 0);
	assert_int_equal(ibv_destroy_qp(a), 0);
	assert_true(process_finish(&peer));
}

static void write_nothing(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	assert_int_equal(ibv_post_send(a, &wr, &bad), 0);
}

static void partition_exhausts_the_retries(void **state)
{
	const struct verbs *n = *state;

	open_far(n, HASTY);
	assert_int_equal(fault("partition --as dpu --peer host"), 0); /* not between these two */
	write_nothing();
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	assert_int_equal(fault("partition --as dpu --peer dpu1"), 0);
	write_nothing();
	verbs_expect(n->cq, IBV_WC_RETRY_EXC_ERR);
	close_far();
}

static void partition_that_ends_before_the_retries_loses_nothing(void **state)
{
	const struct verbs *n = *state;

	open_far(n, PATIENT);
	assert_int_equal(fault("partition --as dpu1"), 0); /* from all others */
	write_nothing();
	verbs_expect_nothing(n->cq);
	assert_int_equal(fault("partition --as dpu1 --off"), 0);
	verbs_expect(n->cq, IBV_WC_SUCCESS);
	close_far();
}

static void partition_between_unknown_or_equal_functions_is_refused(void **state)
{
	assert_int_equal(fault("partition --as host --peer nowhere"), 1);
	assert_int_equal(fault("partition --as nowhere"), 1);
	assert_int_equal(fault("partition --as node7 --peer node0"), 1);
	assert_int_equal(fault("partition --as host --peer host"), 1);
	assert_int_equal(fault("partition --as node0 --peer host"), 1);
	assert_int_equal(fault("partition --peer host"), 2);
	assert_int_equal(fault("partition --as node0"), 0);
	assert_int_equal(fault("clear"), 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, verbs_open, verbs_close)
	const struct CMUnitTest tests[] = {
		TEST(requests_to_a_silent_queue_pair_exhaust_the_retries),
		TEST(requests_of_a_silent_queue_pair_exhaust_the_retries),
		TEST(silence_that_ends_before_the_retries_loses_nothing),
		TEST(messages_to_an_unready_queue_pair_exhaust_the_rnr_retries),
		TEST(rnr_retries_without_end_succeed_when_the_queue_pair_is_ready),
		TEST(work_requests_of_a_slow_queue_pair_last_longer),
		TEST(nth_queue_pair_counts_in_a_circle),
		TEST(fault_of_a_queue_pair_that_does_not_exist_is_refused),
		TEST(requests_without_a_partition_exhaust_the_retries),
		TEST(change_of_a_pkey_applies_to_connected_queue_pairs),
		TEST(duplicated_completion_comes_twice),
		TEST(completions_of_receives_are_not_duplicated),
		TEST(duplicated_completions_do_not_overrun_the_queue),
		TEST(fault_that_is_off_affects_nothing),
		TEST(changed_byte_arrives_and_no_completion_shows_it),
		TEST(bytes_are_counted_across_messages),
		TEST(bytes_of_other_functions_and_without_the_fault_do_not_change),
		TEST(partition_exhausts_the_retries),
		TEST(partition_that_ends_before_the_retries_loses_nothing),
		TEST(partition_between_unknown_or_equal_functions_is_refused),
	};

	const struct CMUnitTest as_peer[] = {cmocka_unit_test(be_peer)};

	test_parse_options(argc, argv);
	if (process_inherited(ENV_SOCKET) >= 0)
		return cmocka_run_group_tests(as_peer, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
