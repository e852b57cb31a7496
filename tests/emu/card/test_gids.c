/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses of ports: the GID tables, and what programs notice when they and the ports change. The
 * tests run on a host with two cards, whose ports are connected to each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "fixture.h"

#define ROOM  16 /* entries of a table: --cap max-gid=16 */
#define V4    3	 /* index of the IPv4 address as RoCE v2 */
#define BYTES 64u

/* --- the tool --------------------------------------------------------------------------------- */

/* Run `dpumap-emu WORDS...`; its exit code. */
static int tool(const char *words)
{
	const char *argv[24] = {test_options.emu};
	char copy[256], *save = NULL;
	int n = 1;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	return process_run(argv);
}

/* --- an end of a connection ------------------------------------------------------------------- */

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint8_t buf[4096];
};

static struct ibv_context *open_nth(unsigned int n)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	char name[16];

	assert_non_null(list);
	snprintf(name, sizeof(name), "mlx5_%u", n);
	for (unsigned int i = 0; list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!ctx) {
		fail_msg("no device %s", name);
		return NULL;
	}
	assert_int_equal(fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK), 0);
	return ctx;
}

static void open_end(struct end *e, unsigned int dev, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
		.sq_sig_all = 1,
	};

	memset(e, 0, sizeof(*e));
	e->ctx = open_nth(dev);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 128, NULL, NULL, 0);
	assert_non_null(e->cq);
	e->mr = ibv_reg_mr(e->pd, e->buf, sizeof(e->buf), IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(e->mr);
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &init);
	assert_non_null(e->qp);
}

static void close_end(struct end *e)
{
	assert_int_equal(ibv_destroy_qp(e->qp), 0);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(ibv_destroy_cq(e->cq), 0);
	assert_int_equal(ibv_dealloc_pd(e->pd), 0);
	assert_int_equal(ibv_close_device(e->ctx), 0);
}

static union ibv_gid gid_of(struct ibv_context *ctx, unsigned int index)
{
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(ctx, 1, (int)index, &gid), 0);
	return gid;
}

static union ibv_gid ipv4(uint32_t addr)
{
	union ibv_gid gid = {.raw = {[10] = 0xff,
				     [11] = 0xff,
				     (uint8_t)(addr >> 24),
				     (uint8_t)(addr >> 16),
				     (uint8_t)(addr >> 8),
				     (uint8_t)addr}};

	return gid;
}

/* With retries that end soon, or that last. */
enum patience { SHORT = 8, LONG = 20 };

static int connect_qp(struct ibv_qp *qp, unsigned int sgid_index, union ibv_gid dgid, uint32_t qpn,
		      enum patience patience)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int err;

	err = ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (err)
		return err;
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = qpn;
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.dgid = dgid;
	a.ah_attr.grh.sgid_index = (uint8_t)sgid_index;
	a.ah_attr.grh.hop_limit = 64;
	err = ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	a.qp_state = IBV_QPS_RTS;
	a.timeout = (uint8_t)patience;
	a.retry_cnt = 7;
	a.rnr_retry = 7;
	a.max_rd_atomic = 1;
	return ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Both ends use the entry at the same index. */
static void connect_ends(struct end *a, struct end *b, unsigned int index, enum patience patience)
{
	assert_int_equal(connect_qp(a->qp, index, gid_of(b->ctx, index), b->qp->qp_num, patience),
			 0);
	assert_int_equal(connect_qp(b->qp, index, gid_of(a->ctx, index), a->qp->qp_num, patience),
			 0);
}

static void post_recv(struct end *e)
{
	struct ibv_sge sge = {(uintptr_t)e->buf + 1024, 1024, e->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(e->qp, &wr, &bad), 0);
}

static void post_send(struct end *e)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, BYTES, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	assert_int_equal(ibv_post_send(e->qp, &wr, &bad), 0);
}

static enum ibv_wc_status await(struct end *e)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(e->cq, 1, &wc);
	while (!n && monotonic_ms() < end);
	assert_int_equal(n, 1);
	return wc.status;
}

static void assert_message_arrives(struct end *from, struct end *to)
{
	post_recv(to);
	post_send(from);
	assert_int_equal(await(from), IBV_WC_SUCCESS);
	assert_int_equal(await(to), IBV_WC_SUCCESS);
}

/* --- events ----------------------------------------------------------------------------------- */

/* IBV_EVENT_DEVICE_SPEED_CHANGE, which older headers lack. */
#define SPEED_CHANGE ((enum ibv_event_type)20)

static void await_event(struct ibv_context *ctx, enum ibv_event_type wanted)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&p, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_int_equal(ibv_get_async_event(ctx, &event), 0);
	assert_int_equal(event.event_type, wanted);
	assert_int_equal(event.element.port_num, wanted == SPEED_CHANGE ? 0 : 1);
	ibv_ack_async_event(&event);
}

static void assert_no_event(struct ibv_context *ctx)
{
	struct ibv_async_event event;

	assert_int_equal(ibv_get_async_event(ctx, &event), -1);
	assert_int_equal(errno, EAGAIN);
}

/* --- files ------------------------------------------------------------------------------------ */

/* One line of a file of the port; false if there is no such file. */
static bool read_file(const char *dev, const char *name, char line[64])
{
	char path[512];
	size_t n;
	FILE *in;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/1/%s", getenv("SYSFS_PATH"), dev,
		 name);
	in = fopen(path, "re");
	if (!in)
		return false;
	n = fread(line, 1, 63, in);
	fclose(in);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* As the kernel's attributes of an entry without a GID: the file exists, and each way to read it fails. */
static void assert_unreadable(const char *name)
{
	char path[512], byte;
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/infiniband/mlx5_0/ports/1/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(read(fd, &byte, 1), -1);
	assert_int_equal(errno, EINVAL);
	close(fd);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fread(&byte, 1, 1, in), 0);
	assert_int_equal(errno, EINVAL);
	assert_true(ferror(in));
	fclose(in);
}

static void assert_file(const char *name, const char *wanted)
{
	char line[64];

	assert_true(read_file("mlx5_0", name, line));
	assert_string_equal(line, wanted);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void each_address_of_a_port_has_both_roce_versions(void **state)
{
	struct ibv_context *ctx = open_nth(0);
	struct ibv_gid_entry all[ROOM + 1], one;
	struct ibv_port_attr port;

	assert_int_equal(ibv_query_port(ctx, 1, &port), 0);
	assert_int_equal(port.gid_tbl_len, ROOM);
	assert_int_equal(ibv_query_gid_table(ctx, all, ROOM + 1, 0), 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(all[i].gid_index, i);
		assert_int_equal(all[i].gid_type,
				 i % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1);
		assert_int_equal(all[i].ndev_ifindex, if_nametoindex("lo"));
		assert_int_equal(ibv_query_gid_ex(ctx, 1, i, &one, 0), 0);
		assert_memory_equal(&one, &all[i], sizeof(one));
	}
	assert_int_equal(all[1].gid.raw[0], 0xfe);
	assert_memory_equal(&all[V4].gid, (&(union ibv_gid[]){ipv4(0x7f640002)}[0]), 16);
	assert_memory_equal(&all[2].gid, &all[V4].gid, 16);
	assert_int_equal(ibv_query_gid_ex(ctx, 1, 4, &one, 0), ENODATA);
	assert_int_equal(ibv_query_gid_ex(ctx, 1, ROOM, &one, 0), EINVAL);
	assert_int_equal(ibv_query_gid_table(ctx, all, 3, 0), -EINVAL);
	assert_file("gids/3", "0000:0000:0000:0000:0000:ffff:7f64:0002");
	assert_file("gid_attrs/types/2", "IB/RoCE v1");
	assert_file("gid_attrs/types/3", "RoCE v2");
	assert_file("gid_attrs/ndevs/3", "lo");
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* Programs such as UCX take the path of the device apart to find its neighbours on the PCI bus. */
static void resolved_path_of_a_device_is_in_sys(void **state)
{
	static const char device[] = "/sys/devices/pci0000:00/0000:3b:00.0";
	char path[PATH_MAX], line[64], *other;

	assert_ptr_equal(realpath("/sys/class/infiniband/mlx5_0/device", path), path);
	assert_string_equal(path, device);
	snprintf(path, sizeof(path), "%s/vendor", device);
	assert_int_equal(access(path, R_OK), 0);
	other = canonicalize_file_name("/sys/bus/pci/devices/0000:3b:00.0");
	assert_non_null(other);
	assert_string_equal(other, device);
	free(other);
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0", getenv("SYSFS_PATH"));
	other = realpath(path, NULL);
	assert_non_null(other);
	assert_true(strstr(other, device) == other);
	free(other);
	/* What the emulator does not have is the machine's. */
	assert_ptr_equal(realpath("/sys/devices/system", path), path);
	assert_string_equal(path, "/sys/devices/system");
	assert_true(read_file("mlx5_0", "../../node_desc", line));
	assert_true(strstr(line, "emulated") != NULL);
}

static void each_function_has_an_address_of_its_own(void **state)
{
	struct ibv_context *a = open_nth(0), *b = open_nth(1);
	union ibv_gid first = gid_of(a, V4), second = gid_of(b, V4);

	assert_int_equal(first.raw[14], 0);
	assert_int_equal(second.raw[14], 1);
	assert_int_equal(ibv_close_device(a), 0);
	assert_int_equal(ibv_close_device(b), 0);
}

static void added_and_removed_gids_are_seen(void **state)
{
	struct ibv_context *ctx = open_nth(0), *other = open_nth(1);
	struct ibv_gid_entry all[ROOM];

	assert_int_equal(tool("gid add 10.1.2.3 --as host --index 7 --type v2"), 0);
	await_event(ctx, IBV_EVENT_GID_CHANGE);
	assert_no_event(ctx);
	assert_no_event(other);
	assert_int_equal(ibv_query_gid_table(ctx, all, ROOM, 0), 5);
	assert_int_equal(all[4].gid_index, 7);
	assert_memory_equal(&all[4].gid, (&(union ibv_gid[]){ipv4(0x0a010203)}[0]), 16);
	assert_file("gids/7", "0000:0000:0000:0000:0000:ffff:0a01:0203");
	assert_file("gids/6", "0000:0000:0000:0000:0000:0000:0000:0000");
	assert_int_equal(tool("gid del 10.1.2.3 --as host"), 0);
	await_event(ctx, IBV_EVENT_GID_CHANGE);
	assert_int_equal(ibv_query_gid_ex(ctx, 1, 7, &all[0], 0), ENODATA);
	assert_file("gids/7", "0000:0000:0000:0000:0000:0000:0000:0000");
	assert_unreadable("gid_attrs/types/7");
	assert_unreadable("gid_attrs/ndevs/7");
	assert_unreadable("gid_attrs/types/6"); /* it never had a GID */
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

static void a_gid_without_a_version_is_added_twice(void **state)
{
	struct ibv_context *ctx = open_nth(0);
	struct ibv_gid_entry all[ROOM];

	assert_int_equal(tool("gid add 2001:db8::7 --as host --vlan 100"), 0);
	assert_int_equal(ibv_query_gid_table(ctx, all, ROOM, 0), 6);
	assert_int_equal(all[4].gid_type, IBV_GID_TYPE_ROCE_V1);
	assert_int_equal(all[5].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_file("gid_attrs/ndevs/5", "lo.100");
	assert_int_equal(tool("gid del 2001:db8::7 --as host"), 0);
	assert_int_equal(ibv_query_gid_table(ctx, all, ROOM, 0), 4);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void changes_without_sense_are_refused(void **state)
{
	static const struct {
		const char *words;
		int code;
	} bad[] = {
		{"gid add 0.0.0.0 --as host", 1},
		{"gid add 224.0.0.1 --as host", 1},
		{"gid add ff02::1 --as host", 1},
		{"gid add 10.0.0.1 --as host --index 16", 1},
		{"gid add 10.0.0.1 --as host --index 3", 1},
		{"gid add 127.100.0.2 --as host", 1},
		{"gid add 127.100.1.2 --as host", 1},
		{"gid add 127.100.0.1 --as host", 1},
		{"gid add 10.0.0.1 --as guest", 1},
		{"gid add 10.0.0.1 --as host --device mlx5_5", 1},
		{"gid del 10.0.0.1 --as host", 1},
		{"gid add 10.0.0.1 --as host --index 15", 1}, /* no room for the second */
		{"gid add 10.0.0.300 --as host", 2},
		{"gid add 10.0.0.1", 2},
		{"gid add --as host", 2},
		{"gid add 10.0.0.1 --as host --vlan 4095", 2},
		{"gid add 10.0.0.1 --as host --type v3", 2},
		{"gid add 10.0.0.1 --as host --json", 2},
		{"gid del --as host", 2},
		{"gid frob", 2},
		{"port lid 0xc000", 1},
		{"port lid 65536", 2},
		{"port pkey 0x8001 --index 1", 1},
		{"port down now", 2},
		{"port down --as guest", 1},
		{"port down --index 1", 2},
	};
	struct ibv_context *ctx = open_nth(0);
	struct ibv_gid_entry all[ROOM];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (tool(bad[i].words) != bad[i].code)
			fail_msg("%s", bad[i].words);
	assert_int_equal(ibv_query_gid_table(ctx, all, ROOM, 0), 4);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void a_full_table_takes_a_gid_after_one_is_deleted(void **state)
{
	char words[80];

	for (int i = 4; i < ROOM; i++) {
		snprintf(words, sizeof(words), "gid add 10.9.0.%d --as host --type v2", i);
		assert_int_equal(tool(words), 0);
	}
	assert_int_equal(tool("gid add 10.9.1.1 --as host --type v2"), 1);
	assert_int_equal(tool("gid del --as host --index 9"), 0);
	assert_int_equal(tool("gid add 10.9.1.1 --as host --type v2"), 0);
	for (int i = 4; i < ROOM; i++) {
		snprintf(words, sizeof(words), "gid del --as host --index %d", i);
		assert_int_equal(tool(words), 0);
	}
}

static void each_version_carries_messages(void **state)
{
	struct end a, b;

	for (unsigned int index = 0; index < 4; index++) {
		open_end(&a, 0, IBV_QPT_RC);
		open_end(&b, 1, IBV_QPT_RC);
		connect_ends(&a, &b, index, LONG);
		assert_message_arrives(&a, &b);
		assert_message_arrives(&b, &a);
		close_end(&a);
		close_end(&b);
	}
}

static void connection_loses_a_removed_source(void **state)
{
	struct end a, b;

	assert_int_equal(tool("gid add 10.0.0.1 --as host --index 8 --type v2"), 0);
	assert_int_equal(tool("gid add 10.0.0.2 --as host --device mlx5_1 --index 8 --type v2"), 0);
	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	connect_ends(&a, &b, 8, SHORT);
	assert_message_arrives(&a, &b);
	assert_int_equal(tool("gid del 10.0.0.1 --as host"), 0);
	post_recv(&b);
	post_send(&a);
	assert_int_equal(await(&a), IBV_WC_RETRY_EXC_ERR);
	close_end(&a);
	close_end(&b);
	assert_int_equal(tool("gid del 10.0.0.2 --as host --device mlx5_1"), 0);
}

/* The requester retries; the address can come back at another index. */
static void connection_waits_for_a_destination(void **state)
{
	struct end a, b;

	assert_int_equal(tool("gid add 10.0.0.1 --as host --index 8 --type v2"), 0);
	assert_int_equal(tool("gid add 10.0.0.2 --as host --device mlx5_1 --index 8 --type v2"), 0);
	open_end(&a, 0, IBV_QPT_UC);
	close_end(&a);
	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	assert_int_equal(connect_qp(a.qp, 8, ipv4(0x0a000002), b.qp->qp_num, LONG), 0);
	assert_int_equal(connect_qp(b.qp, V4, gid_of(a.ctx, V4), a.qp->qp_num, LONG), 0);
	assert_int_equal(tool("gid del 10.0.0.2 --as host --device mlx5_1"), 0);
	post_recv(&b);
	post_send(&a);
	assert_int_equal(tool("gid add 10.0.0.2 --as host --device mlx5_1 --index 11 --type v2"),
			 0);
	assert_int_equal(await(&a), IBV_WC_SUCCESS);
	assert_int_equal(await(&b), IBV_WC_SUCCESS);
	close_end(&a);
	close_end(&b);
	assert_int_equal(tool("gid del 10.0.0.2 --as host --device mlx5_1"), 0);
	assert_int_equal(tool("gid del 10.0.0.1 --as host"), 0);
}

static void vlans_are_separate_networks(void **state)
{
	struct end a, b;

	assert_int_equal(tool("gid add 10.0.0.1 --as host --index 8 --type v2 --vlan 5"), 0);
	assert_int_equal(
		tool("gid add 10.0.0.2 --as host --device mlx5_1 --index 8 --type v2 --vlan 6"), 0);
	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	connect_ends(&a, &b, 8, SHORT);
	post_recv(&b);
	post_send(&a);
	assert_int_equal(await(&a), IBV_WC_RETRY_EXC_ERR);
	close_end(&a);
	close_end(&b);
	assert_int_equal(tool("gid del 10.0.0.2 --as host --device mlx5_1"), 0);
	assert_int_equal(
		tool("gid add 10.0.0.2 --as host --device mlx5_1 --index 8 --type v2 --vlan 5"), 0);
	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	connect_ends(&a, &b, 8, LONG);
	assert_message_arrives(&a, &b);
	close_end(&a);
	close_end(&b);
	assert_int_equal(tool("gid del 10.0.0.1 --as host"), 0);
	assert_int_equal(tool("gid del 10.0.0.2 --as host --device mlx5_1"), 0);
}

static struct ibv_ah *make_ah(struct end *e, unsigned int index, union ibv_gid dgid)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};

	a.grh.dgid = dgid;
	a.grh.sgid_index = (uint8_t)index;
	a.grh.hop_limit = 64;
	return ibv_create_ah(e->pd, &a);
}

/* Linux keeps the place of an entry that an object refers to. */
static void used_entry_keeps_its_index(void **state)
{
	struct ibv_ah *ah;
	struct end a;

	open_end(&a, 0, IBV_QPT_RC);
	assert_int_equal(tool("gid add 10.0.0.1 --as host --index 8 --type v2"), 0);
	ah = make_ah(&a, 8, ipv4(0x0a000001));
	assert_non_null(ah);
	assert_int_equal(tool("gid del --as host --index 8"), 0);
	assert_null(make_ah(&a, 8, ipv4(0x7f640002)));
	assert_int_equal(errno, ENODATA);
	assert_int_equal(connect_qp(a.qp, 8, ipv4(0x7f640002), 1, SHORT), ENODATA);
	assert_int_equal(tool("gid add 10.0.0.3 --as host --index 8 --type v2"), 1);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(tool("gid add 10.0.0.3 --as host --index 8 --type v2"), 0);
	close_end(&a);
	open_end(&a, 0, IBV_QPT_RC);
	assert_int_equal(connect_qp(a.qp, 8, ipv4(0x7f640002), 1, SHORT), 0);
	assert_int_equal(tool("gid del --as host --index 8"), 0);
	assert_int_equal(tool("gid add 10.0.0.3 --as host --index 8 --type v2"), 1);
	close_end(&a);
	assert_int_equal(tool("gid add 10.0.0.3 --as host --index 8 --type v2"), 0);
	assert_int_equal(tool("gid del --as host --index 8"), 0);
}

static void start_ud(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};

	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void send_ud(struct end *e, struct ibv_ah *ah, uint32_t qpn)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, BYTES, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = 0x11;
	assert_int_equal(ibv_post_send(e->qp, &wr, &bad), 0);
	assert_int_equal(await(e), IBV_WC_SUCCESS);
}

/* The sender of a datagram does not notice that it is lost. */
static void datagram_of_a_removed_gid_is_lost(void **state)
{
	struct ibv_ah *removed, *stays;
	struct ibv_wc wc;
	struct end a, b;

	assert_int_equal(tool("gid add 10.0.0.1 --as host --index 8 --type v2"), 0);
	open_end(&a, 0, IBV_QPT_UD);
	open_end(&b, 1, IBV_QPT_UD);
	start_ud(a.qp);
	start_ud(b.qp);
	removed = make_ah(&a, 8, gid_of(b.ctx, V4));
	stays = make_ah(&a, V4, gid_of(b.ctx, V4));
	assert_true(removed && stays);
	post_recv(&b);
	send_ud(&a, removed, b.qp->qp_num);
	assert_int_equal(await(&b), IBV_WC_SUCCESS);
	assert_int_equal(tool("gid del --as host --index 8"), 0);
	post_recv(&b);
	b.buf[1024 + 40] = 0xff;
	send_ud(&a, removed, b.qp->qp_num);
	assert_int_equal(ibv_poll_cq(b.cq, 1, &wc), 0);
	a.buf[0] = 7; /* the next datagram, not the lost one, is received */
	send_ud(&a, stays, b.qp->qp_num);
	assert_int_equal(await(&b), IBV_WC_SUCCESS);
	assert_int_equal(b.buf[1024 + 40], 7);
	assert_int_equal(ibv_poll_cq(b.cq, 1, &wc), 0);
	assert_int_equal(ibv_destroy_ah(removed), 0);
	assert_int_equal(ibv_destroy_ah(stays), 0);
	close_end(&a);
	close_end(&b);
}

static void each_change_of_a_port_is_an_event(void **state)
{
	static const struct {
		const char *words;
		enum ibv_event_type event;
	} change[] = {
		{"port down --device mlx5_0 --as host", IBV_EVENT_PORT_ERR},
		{"port up --device mlx5_0 --as host", IBV_EVENT_PORT_ACTIVE},
		{"port lid 7 --device mlx5_0 --as host", IBV_EVENT_LID_CHANGE},
		{"port lid 0 --device mlx5_0 --as host", IBV_EVENT_LID_CHANGE},
		{"port sm 9 --device mlx5_0 --as host", IBV_EVENT_SM_CHANGE},
		{"port sm 0 --device mlx5_0 --as host", IBV_EVENT_SM_CHANGE},
		{"port pkey 0x8001 --device mlx5_0 --as host", IBV_EVENT_PKEY_CHANGE},
		{"port pkey 0xffff --device mlx5_0 --as host", IBV_EVENT_PKEY_CHANGE},
		{"port reregister --device mlx5_0 --as host", IBV_EVENT_CLIENT_REREGISTER},
	};
	struct ibv_context *ctx = open_nth(0), *other = open_nth(1);

	for (size_t i = 0; i < ARRAY_SIZE(change); i++) {
		assert_int_equal(tool(change[i].words), 0);
		if (i < 2) /* the link */
			await_event(ctx, SPEED_CHANGE);
		await_event(ctx, change[i].event);
		assert_no_event(ctx);
	}
	assert_int_equal(tool("port speed 14 --device mlx5_0 --as host"), 0);
	await_event(ctx, SPEED_CHANGE);
	assert_int_equal(tool("port speed 14 --device mlx5_0 --as host"),
			 0); /* it has it: no event */
	assert_no_event(ctx);
	assert_int_equal(tool("port speed 10 --device mlx5_0 --as host"), 0);
	await_event(ctx, SPEED_CHANGE);
	assert_no_event(other);
	assert_int_equal(tool("port up"), 0); /* it is up: no event */
	assert_no_event(ctx);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

static void state_of_a_port_is_seen(void **state)
{
	struct ibv_context *ctx = open_nth(0);
	struct ibv_port_attr port;
	__be16 pkey;

	assert_int_equal(tool("port down --as host"), 0);
	assert_int_equal(tool("port lid 7 --as host"), 0);
	assert_int_equal(tool("port sm 9 --as host"), 0);
	assert_int_equal(tool("port pkey 0x8001 --as host"), 0);
	assert_int_equal(tool("port speed 25 --as host"), 0);
	assert_true(tool("port speed 26 --as host"));
	assert_int_equal(ibv_query_port(ctx, 1, &port), 0);
	assert_int_equal(port.active_speed, 32); /* EDR */
	assert_int_equal(port.state, IBV_PORT_DOWN);
	assert_int_equal(port.lid, 7);
	assert_int_equal(port.sm_lid, 9);
	assert_int_equal(port.pkey_tbl_len, 1);
	assert_int_equal(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	assert_int_equal(pkey, htobe16(0x8001));
	assert_file("state", "1: DOWN");
	assert_file("phys_state", "3: Disabled");
	assert_file("lid", "0x7");
	assert_file("sm_lid", "0x9");
	assert_file("rate", "100 Gb/sec (4X EDR)");
	assert_int_equal(tool("port up --as host"), 0);
	assert_int_equal(tool("port lid 0 --as host"), 0);
	assert_int_equal(tool("port sm 0 --as host"), 0);
	assert_int_equal(tool("port pkey 0xffff --as host"), 0);
	assert_file("state", "4: ACTIVE");
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* Messages are retried until the port is up again, or the retries are exhausted. */
static void port_that_is_down_carries_nothing(void **state)
{
	struct end a, b;

	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	connect_ends(&a, &b, V4, LONG);
	assert_int_equal(tool("port down --as host --device mlx5_1"), 0);
	post_recv(&b);
	post_send(&a);
	assert_int_equal(tool("port up --as host"), 0);
	assert_int_equal(await(&a), IBV_WC_SUCCESS);
	assert_int_equal(await(&b), IBV_WC_SUCCESS);
	close_end(&a);
	close_end(&b);
	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	connect_ends(&a, &b, V4, SHORT);
	assert_int_equal(tool("port down --as host --device mlx5_0"), 0);
	post_recv(&b);
	post_send(&a);
	assert_int_equal(await(&a), IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(tool("fault clear"), 0);
	assert_file("state", "4: ACTIVE");
	close_end(&a);
	close_end(&b);
}

/* The addresses come back, at other places if an object still refers to the old ones. */
static void port_loses_its_ip_addresses_for_a_time(void **state)
{
	struct ibv_gid_entry all[ROOM];
	struct ibv_ah *ah;
	struct end a;

	open_end(&a, 0, IBV_QPT_RC);
	assert_int_equal(tool("fault gid --as host"), 0);
	assert_int_equal(ibv_query_gid_table(a.ctx, all, ROOM, 0), 2);
	await_event(a.ctx, IBV_EVENT_GID_CHANGE);
	await_event(a.ctx, IBV_EVENT_GID_CHANGE);
	assert_int_equal(tool("fault gid --as host --off"), 0);
	assert_int_equal(ibv_query_gid_table(a.ctx, all, ROOM, 0), 4);
	assert_int_equal(all[V4].gid_index, V4);
	ah = make_ah(&a, V4, all[V4].gid);
	assert_non_null(ah);
	assert_int_equal(tool("fault gid"), 0);
	assert_int_equal(tool("fault clear"), 0);
	assert_int_equal(ibv_query_gid_table(a.ctx, all, ROOM, 0), 4);
	assert_int_equal(all[3].gid_index, 4);
	assert_int_equal(all[3].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	close_end(&a);
	assert_int_equal(tool("fault gid"), 0);
	assert_int_equal(tool("gid add 127.100.0.2 --as host --index 2"), 0);
	assert_int_equal(tool("fault clear"), 0);
}

/* Programs that have nothing to do with a change do not notice it. */
static void changes_do_not_disturb_traffic(void **state)
{
	struct end a, b;
	char words[96];

	open_end(&a, 0, IBV_QPT_RC);
	open_end(&b, 1, IBV_QPT_RC);
	connect_ends(&a, &b, V4, LONG);
	for (int i = 0; i < 12; i++) {
		snprintf(words, sizeof(words), "gid %s 10.7.0.1 --as host", i % 2 ? "del" : "add");
		for (int j = 0; j < 20; j++) {
			post_recv(&b);
			post_send(&a);
		}
		assert_int_equal(tool(words), 0);
		for (int j = 0; j < 20; j++) {
			assert_int_equal(await(&a), IBV_WC_SUCCESS);
			assert_int_equal(await(&b), IBV_WC_SUCCESS);
		}
	}
	close_end(&a);
	close_end(&b);
}

struct reader {
	_Atomic bool stop;
	unsigned int torn;
};

static void *read_gids(void *arg)
{
	struct reader *r = arg;
	char line[64];

	while (!r->stop)
		if (!read_file("mlx5_0", "gids/6", line) || strlen(line) != 39)
			r->torn++;
	return NULL;
}

/* A file in sysfs never is empty, not even for a moment. */
static void file_changes_as_a_whole(void **state)
{
	struct reader r = {0};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, read_gids, &r), 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(tool("gid add 10.6.0.1 --as host --index 6 --type v1"), 0);
		assert_int_equal(tool("gid del --as host --index 6"), 0);
	}
	r.stop = true;
	pthread_join(thread, NULL);
	assert_int_equal(r.torn, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(each_address_of_a_port_has_both_roce_versions),
		counted_test(resolved_path_of_a_device_is_in_sys),
		counted_test(each_function_has_an_address_of_its_own),
		counted_test(added_and_removed_gids_are_seen),
		counted_test(a_gid_without_a_version_is_added_twice),
		counted_test(changes_without_sense_are_refused),
		counted_test(a_full_table_takes_a_gid_after_one_is_deleted),
		counted_test(each_version_carries_messages),
		counted_test(connection_loses_a_removed_source),
		counted_test(connection_waits_for_a_destination),
		counted_test(vlans_are_separate_networks),
		counted_test(used_entry_keeps_its_index),
		counted_test(datagram_of_a_removed_gid_is_lost),
		counted_test(each_change_of_a_port_is_an_event),
		counted_test(state_of_a_port_is_seen),
		counted_test(port_that_is_down_carries_nothing),
		counted_test(port_loses_its_ip_addresses_for_a_time),
		counted_test(changes_do_not_disturb_traffic),
		counted_test(file_changes_as_a_whole),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
