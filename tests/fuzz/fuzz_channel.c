/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Send frames of arbitrary bytes to dpumapd's session, which has exports but no device. Each frame must get
 * one reply or end the session. The bytes are also a request as text, of a client of doca_comch.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dpu/base/log.h"
#include "dpu/clients/by_address.h"
#include "dpu/clients/comch_text.h"
#include "dpu/clients/requests.h"
#include "dpu/clients/server.h"
#include "dpu/exports/export_table.h"
#include "dpu/exports/file_sync.h"
#include "dpu/exports/memory.h"
#include "dpu/rdma/rdma_conns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Discard the log of ten thousand requests per second. */
void log_line(const char *fmt, ...)
{
}

void log_from(enum dpumap_line_level level, const char *source, const char *fmt, ...)
{
}

/* --- exports without a device ----------------------------------------------------------------- */

#define EXPORTS 70

struct named_export {
	struct export_spec spec;
	uint64_t id;
};

struct export_table {
	struct named_export list[EXPORTS];
};

static struct export_table all;

static void make_exports(void)
{
	struct dpumap_error error;

	for (int i = 0; i < EXPORTS; i++) {
		struct export_spec *spec = &all.list[i].spec;
		char name[16];

		export_spec_init(spec);
		snprintf(name, sizeof(name), "e%02d", i);
		require(export_spec_set(spec, "name", name, &error) == DOCA_SUCCESS);
		spec->kind = EXPORT_DRAM;
		spec->size = 4096;
		spec->via = i % 2 ? EXPORT_VIA_RDMA : EXPORT_VIA_PCI; /* ids are odd over PCI */
		require(export_spec_set(spec, "allow", i % 7 ? "*" : "cert:nobody", &error) ==
			DOCA_SUCCESS);
		all.list[i].id = 1 + (uint64_t)i;
	}
}

size_t export_table_count(const struct export_table *exports)
{
	return EXPORTS;
}

struct named_export *export_table_at(const struct export_table *exports, size_t index)
{
	require(index < EXPORTS);
	return &all.list[index];
}

size_t export_table_after(const struct export_table *exports, const char *name)
{
	size_t i = 0;

	while (i < EXPORTS && strcmp(all.list[i].spec.name, name) <= 0)
		i++;
	return i;
}

struct named_export *export_table_find(const struct export_table *exports, const char *name,
				       struct dpumap_error *error)
{
	for (size_t i = 0; i < EXPORTS; i++)
		if (strcmp(all.list[i].spec.name, name) == 0)
			return &all.list[i];
	dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "none");
	return NULL;
}

struct named_export *export_table_find_id(const struct export_table *exports, uint64_t id)
{
	return id - 1 < EXPORTS ? &all.list[id - 1] : NULL;
}

/* Every other export is being registered when it is asked for first. */
doca_error_t export_table_acquire(struct export_table *exports, struct named_export *export,
				  bool waited, struct dpumap_error *error)
{
	(void)exports, (void)error;
	return waited || export->id % 2 ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

void export_table_release(struct export_table *exports, struct named_export *export)
{
	(void)exports, (void)export;
}

uint64_t export_id(const struct named_export *export)
{
	return export->id;
}

const struct export_spec *export_get_spec(const struct named_export *export)
{
	return &export->spec;
}

void export_describe(const struct named_export *export, struct dpumap_export_info *info)
{
	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%s", export->spec.name);
	memcpy(info->kind, "dram", 5);
	info->size = export->spec.size;
}

void export_descriptor(const struct named_export *export, const void **desc, size_t *len)
{
	*desc = export;
	*len = 80;
}

doca_error_t export_check_connects(const struct named_export *export, struct dpumap_error *error)
{
	if (export->spec.via == EXPORT_VIA_RDMA)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED, "over PCI");
}

static const uint8_t own_details[48];

/* Half of the sessions have an address to connect to. */
const struct cm_endpoint *by_address_endpoint(const struct by_address *by_address)
{
	static const struct cm_endpoint place = {"192.0.2.1", 18515};

	return by_address == (const void *)&all ? &place : NULL;
}

struct cm_listener *by_address_listener(const struct by_address *by_address)
{
	(void)by_address;
	return NULL;
}

/* Half of the connections wait for the address of the client. */
doca_error_t export_connect(struct named_export *export, const void *owner,
			    const struct rdma_details *details, struct cm_listener *cm,
			    struct rdma_details *answer, struct dpumap_error *error)
{
	(void)owner, (void)cm;
	require(details->len > 0 && details->len <= DPUMAP_DETAILS_MAX && details->data);
	if (export_check_connects(export, error) != DOCA_SUCCESS)
		return error->code;
	*answer = (struct rdma_details){own_details, sizeof(own_details)};
	return details->len % 2 ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
}

doca_error_t export_finish_connecting(struct named_export *export, const void *owner,
				      struct rdma_details *answer, struct dpumap_error *error)
{
	(void)export, (void)owner, (void)error;
	*answer = (struct rdma_details){own_details, sizeof(own_details)};
	return DOCA_SUCCESS;
}

void export_disconnect(struct named_export *export, const void *owner)
{
	(void)export, (void)owner;
}

doca_error_t export_check_range(const struct named_export *export, uint64_t offset, uint64_t len,
				struct dpumap_error *error)
{
	if (offset <= export->spec.size && len <= export->spec.size - offset)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "outside");
}

doca_error_t export_read(struct named_export *export, uint64_t offset, size_t len,
			 const void **data, struct dpumap_error *error)
{
	static const uint8_t bytes[4096];

	(void)export, (void)error;
	require(offset <= sizeof(bytes) && len <= sizeof(bytes) - offset);
	*data = bytes + offset;
	return DOCA_SUCCESS;
}

bool export_needs_sync(const struct named_export *export)
{
	return export->id % 2;
}

doca_error_t export_table_share(const struct export_table *exports,
				const struct named_export *export, int *fd,
				struct dpumap_error *error)
{
	(void)exports, (void)export;
	*fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return *fd < 0 ? dpumap_error_errno(error, errno, "no descriptor") : DOCA_SUCCESS;
}

/* The disk is slow once. */
static bool is_written;

doca_error_t export_table_begin_sync(const struct export_table *exports,
				     const struct named_export *export,
				     void (*ended)(void *context), void *context,
				     struct file_sync **sync, struct dpumap_error *error)
{
	(void)exports, (void)ended, (void)context, (void)error;
	require(export_needs_sync(export));
	is_written = false;
	*sync = NULL;
	return DOCA_SUCCESS;
}

doca_error_t file_sync_result(const struct file_sync *sync, struct dpumap_error *error)
{
	doca_error_t result = is_written ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;

	(void)sync, (void)error;
	is_written = true;
	return result;
}

void file_sync_end(struct file_sync *sync)
{
	(void)sync;
}

void server_wake(struct session *session)
{
	(void)session;
}

const char *export_table_device_name(const struct export_table *exports)
{
	return "mlx5_0";
}

doca_error_t export_table_dm_usage(const struct export_table *exports,
				   struct export_table_dm_usage *usage, struct dpumap_error *error)
{
	(void)exports, (void)error;
	*usage = (struct export_table_dm_usage){4096, 4096};
	return DOCA_SUCCESS;
}

/* --- a session -------------------------------------------------------------------------------- */

static void take_replies(int fd, struct dpumap_conn *conn)
{
	struct dpumap_error error = {0};
	char sink[65536];
	doca_error_t result;

	do {
		result = dpumap_conn_flush(conn, &error);
		while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
			;
	} while (result == DOCA_ERROR_AGAIN);
	require(result == DOCA_SUCCESS);
}

/* A ticket is for an export over RDMA that the client holds. */
static void check_tickets(const struct session *session)
{
	for (int i = 0; i < TICKETS_MAX; i++) {
		const struct ticket *ticket = &session->tickets.list[i];

		require(!ticket->end || (held_has(&session->held, ticket->export) &&
					 all.list[ticket->export - 1].spec.via == EXPORT_VIA_RDMA));
	}
}

static void serve(struct session *session, int fd)
{
	struct requests_stats stats = {0};
	struct dpumap_error error = {0};
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	while (!session->closing) {
		result = dpumap_conn_frame(session->conn, &payload, &len, &error);
		if (result == DOCA_ERROR_AGAIN)
			return;
		if (result == DOCA_SUCCESS) {
			requests_answer_frame(session, &all, &stats, payload, len);
			dpumap_conn_drop_frame(session->conn);
		} else {
			requests_reject(session, &error);
		}
		require(session->num_rdma_conns <= SESSION_RDMA_CONNS_MAX);
		check_tickets(session);
		while (session->job.active)
			requests_work(session, &all, &stats);
		require(dpumap_conn_has_output(session->conn));
		take_replies(fd, session->conn);
	}
}

/* --- a session of a client of doca_comch ------------------------------------------------------ */

static doca_error_t put_text(void *context, const struct dpumap_msg *msg,
			     struct dpumap_error *error)
{
	unsigned int *replies = context;
	uint8_t text[COMCH_TEXT_MAX];

	(void)error;
	require(comch_text_format(msg, text) <= sizeof(text));
	(*replies)++;
	return DOCA_SUCCESS;
}

static void serve_text(const uint8_t *bytes, size_t len)
{
	unsigned int replies = 0;
	const struct session_sink sink = {.put = put_text, .context = &replies};
	struct requests_stats stats = {0};
	struct dpumap_error error = {0};
	struct comch_request request;
	struct session *session;

	require(session_create_for(&sink, "uid:1", &session, &error) == DOCA_SUCCESS);
	if (comch_text_parse(bytes, len, &request, &error) == DOCA_SUCCESS)
		requests_answer(session, &all, &stats, &request.msg);
	else
		requests_refuse(session, &stats, &error);
	while (session->job.active)
		requests_work(session, &all, &stats);
	require(replies == 1);
	session_destroy(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dpumap_peer peer = {.kind = DPUMAP_ADDRESS_UNIX, .text = "uid 1 pid 1"};
	static struct introduction_rules rules;
	struct dpumap_error error = {0};
	struct session *session;
	int fds[2];

	if (!all.list[0].id) {
		make_exports();
		require(setenv("DPUMAP_COMCH_DIR", "/nowhere", 1) == 0 &&
			introduction_rules_add(&rules, "*", &error) == DOCA_SUCCESS &&
			introduction_rules_allow(&rules, "*", &error) == DOCA_SUCCESS);
	}
	serve_text(data, size);
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	require(session_create(fds[0], &peer, NULL, &session, &error) == DOCA_SUCCESS);
	memcpy(session->identity, "uid:1", 6);
	/* As over TLS: every server is allowed, and none is there. */
	session->peer.kind = DPUMAP_ADDRESS_TLS;
	session->rules = &rules;
	session->by_address = size % 2 ? (const void *)&all : (const void *)&rules;
	while (size && !session->closing) {
		ssize_t n = send(fds[1], data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		require(n > 0);
		data += n;
		size -= (size_t)n;
		require(dpumap_conn_fill(session->conn, &error) == DOCA_SUCCESS);
		serve(session, fds[1]);
	}
	session_destroy(session);
	close(fds[1]);
	return 0;
}
