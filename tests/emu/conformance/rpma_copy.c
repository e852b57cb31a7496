/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * usage: rpma_copy server|client ADDRESS. The client writes into the server's memory, flushes, and reads it again.
 * The server looks at its memory after the connection. An ordinary program of librpma; programs.sh runs it.
 */
#include <librpma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT "7204"
#define LEN  100000u
#define USAGE                                                                        \
	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | \
	 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;
static struct rpma_conn *conn;
static unsigned char *bytes; /* twice LEN */

static void check(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", what, rpma_err_2str(ret));
	exit(1);
}

static void fill(unsigned char *to)
{
	for (unsigned int i = 0; i < LEN; i++)
		to[i] = (unsigned char)(i * 7 + i / 251);
}

static void compare(const unsigned char *with)
{
	unsigned char *wanted = malloc(LEN);

	if (!wanted)
		exit(1);
	fill(wanted);
	if (memcmp(with, wanted, LEN) != 0) {
		fprintf(stderr, "other bytes\n");
		exit(1);
	}
	free(wanted);
}

static void open_device(const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context;

	check(rpma_utils_get_ibv_context(address, type, &context), "context");
	check(rpma_peer_new(context, &peer), "peer");
	bytes = calloc(2, LEN);
	if (!bytes)
		exit(1);
	check(rpma_mr_reg(peer, bytes, (size_t)2 * LEN, USAGE, &mr), "region");
}

static void expect(enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	check(rpma_conn_next_event(conn, &event), "event");
	if (event == wanted)
		return;
	fprintf(stderr, "event %s\n", rpma_utils_conn_event_2str(event));
	exit(1);
}

static void serve(const char *address)
{
	struct rpma_conn_private_data data;
	struct rpma_conn_req *request;
	unsigned char description[64];
	struct rpma_ep *end;
	size_t size;

	open_device(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	check(rpma_mr_get_descriptor_size(mr, &size), "size");
	check(rpma_mr_get_descriptor(mr, description), "descriptor");
	data = (struct rpma_conn_private_data){description, (uint8_t)size};
	check(rpma_ep_listen(peer, address, PORT, &end), "listen");
	check(rpma_ep_next_conn_req(end, NULL, &request), "request");
	check(rpma_conn_req_connect(&request, &data, &conn), "accept");
	expect(RPMA_CONN_ESTABLISHED);
	expect(RPMA_CONN_CLOSED);
	compare(bytes);
	check(rpma_conn_disconnect(conn), "disconnect");
	check(rpma_conn_delete(&conn), "end");
	check(rpma_ep_shutdown(&end), "shutdown");
}

static void await(void)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	check(rpma_conn_get_cq(conn, &cq), "queue");
	check(rpma_cq_wait(cq), "wait");
	check(rpma_cq_get_wc(cq, 1, &wc, NULL), "completion");
	if (wc.status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
	exit(1);
}

static void copy(struct rpma_mr_remote *remote)
{
	fill(bytes);
	check(rpma_write(conn, remote, 0, mr, 0, LEN, RPMA_F_COMPLETION_ON_ERROR, NULL), "write");
	check(rpma_flush(conn, remote, 0, LEN, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
			 NULL),
	      "flush");
	await();
	check(rpma_read(conn, mr, LEN, remote, 0, LEN, RPMA_F_COMPLETION_ALWAYS, NULL), "read");
	await();
	compare(bytes + LEN);
}

static void use(const char *address)
{
	struct rpma_conn_private_data data;
	struct rpma_conn_req *request;
	struct rpma_mr_remote *remote;

	open_device(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	check(rpma_conn_req_new(peer, address, PORT, NULL, &request), "request");
	check(rpma_conn_req_connect(&request, NULL, &conn), "connect");
	expect(RPMA_CONN_ESTABLISHED);
	check(rpma_conn_get_private_data(conn, &data), "data");
	check(rpma_mr_remote_from_descriptor(data.ptr, data.len, &remote), "remote");
	copy(remote);
	check(rpma_mr_remote_delete(&remote), "remote");
	check(rpma_conn_disconnect(conn), "disconnect");
	expect(RPMA_CONN_CLOSED);
	check(rpma_conn_delete(&conn), "end");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "server"))
		serve(argv[2]);
	else
		use(argv[2]);
	check(rpma_mr_dereg(&mr), "region");
	check(rpma_peer_delete(&peer), "peer");
	free(bytes);
	printf("%s: the same bytes\n", argv[1]);
	return 0;
}
