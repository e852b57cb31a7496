/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Multicast: which queue pairs get a datagram for a group, and the limits of groups. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

#define GROUP_QPN  0xffffffu
#define SOCKET_ENV "DPUMAP_TEST_SOCKET"
#define MEMBERS	   3
#define SLOT	   1024u /* bytes of the buffer for each member */
#define LEN	   100u
#define VLAN_GID   "8"

static const union ibv_gid group = {
	.raw = {0xff, 0x0e, [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 7}};

static union ibv_gid group_number(uint32_t n)
{
	union ibv_gid gid = group;

	gid.raw[13] = (uint8_t)(n >> 16);
	gid.raw[14] = (uint8_t)(n >> 8);
	gid.raw[15] = (uint8_t)n;
	return gid;
}

static struct ibv_qp *make_member(struct verbs *n, uint32_t create_flags, uint32_t qkey)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = n->cq, .recv_cq = n->cq, .qp_type = IBV_QPT_UD, .sq_sig_all = 1};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};
	struct ibv_qp *qp;

	init.pd = n->pd;
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = create_flags;
	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	qp = ibv_create_qp_ex(n->ctx, &init);
	assert_non_null(qp);
	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	assert_int_equal(verbs_modify(qp, IBV_QPS_RTR, 0), 0);
	assert_int_equal(verbs_modify(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	return qp;
}

static struct ibv_ah *make_group_ah(const struct verbs *n, const union ibv_gid *gid,
				    uint8_t sgid_index)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	a.grh.dgid = *gid;
	a.grh.sgid_index = sgid_index;
	a.grh.hop_limit = 1;
	ah = ibv_create_ah(n->pd, &a);
	assert_non_null(ah);
	return ah;
}

static struct verbs_target to_group(struct ibv_ah *ah)
{
	return (struct verbs_target){ah, GROUP_QPN, VERBS_QKEY};
}

/* Members of the group, each with a buffer for one datagram, and a sender that is not in it. */
struct members {
	struct verbs *n;
	struct ibv_qp *sender;
	struct ibv_qp *qp[MEMBERS];
	struct ibv_ah *ah;
};

static struct members open_members(struct verbs *n)
{
	struct members m = {.n = n, .sender = make_member(n, 0, VERBS_QKEY)};

	m.ah = make_group_ah(n, &group, 1);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		m.qp[i] = make_member(n, 0, VERBS_QKEY);
		assert_int_equal(ibv_attach_mcast(m.qp[i], &group, 0), 0);
		verbs_recv_into(n, m.qp[i], (i + 1) * SLOT, VERBS_GRH + LEN);
	}
	fixture_fill(n->buf, LEN, 5);
	return m;
}

static void close_members(struct members *m)
{
	for (uint32_t i = 0; i < MEMBERS; i++) {
		(void)ibv_detach_mcast(m->qp[i], &group, 0);
		assert_int_equal(ibv_destroy_qp(m->qp[i]), 0);
	}
	assert_int_equal(ibv_destroy_qp(m->sender), 0);
	assert_int_equal(ibv_destroy_ah(m->ah), 0);
}

/* Wait for the completion of one send and of `receives` receives; the set of their buffers. */
static uint32_t expect_receives(const struct members *m, uint32_t receives)
{
	uint32_t got = 0, sent = 0, i;

	for (i = 0; i < receives + 1; i++) {
		struct ibv_wc wc = verbs_expect(m->n->cq, IBV_WC_SUCCESS);

		if (wc.opcode != IBV_WC_RECV) {
			sent++;
			continue;
		}
		assert_int_equal(wc.byte_len, VERBS_GRH + LEN);
		assert_memory_equal(m->n->buf + wc.wr_id + VERBS_GRH, m->n->buf, LEN);
		assert_int_equal(got & 1u << wc.wr_id / SLOT, 0);
		got |= 1u << wc.wr_id / SLOT;
	}
	assert_int_equal(sent, 1);
	verbs_expect_nothing(m->n->cq);
	return got;
}

static void every_member_gets_the_datagram(void **state)
{
	struct members m = open_members(*state);
	struct ibv_grh grh;

	verbs_send_ud(m.n, m.sender, to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, MEMBERS), 0xe);
	memcpy(&grh, m.n->buf + SLOT, sizeof(grh));
	assert_memory_equal(&grh.dgid, &group, sizeof(group));
	assert_memory_equal(&grh.sgid, &m.n->gid, sizeof(m.n->gid));
	assert_int_equal(grh.hop_limit, 1);
	close_members(&m);
}

/* RoCE v2 over IPv4: the IP header is in the last 20 of the 40 bytes, with the group's address. */
static void a_group_with_an_ipv4_address_has_an_ip_header(void **state)
{
	struct verbs *n = *state;
	const union ibv_gid v4 = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, 1, 2, 3}};
	struct ibv_qp *from = make_member(n, 0, VERBS_QKEY), *to = make_member(n, 0, VERBS_QKEY);
	struct ibv_ah *ah = make_group_ah(n, &v4, 3);
	const uint8_t *ip = n->buf + SLOT + VERBS_GRH - 20;
	union ibv_gid own;

	assert_int_equal(ibv_query_gid(n->ctx, 1, 3, &own), 0);
	assert_int_equal(ibv_attach_mcast(to, &v4, 0), 0);
	verbs_recv_into(n, to, SLOT, VERBS_GRH + LEN);
	verbs_send_ud(n, from, to_group(ah), LEN);
	verbs_expect_both(n->cq);
	assert_int_equal(ip[0], 0x45);
	assert_memory_equal(ip + 12, own.raw + 12, 4);
	assert_memory_equal(ip + 16, v4.raw + 12, 4);
	assert_int_equal(ibv_detach_mcast(to, &v4, 0), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_destroy_qp(from), 0);
	assert_int_equal(ibv_destroy_qp(to), 0);
}

static void the_sender_gets_its_own_copy(void **state)
{
	struct members m = open_members(*state);

	verbs_send_ud(m.n, m.qp[1], to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, MEMBERS), 0xe);
	close_members(&m);
}

/* The flag concerns the queue pair's own datagrams, not those of others. */
static void a_sender_can_block_its_own_copy(void **state)
{
	struct members m = open_members(*state);
	struct ibv_qp *self = make_member(m.n, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, VERBS_QKEY);

	assert_int_equal(ibv_attach_mcast(self, &group, 0), 0);
	verbs_recv_into(m.n, self, (MEMBERS + 1) * SLOT, VERBS_GRH + LEN);
	verbs_send_ud(m.n, self, to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, MEMBERS), 0xe);
	verbs_send_ud(m.n, m.sender, to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, 1), 0x10);
	assert_int_equal(ibv_detach_mcast(self, &group, 0), 0);
	assert_int_equal(ibv_destroy_qp(self), 0);
	close_members(&m);
}

/* A member that cannot take the datagram loses it alone. */
static void a_member_loses_only_its_own_copy(void **state)
{
	struct members m = open_members(*state);
	struct ibv_qp *locked = make_member(m.n, 0, VERBS_QKEY + 1),
		      *empty = make_member(m.n, 0, VERBS_QKEY),
		      *narrow = make_member(m.n, 0, VERBS_QKEY);

	assert_int_equal(ibv_attach_mcast(locked, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(empty, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(narrow, &group, 0), 0);
	verbs_recv_into(m.n, narrow, (MEMBERS + 2) * SLOT, VERBS_GRH + LEN - 1);
	verbs_recv_into(m.n, locked, (MEMBERS + 1) * SLOT, VERBS_GRH + LEN);
	assert_int_equal(verbs_modify(m.qp[0], IBV_QPS_RESET, 0), 0);
	verbs_send_ud(m.n, m.sender, to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, MEMBERS - 1), 0xc);
	assert_int_equal(verbs_state_of(locked), IBV_QPS_RTS);
	assert_int_equal(verbs_state_of(narrow), IBV_QPS_RTS);
	assert_int_equal(ibv_detach_mcast(locked, &group, 0), 0);
	assert_int_equal(ibv_detach_mcast(empty, &group, 0), 0);
	assert_int_equal(ibv_destroy_qp(locked), 0);
	assert_int_equal(ibv_destroy_qp(empty), 0);
	assert_int_equal(ibv_detach_mcast(narrow, &group, 0), 0);
	assert_int_equal(ibv_destroy_qp(narrow), 0);
	close_members(&m);
}

static void others_than_members_get_nothing(void **state)
{
	struct members m = open_members(*state);
	const union ibv_gid other = group_number(8);
	struct ibv_ah *to_other = make_group_ah(m.n, &other, 1),
		      *to_port = make_group_ah(m.n, &m.n->gid, 1);

	assert_int_equal(ibv_detach_mcast(m.qp[1], &group, 0), 0);
	verbs_send_ud(m.n, m.sender, to_group(to_other), LEN);
	assert_int_equal(expect_receives(&m, 0), 0);
	/* a group with the number of a queue pair, and a port with that of a group */
	verbs_send_ud(m.n, m.sender, (struct verbs_target){m.ah, m.qp[0]->qp_num, VERBS_QKEY}, LEN);
	assert_int_equal(expect_receives(&m, 0), 0);
	verbs_send_ud(m.n, m.sender, to_group(to_port), LEN);
	assert_int_equal(expect_receives(&m, 0), 0);
	verbs_send_ud(m.n, m.sender, to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, 2), 0xa);
	assert_int_equal(ibv_destroy_ah(to_other), 0);
	assert_int_equal(ibv_destroy_ah(to_port), 0);
	close_members(&m);
}

/* Without members a datagram is lost; the sender's own errors are reported nevertheless. */
static void a_datagram_to_a_group_without_members_is_lost(void **state)
{
	struct verbs *n = *state;
	struct ibv_qp *qp = make_member(n, 0, VERBS_QKEY);
	struct ibv_ah *ah = make_group_ah(n, &group, 1);
	struct ibv_sge sge = {(uintptr_t)n->buf, LEN, n->mr->lkey + 0x100};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	verbs_send_ud(n, qp, to_group(ah), LEN);
	assert_int_equal(verbs_expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = GROUP_QPN;
	wr.wr.ud.remote_qkey = VERBS_QKEY;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	verbs_expect(n->cq, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* --- attaching -------------------------------------------------------------------------------- */

static void only_a_datagram_queue_is_attached_and_only_to_a_group(void **state)
{
	struct verbs *n = *state;
	const union ibv_gid v4 = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 224, [15] = 9}},
			    host = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
	struct ibv_qp *rc = verbs_make_qp(n, IBV_QPT_RC, NULL),
		      *ud = verbs_make_qp(n, IBV_QPT_UD, NULL);

	assert_int_equal(ibv_attach_mcast(rc, &group, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(ud, &n->gid, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(ud, &host, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(ud, &group, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(ud, &v4, 0), 0);
	assert_int_equal(ibv_attach_mcast(ud, &group, 0xc001), 0);
	assert_int_equal(ibv_attach_mcast(ud, &group, 0xc001), 0); /* once is enough */
	assert_int_equal(ibv_destroy_qp(ud), EBUSY);
	assert_int_equal(ibv_detach_mcast(ud, &group, 0xc001), 0);
	assert_int_equal(ibv_detach_mcast(ud, &group, 0xc001), EINVAL);
	assert_int_equal(ibv_destroy_qp(ud), EBUSY);
	assert_int_equal(ibv_detach_mcast(ud, &v4, 0), 0);
	assert_int_equal(ibv_destroy_qp(ud), 0);
	assert_int_equal(ibv_destroy_qp(rc), 0);
}

static uint32_t attach_until_refused(struct ibv_qp *const qp[], uint32_t nqps, uint32_t ngroups)
{
	uint32_t done = 0, i, k;

	for (i = 0; i < ngroups; i++) {
		const union ibv_gid gid = group_number(i);

		for (k = 0; k < nqps; k++) {
			int err = ibv_attach_mcast(qp[k], &gid, 0);

			if (err) {
				assert_int_equal(err, ENOMEM);
				return done;
			}
			done++;
		}
	}
	return done;
}

static void detach_all(struct ibv_qp *const qp[], uint32_t nqps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const union ibv_gid gid = group_number(i / nqps);

		assert_int_equal(ibv_detach_mcast(qp[i % nqps], &gid, 0), 0);
	}
}

/* Each limit that the device announces can be reached, and not exceeded. */
static void announced_limits_are_reached_and_not_exceeded(void **state)
{
	struct verbs *n = *state;
	struct ibv_device_attr a;
	struct ibv_qp **qp;
	int nqps;

	assert_int_equal(ibv_query_device(n->ctx, &a), 0);
	nqps = a.max_mcast_qp_attach + 1;
	assert_true(a.max_mcast_grp > 0 && a.max_mcast_qp_attach > 0);
	qp = calloc((size_t)nqps, sizeof(struct ibv_qp *));
	assert_non_null(qp);
	for (int i = 0; i < nqps; i++)
		qp[i] = verbs_make_qp(n, IBV_QPT_UD, NULL);
	assert_int_equal(attach_until_refused(qp, (uint32_t)nqps, 1), a.max_mcast_qp_attach);
	detach_all(qp, (uint32_t)nqps, (uint32_t)a.max_mcast_qp_attach);
	assert_int_equal(attach_until_refused(qp, 1, (uint32_t)a.max_mcast_grp + 1),
			 a.max_mcast_grp);
	detach_all(qp, 1, (uint32_t)a.max_mcast_grp);
	assert_int_equal(attach_until_refused(qp, 64, (uint32_t)a.max_mcast_grp),
			 a.max_total_mcast_qp_attach);
	detach_all(qp, 64, (uint32_t)a.max_total_mcast_qp_attach);
	for (int i = 0; i < nqps; i++)
		assert_int_equal(ibv_destroy_qp(qp[i]), 0);
	free(qp);
}

/* --- another process, on the other function --------------------------------------------------- */

/* The peer joins the group, says so, and returns the bytes of each datagram until it is ended. */
static int be_peer(int socket)
{
	struct verbs *n = verbs_open_device();
	struct ibv_qp *qp = make_member(n, 0, VERBS_QKEY);
	char ready = 1;

	if (ibv_attach_mcast(qp, &group, 0))
		return 2;
	for (;;) {
		verbs_recv_into(n, qp, SLOT, VERBS_GRH + LEN);
		if (!process_send(socket, &ready, 1))
			return 0;
		verbs_expect(n->cq, IBV_WC_SUCCESS);
		if (!process_send(socket, n->buf + SLOT, VERBS_GRH + LEN) ||
		    !process_receive(socket, &ready, 1))
			return 0;
	}
}

/* Give this function's port a GID in a VLAN, or take it away. */
static void change_vlan_gid(const char *what)
{
	const char *own = !strcmp(test_options.peer_as, "host") ? "dpu" : "host";
	const char *const argv[] = {
		test_options.emu, "gid",    what, "10.0.0.9", "--as", own, "--index",
		VLAN_GID,	  "--type", "v2", "--vlan",   "5",    NULL};

	assert_int_equal(process_run(argv), 0);
}

/* In a VLAN of this port alone, the peer gets nothing: the next datagram is its first. */
static void expect_only_own_vlan(struct members *m, struct process *peer)
{
	struct ibv_ah *ah;
	uint8_t got[VERBS_GRH + LEN];
	char ready;

	assert_true(process_send(peer->to, "", 1));
	assert_true(process_receive(peer->from, &ready, 1));
	change_vlan_gid("add");
	ah = make_group_ah(m->n, &group, (uint8_t)atoi(VLAN_GID));
	for (uint32_t i = 0; i < MEMBERS; i++)
		verbs_recv_into(m->n, m->qp[i], (i + 1) * SLOT, VERBS_GRH + LEN);
	verbs_send_ud(m->n, m->sender, to_group(ah), LEN);
	assert_int_equal(expect_receives(m, MEMBERS), 0xe);
	fixture_fill(m->n->buf, LEN, 6);
	verbs_send_ud(m->n, m->sender, to_group(m->ah), LEN);
	assert_true(process_receive(peer->from, got, sizeof(got)));
	assert_memory_equal(got + VERBS_GRH, m->n->buf, LEN);
	assert_int_equal(expect_receives(m, 0), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	change_vlan_gid("del");
}

static void members_of_another_function_get_the_datagram(void **state)
{
	struct members m = open_members(*state);
	uint8_t got[VERBS_GRH + LEN];
	struct process peer;
	char ready;

	assert_true(process_start_on_socket(&peer, test_options.peer_as, SOCKET_ENV));
	assert_true(process_receive(peer.from, &ready, 1));
	verbs_send_ud(m.n, m.sender, to_group(m.ah), LEN);
	assert_true(process_receive(peer.from, got, sizeof(got)));
	assert_memory_equal(got + VERBS_GRH, m.n->buf, LEN);
	assert_int_equal(expect_receives(&m, MEMBERS), 0xe);
	expect_only_own_vlan(&m, &peer);
	/* its end detaches it: no attachment is left (the teardown counts) and nothing waits for it */
	assert_true(process_kill(&peer));
	verbs_recv_into(m.n, m.qp[0], SLOT, VERBS_GRH + LEN);
	verbs_send_ud(m.n, m.sender, to_group(m.ah), LEN);
	assert_int_equal(expect_receives(&m, 1), 0x2);
	close_members(&m);
}

#define MULTICAST_TEST(f) cmocka_unit_test_setup_teardown(f, verbs_open, verbs_close)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		MULTICAST_TEST(every_member_gets_the_datagram),
		MULTICAST_TEST(a_group_with_an_ipv4_address_has_an_ip_header),
		MULTICAST_TEST(the_sender_gets_its_own_copy),
		MULTICAST_TEST(a_sender_can_block_its_own_copy),
		MULTICAST_TEST(a_member_loses_only_its_own_copy),
		MULTICAST_TEST(others_than_members_get_nothing),
		MULTICAST_TEST(a_datagram_to_a_group_without_members_is_lost),
		MULTICAST_TEST(only_a_datagram_queue_is_attached_and_only_to_a_group),
		MULTICAST_TEST(announced_limits_are_reached_and_not_exceeded),
		MULTICAST_TEST(members_of_another_function_get_the_datagram),
	};

	test_parse_options(argc, argv);
	if (process_inherited(SOCKET_ENV) >= 0)
		return be_peer(process_inherited(SOCKET_ENV));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
