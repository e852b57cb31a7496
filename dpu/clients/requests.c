/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/message.h"
#include "dpu/base/log.h"
#include "dpu/clients/by_address.h"
#include "dpu/clients/server.h"
#include "dpu/exports/file_sync.h"
#include "dpu/exports/memory.h"
#include "dpu/rdma/rdma_conns.h"

#define LIST_AT_ONCE 256 /* exports that a piece of a list looks at */

struct context {
	struct session *session;
	struct export_table *exports;
	struct requests_stats *stats;
	const struct dpumap_msg *request;
	struct dpumap_msg *reply;
	struct dpumap_error *error;
	const char *note; /* for the log, not for the client */
	bool is_expected; /* the refusal: no line in the log */
	int passes;	  /* a descriptor that goes with the reply; -1: none */
	char name[DPUMAP_EXPORT_NAME_MAX];
	struct dpumap_digest digest;
};

/* A piece of a job returns AGAIN until the last one, which completes the reply. */
struct piece {
	struct session *session;
	struct export_table *exports;
	struct requests_stats *stats;
	struct dpumap_msg *reply;
	struct dpumap_error *error;
};

/* A handler returns AGAIN when the reply comes later. */
typedef doca_error_t handler(struct context *c);

#define FIELD(key) (1u << DPUMAP_MSG_##key)

static doca_error_t handle_hello(struct context *c)
{
	uint64_t version = c->request->value[DPUMAP_MSG_VERSION].number;

	dpumap_msg_set_number(c->reply, DPUMAP_MSG_VERSION,
			      version && version < DPUMAP_CHANNEL_VERSION ? version
									  : DPUMAP_CHANNEL_VERSION);
	if (!version) {
		c->session->closing = true;
		return dpumap_error_set(
			c->error, DOCA_ERROR_UNSUPPORTED_VERSION,
			"the client speaks version 0 of the channel protocol, "
			"dpumapd versions 1 to %u: install the same release on both",
			DPUMAP_CHANNEL_VERSION);
	}
	c->session->hello_done = true;
	return DOCA_SUCCESS;
}

/* The rest of the fields are the caller's. AGAIN, for handlers. */
static doca_error_t start_job(struct context *c, enum session_job kind, uint64_t export)
{
	c->session->job.active = true;
	c->session->job.kind = kind;
	c->session->job.id = c->request->value[DPUMAP_MSG_ID].number;
	c->session->job.export = export;
	return DOCA_ERROR_AGAIN;
}

/*
 * Looks at the exports after this one, which becomes the last one of them. AGAIN: some are left, but
 * not listed yet.
 */
static doca_error_t list_some(const struct session *session, const struct export_table *exports,
			      char after[DPUMAP_EXPORT_NAME_MAX], struct dpumap_msg *reply)
{
	size_t at = export_table_after(exports, after);

	for (int i = 0; i < LIST_AT_ONCE; i++, at++) {
		const struct named_export *export;
		struct dpumap_export_info info = {0};

		if (at >= export_table_count(exports))
			return DOCA_SUCCESS;
		export = export_table_at(exports, at);
		snprintf(after, DPUMAP_EXPORT_NAME_MAX, "%s", export_get_spec(export)->name);
		if (!session_may_import(session, export_get_spec(export)))
			continue;
		if (reply->num_exports == DPUMAP_EXPORTS_PER_MSG) {
			dpumap_msg_set_text(reply, DPUMAP_MSG_NEXT,
					    reply->exports[DPUMAP_EXPORTS_PER_MSG - 1].name);
			return DOCA_SUCCESS;
		}
		export_describe(export, &info);
		dpumap_msg_add_export(reply, &info);
	}
	return DOCA_ERROR_AGAIN;
}

/* A client may see few of many exports: the others are looked at in further turns. */
static doca_error_t list(struct context *c)
{
	struct session *s = c->session;

	dpumap_msg_get_text(c->request, DPUMAP_MSG_AFTER, s->job.after, sizeof(s->job.after));
	if (list_some(s, c->exports, s->job.after, c->reply) == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	s->job.list = malloc(sizeof(*s->job.list));
	if (!s->job.list)
		return dpumap_error_set(c->error, DOCA_ERROR_NO_MEMORY, "no memory for a list");
	*s->job.list = *c->reply;
	return start_job(c, SESSION_LISTS, 0);
}

/*
 * NULL with the reason. The client gets the same reply for an export that it may not import and for
 * a name that does not exist: names are not disclosed.
 */
static struct named_export *find(struct context *c)
{
	struct named_export *export;
	struct dpumap_error ignored;

	dpumap_msg_get_text(c->request, DPUMAP_MSG_NAME, c->name, sizeof(c->name));
	export = export_table_find(c->exports, c->name, &ignored);
	if (export && session_may_import(c->session, export_get_spec(export)))
		return export;
	/* Both log a line of about the same length, so that the time does not disclose names either. */
	c->note = export ? ": it exists, but its allow setting does not contain the client, or the "
			   "client cannot import over RDMA"
			 : ": it does not exist; \"dpumapd ctl list\" lists all exports";
	dpumap_error_set(c->error, DOCA_ERROR_NOT_FOUND,
			 "there is no export called \"%s\" that %s may import; see dpumap list",
			 c->name, c->session->identity);
	return NULL;
}

static struct named_export *find_held(struct context *c)
{
	struct named_export *export = find(c);

	if (!export || held_has(&c->session->held, export_id(export)))
		return export;
	dpumap_error_set(c->error, DOCA_ERROR_NOT_PERMITTED,
			 "export %s: the client does not hold it: send get first", c->name);
	return NULL;
}

static doca_error_t hold(const struct piece *p, struct named_export *export, bool waited)
{
	struct session *s = p->session;
	uint64_t id = export_id(export);
	doca_error_t result = held_add(&s->held, id, p->error);

	if (result != DOCA_SUCCESS)
		return result;
	result = export_table_acquire(p->exports, export, waited, p->error);
	if (result != DOCA_SUCCESS)
		held_remove(&s->held, id);
	return result;
}

/* AGAIN while the export is being registered. */
static doca_error_t give(const struct piece *p, struct named_export *export, bool waited)
{
	struct dpumap_export_info info;
	const void *desc;
	doca_error_t result = hold(p, export, waited);
	size_t len;

	if (result != DOCA_SUCCESS)
		return result;
	export_describe(export, &info);
	dpumap_msg_add_export(p->reply, &info);
	export_descriptor(export, &desc, &len);
	dpumap_msg_set_bytes(p->reply, DPUMAP_MSG_DESCRIPTOR, desc, len);
	p->stats->gets++;
	session_log(p->session, DPUMAP_LINE_INFO, "gets export %s", info.name);
	return DOCA_SUCCESS;
}

static doca_error_t get(struct context *c)
{
	const struct piece p = {c->session, c->exports, c->stats, c->reply, c->error};
	struct named_export *export = find(c);
	doca_error_t result = export ? give(&p, export, false) : c->error->code;

	if (result != DOCA_ERROR_AGAIN)
		return result;
	c->session->job.sleeps = true;
	return start_job(c, SESSION_GETS, export_id(export));
}

static void on_synced(void *session)
{
	server_wake(session);
}

/* The release is answered once the file has what the client wrote. */
static doca_error_t start_sync(struct context *c, const struct named_export *export)
{
	struct session *s = c->session;
	doca_error_t result;

	if (!export_needs_sync(export))
		return DOCA_SUCCESS;
	result = export_table_begin_sync(c->exports, export, on_synced, s, &s->job.sync, c->error);
	if (result != DOCA_SUCCESS)
		return result;
	s->job.sleeps = true;
	return start_job(c, SESSION_SYNCS, 0);
}

static doca_error_t release(struct context *c)
{
	struct named_export *export = find_held(c);

	if (!export)
		return c->error->code;
	held_remove(&c->session->held, export_id(export));
	session_log(c->session, DPUMAP_LINE_INFO, "releases export %s", c->name);
	if (!held_has(&c->session->held, export_id(export))) {
		session_remove_rdma_conns(c->session, export_id(export));
		export_disconnect(export, c->session);
	}
	export_table_release(c->exports, export);
	return start_sync(c, export);
}

/* The client asks each time, because it cannot know: no address is the usual case. */
static doca_error_t offer_address(struct context *c, const struct named_export *export)
{
	const struct cm_endpoint *endpoint = by_address_endpoint(c->session->by_address);
	const uint8_t *ticket;
	doca_error_t result = export_check_connects(export, c->error);

	if (result != DOCA_SUCCESS)
		return result;
	c->is_expected = !endpoint;
	if (!endpoint)
		return dpumap_error_set(c->error, DOCA_ERROR_NOT_SUPPORTED,
					"dpumapd has no address for RDMA connections (setting "
					"rdma.listen): send connection details");
	result = tickets_issue(&c->session->tickets, export_id(export), monotonic_ns(), &ticket,
			       c->error);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_msg_set_text(c->reply, DPUMAP_MSG_ADDRESS, endpoint->address);
	dpumap_msg_set_number(c->reply, DPUMAP_MSG_PORT, endpoint->port);
	dpumap_msg_set_bytes(c->reply, DPUMAP_MSG_TICKET, ticket, DPUMAP_TICKET_LEN);
	return DOCA_SUCCESS;
}

static void report_connected(const struct session *session, const struct named_export *export,
			     const struct rdma_details *answer, struct dpumap_msg *reply)
{
	dpumap_msg_set_bytes(reply, DPUMAP_MSG_DETAILS, answer->data, answer->len);
	session_log(session, DPUMAP_LINE_INFO, "connects to export %s",
		    export_get_spec(export)->name);
}

static doca_error_t connect_to(struct context *c)
{
	struct named_export *export = find_held(c);
	struct rdma_details details = {c->request->value[DPUMAP_MSG_DETAILS].data,
				       c->request->value[DPUMAP_MSG_DETAILS].len};
	struct rdma_details answer;
	struct cm_listener *cm;
	doca_error_t result;

	if (!export)
		return c->error->code;
	if (details.len == 0)
		return offer_address(c, export);
	if (session_add_rdma_conn(c->session, export_id(export), c->error) != DOCA_SUCCESS)
		return c->error->code;
	cm = by_address_listener(c->session->by_address);
	result = export_connect(export, c->session, &details, cm, &answer, c->error);
	if (result == DOCA_ERROR_AGAIN) {
		c->session->job.sleeps = true;
		return start_job(c, SESSION_CONNECTS, export_id(export));
	}
	if (result == DOCA_SUCCESS)
		report_connected(c->session, export, &answer, c->reply);
	else
		session_remove_rdma_conn(c->session, export_id(export));
	return result;
}

static doca_error_t pass_dmabuf(struct context *c)
{
	struct named_export *export = find_held(c);
	doca_error_t result;

	if (!export)
		return c->error->code;
	if (!c->session->conn || c->session->peer.kind != DPUMAP_ADDRESS_UNIX)
		return dpumap_error_set(c->error, DOCA_ERROR_NOT_SUPPORTED,
					"export %s: a dma-buf stays on this machine: connect to a "
					"Unix socket of dpumapd",
					c->name);
	result = export_table_share(c->exports, export, &c->passes, c->error);
	if (result == DOCA_SUCCESS)
		session_log(c->session, DPUMAP_LINE_INFO, "gets a dma-buf of export %s", c->name);
	return result;
}

/* False if no server can be there. */
static bool read_place(const struct dpumap_msg *request, struct dpumap_comch_place *place)
{
	const uint8_t *name = request->value[DPUMAP_MSG_SERVER].data;
	size_t len = request->value[DPUMAP_MSG_SERVER].len;
	uint64_t function = request->value[DPUMAP_MSG_FUNCTION].number;

	if (len == 0 || len >= sizeof(place->name) || memchr(name, '\0', len) ||
	    function > UINT16_MAX)
		return false;
	*place = (struct dpumap_comch_place){.card = request->value[DPUMAP_MSG_CARD].number,
					     .function = (uint16_t)function};
	memcpy(place->name, name, len);
	return true;
}

/* The client asks until its server is there: the log has the first refusal. */
static doca_error_t begin_introduction(struct context *c)
{
	struct session *s = c->session;
	struct dpumap_comch_place place;
	const uint8_t *key;

	if (!read_place(c->request, &place))
		return dpumap_error_set(
			c->error, DOCA_ERROR_INVALID_VALUE,
			"the name of a server must have 1 to %d bytes, without NUL, "
			"and a function 16 bits",
			DPUMAP_COMCH_NAME_SIZE - 1);
	if (!s->conn || s->peer.kind != DPUMAP_ADDRESS_TLS)
		return dpumap_error_set(c->error, DOCA_ERROR_NOT_SUPPORTED,
					"clients on this machine reach servers of doca_comch "
					"without dpumapd");
	if (s->held.num > 0 || s->watching)
		return dpumap_error_set(c->error, DOCA_ERROR_BAD_STATE,
					"the client holds or watches exports");
	if (introduction_begin(s->rules, s->identity, &place, &s->introduction, &key, &c->note,
			       c->error) != DOCA_SUCCESS) {
		c->is_expected = c->error->code == DOCA_ERROR_NOT_FOUND && s->was_absent;
		s->was_absent = c->error->code == DOCA_ERROR_NOT_FOUND;
		/* The caller knows AGAIN as a late reply; to the client both mean "later". */
		if (c->error->code == DOCA_ERROR_AGAIN)
			c->error->code = DOCA_ERROR_NOT_FOUND;
		return c->error->code;
	}
	dpumap_msg_set_bytes(c->reply, DPUMAP_MSG_KEY, key, DPUMAP_COMCH_KEY_LEN);
	c->stats->introductions++;
	return DOCA_SUCCESS;
}

static doca_error_t watch(struct context *c)
{
	c->session->watching = true;
	return DOCA_SUCCESS;
}

static doca_error_t answer_ping(struct context *c)
{
	(void)c;
	return DOCA_SUCCESS;
}

/* Those of version 1 of the protocol name no hash. */
static doca_error_t wanted_hash(struct context *c, enum dpumap_hash *hash)
{
	char name[DPUMAP_HASH_NAME_MAX + 1];

	*hash = DPUMAP_SHA256;
	if (!dpumap_msg_has(c->request, DPUMAP_MSG_HASH))
		return DOCA_SUCCESS;
	dpumap_msg_get_text(c->request, DPUMAP_MSG_HASH, name, sizeof(name));
	if (dpumap_hash_find(name, hash))
		return DOCA_SUCCESS;
	return dpumap_error_set(c->error, DOCA_ERROR_NOT_SUPPORTED, "there is no hash \"%s\"",
				name);
}

static doca_error_t start_digest(struct context *c)
{
	struct digest *digests = c->session->digests;
	struct named_export *export = find_held(c);
	enum dpumap_hash hash;
	doca_error_t result;

	if (!export || wanted_hash(c, &hash) != DOCA_SUCCESS)
		return c->error->code;
	for (uint64_t i = 0; i < SESSION_DIGESTS; i++) {
		if (digests[i].hasher)
			continue;
		result = dpumap_hasher_create(hash, &digests[i].hasher, c->error);
		if (result != DOCA_SUCCESS)
			return result;
		digests[i].export = export_id(export);
		dpumap_msg_set_number(c->reply, DPUMAP_MSG_DIGEST, i);
		return DOCA_SUCCESS;
	}
	return dpumap_error_set(c->error, DOCA_ERROR_FULL,
				"the client already has %u digests running", SESSION_DIGESTS);
}

/* NULL with the reason: the export may have changed or ended since the digest began. */
static struct named_export *export_of(struct export_table *exports, const struct digest *digest,
				      struct dpumap_error *error)
{
	struct named_export *export = export_table_find_id(exports, digest->export);

	if (!export)
		dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
				 "the export changed or ended while it was read");
	return export;
}

/* NULL with the reason when the request's handle is invalid. */
static struct digest *find_digest(struct context *c)
{
	uint64_t handle = c->request->value[DPUMAP_MSG_DIGEST].number;

	if (handle < SESSION_DIGESTS && c->session->digests[handle].hasher)
		return &c->session->digests[handle];
	dpumap_error_set(c->error, DOCA_ERROR_NOT_FOUND, "there is no digest %" PRIu64, handle);
	return NULL;
}

static doca_error_t update_digest(struct context *c)
{
	uint64_t offset = c->request->value[DPUMAP_MSG_OFFSET].number;
	uint64_t length = c->request->value[DPUMAP_MSG_LENGTH].number;
	struct digest *digest = find_digest(c);
	struct session *s = c->session;
	struct named_export *export;

	if (!digest)
		return c->error->code;
	export = export_of(c->exports, digest, c->error);
	if (!export || export_check_range(export, offset, length, c->error) != DOCA_SUCCESS)
		return c->error->code;
	s->job.digest = digest;
	s->job.offset = offset;
	s->job.left = length;
	return start_job(c, SESSION_HASHES, export_id(export));
}

static doca_error_t finish_digest(struct context *c)
{
	struct digest *digest = find_digest(c);
	doca_error_t result;

	if (!digest)
		return c->error->code;
	result = dpumap_hasher_final(digest->hasher, &c->digest, c->error);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_hasher_destroy(digest->hasher);
	digest->hasher = NULL;
	dpumap_msg_set_digest(c->reply, &c->digest);
	return DOCA_SUCCESS;
}

static doca_error_t get_device(struct context *c)
{
	struct export_table_dm_usage usage;
	doca_error_t result = export_table_dm_usage(c->exports, &usage, c->error);

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_msg_set_text(c->reply, DPUMAP_MSG_DEVICE, export_table_device_name(c->exports));
	dpumap_msg_set_number(c->reply, DPUMAP_MSG_DM_TOTAL, usage.total);
	dpumap_msg_set_number(c->reply, DPUMAP_MSG_DM_EXPORTED, usage.exported);
	return DOCA_SUCCESS;
}

/* The handler of each operation, and its required and optional fields besides id and op. */
static const struct {
	handler *answer;
	uint32_t required;
	uint32_t optional;
} operations[DPUMAP_OPS] = {
	[DPUMAP_OP_HELLO] = {handle_hello, FIELD(VERSION), 0},
	[DPUMAP_OP_LIST] = {list, 0, FIELD(AFTER)},
	[DPUMAP_OP_GET] = {get, FIELD(NAME), 0},
	[DPUMAP_OP_RELEASE] = {release, FIELD(NAME), 0},
	[DPUMAP_OP_DIGEST_START] = {start_digest, FIELD(NAME), FIELD(HASH)},
	[DPUMAP_OP_DIGEST_UPDATE] = {update_digest, FIELD(DIGEST) | FIELD(OFFSET) | FIELD(LENGTH),
				     0},
	[DPUMAP_OP_DIGEST_FINAL] = {finish_digest, FIELD(DIGEST), 0},
	[DPUMAP_OP_DEVICE] = {get_device, 0, 0},
	[DPUMAP_OP_WATCH] = {watch, 0, 0},
	[DPUMAP_OP_PING] = {answer_ping, 0, 0},
	[DPUMAP_OP_CONNECT] = {connect_to, FIELD(NAME) | FIELD(DETAILS), 0},
	[DPUMAP_OP_DMABUF] = {pass_dmabuf, FIELD(NAME), 0},
	[DPUMAP_OP_COMCH] = {begin_introduction, FIELD(CARD) | FIELD(FUNCTION) | FIELD(SERVER), 0},
};

/* The client violates the protocol: what follows may not even be frames. */
static doca_error_t malformed(struct context *c, doca_error_t code, const char *why)
{
	c->session->closing = true;
	return dpumap_error_set(c->error, code, "malformed request: %s", why);
}

static doca_error_t dispatch(struct context *c)
{
	uint32_t fields = c->request->present & ~(FIELD(ID) | FIELD(OP));
	enum dpumap_op op;

	if (!dpumap_msg_has(c->request, DPUMAP_MSG_ID))
		return malformed(c, DOCA_ERROR_INVALID_VALUE, "it has no id");
	if (!dpumap_op_find(c->request, &op))
		return malformed(c, DOCA_ERROR_INVALID_VALUE, "unknown operation");
	if ((op == DPUMAP_OP_HELLO) == c->session->hello_done)
		return malformed(c, DOCA_ERROR_BAD_STATE,
				 "hello must be the first request, and only the first");
	if ((fields & operations[op].required) != operations[op].required)
		return malformed(c, DOCA_ERROR_INVALID_VALUE, "a required field is missing");
	if (fields & ~(operations[op].required | operations[op].optional))
		return malformed(c, DOCA_ERROR_INVALID_VALUE,
				 "a field does not belong to the operation");
	return operations[op].answer(c);
}

static void reply_error(struct session *session, uint64_t id, const struct dpumap_error *why)
{
	struct dpumap_error error = {0};
	struct dpumap_msg reply;

	dpumap_msg_init(&reply);
	dpumap_msg_set_number(&reply, DPUMAP_MSG_ID, id);
	dpumap_msg_set_number(&reply, DPUMAP_MSG_STATUS, why->code);
	dpumap_msg_set_text(&reply, DPUMAP_MSG_ERROR, why->text);
	if (session_put(session, &reply, &error) != DOCA_SUCCESS)
		session->closing = true;
}

static void refuse(struct session *session, uint64_t id, const struct dpumap_error *why,
		   const char *note)
{
	if (note)
		session_log(session, DPUMAP_LINE_WARNING, "refused: %s%s", why->text, note);
	reply_error(session, id, why);
}

static void count_request(struct session *session, struct requests_stats *stats)
{
	stats->answered++;
	session->done.requests++;
}

static void count_error(struct session *session, struct requests_stats *stats)
{
	stats->errors++;
	session->done.errors++;
}

void requests_refuse(struct session *session, struct requests_stats *stats,
		     const struct dpumap_error *error)
{
	count_request(session, stats);
	count_error(session, stats);
	refuse(session, 0, error, "");
}

void requests_reject(struct session *session, const struct dpumap_error *error)
{
	session->closing = true;
	refuse(session, 0, error, "");
}

void requests_answer(struct session *session, struct export_table *exports,
		     struct requests_stats *stats, const struct dpumap_msg *request)
{
	struct dpumap_error error = {0};
	struct dpumap_msg reply;
	struct context c = {.session = session,
			    .exports = exports,
			    .stats = stats,
			    .request = request,
			    .reply = &reply,
			    .error = &error,
			    .note = "",
			    .passes = -1};
	doca_error_t result;

	count_request(session, stats);
	dpumap_msg_init(&reply);
	result = dispatch(&c);
	if (result == DOCA_ERROR_AGAIN)
		return;
	if (result == DOCA_SUCCESS) {
		dpumap_msg_set_number(&reply, DPUMAP_MSG_ID, request->value[DPUMAP_MSG_ID].number);
		dpumap_msg_set_number(&reply, DPUMAP_MSG_STATUS, DOCA_SUCCESS);
		result = session_put(session, &reply, &error);
	}
	if (c.passes >= 0 && result == DOCA_SUCCESS)
		dpumap_conn_pass_fd(session->conn, c.passes);
	else if (c.passes >= 0)
		close(c.passes);
	if (result != DOCA_SUCCESS) {
		count_error(session, stats);
		refuse(session,
		       dpumap_msg_has(request, DPUMAP_MSG_ID) ? request->value[DPUMAP_MSG_ID].number
							      : 0,
		       &error, c.is_expected ? NULL : c.note);
	}
}

void requests_answer_frame(struct session *session, struct export_table *exports,
			   struct requests_stats *stats, const uint8_t *payload, size_t len)
{
	struct dpumap_error error = {0};
	struct dpumap_msg request;

	if (dpumap_msg_decode(payload, len, &request, &error) == DOCA_SUCCESS) {
		requests_answer(session, exports, stats, &request);
		return;
	}
	count_request(session, stats);
	count_error(session, stats);
	requests_reject(session, &error);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static doca_error_t has_moved(struct session *session, size_t len, doca_error_t result)
{
	session->job.offset += len;
	session->job.left -= len;
	return result == DOCA_SUCCESS && session->job.left > 0 ? DOCA_ERROR_AGAIN : result;
}

static doca_error_t hash_piece(const struct piece *p)
{
	struct session *session = p->session;
	struct digest *digest = session->job.digest;
	size_t len =
		session->job.left < MEMORY_READ_MAX ? (size_t)session->job.left : MEMORY_READ_MAX;
	struct named_export *export;
	const void *data;
	doca_error_t result;

	if (len == 0)
		return DOCA_SUCCESS;
	export = export_of(p->exports, digest, p->error);
	if (!export)
		return p->error->code;
	result = export_read(export, session->job.offset, len, &data, p->error);
	if (result == DOCA_SUCCESS)
		result = dpumap_hasher_update(digest->hasher, data, len, p->error);
	if (result == DOCA_SUCCESS) {
		p->stats->hashed_bytes += len;
		session->done.hashed_bytes += len;
	}
	return has_moved(session, len, result);
}

static doca_error_t get_piece(const struct piece *p)
{
	struct session *session = p->session;
	struct named_export *export = export_table_find_id(p->exports, session->job.export);
	doca_error_t result;

	if (!export)
		return dpumap_error_set(p->error, DOCA_ERROR_NOT_FOUND,
					"the export changed or ended while it was registered");
	result = give(p, export, true);
	session->job.sleeps = result == DOCA_ERROR_AGAIN;
	return result;
}

static doca_error_t sync_piece(const struct piece *p)
{
	return file_sync_result(p->session->job.sync, p->error);
}

static doca_error_t list_piece(const struct piece *p)
{
	struct session *session = p->session;
	doca_error_t result = list_some(session, p->exports, session->job.after, session->job.list);

	if (result == DOCA_SUCCESS)
		*p->reply = *session->job.list;
	return result;
}

static doca_error_t connect_piece(const struct piece *p)
{
	struct session *session = p->session;
	uint64_t id = session->job.export;
	struct named_export *export = export_table_find_id(p->exports, id);
	struct rdma_details answer;
	doca_error_t result;

	if (!export)
		return dpumap_error_set(p->error, DOCA_ERROR_NOT_FOUND,
					"the export changed or ended while the client connected to "
					"it");
	result = export_finish_connecting(export, session, &answer, p->error);
	if (result == DOCA_SUCCESS)
		report_connected(session, export, &answer, p->reply);
	else
		session_remove_rdma_conn(session, id);
	return result;
}

static doca_error_t work(const struct piece *p)
{
	switch (p->session->job.kind) {
	case SESSION_GETS:
		return get_piece(p);
	case SESSION_HASHES:
		return hash_piece(p);
	case SESSION_SYNCS:
		return sync_piece(p);
	case SESSION_LISTS:
		return list_piece(p);
	default:
		return connect_piece(p);
	}
}

static void end_job(struct session *session)
{
	session->job.active = false;
	session->job.sleeps = false;
	session->job.export = 0;
	file_sync_end(session->job.sync);
	session->job.sync = NULL;
	free(session->job.list);
	session->job.list = NULL;
}

void requests_work(struct session *session, struct export_table *exports,
		   struct requests_stats *stats)
{
	struct dpumap_error error = {0};
	struct dpumap_msg reply;
	const struct piece p = {session, exports, stats, &reply, &error};
	doca_error_t result;

	dpumap_msg_init(&reply);
	result = work(&p);
	if (result == DOCA_ERROR_AGAIN)
		return;
	if (result == DOCA_SUCCESS) {
		dpumap_msg_set_number(&reply, DPUMAP_MSG_ID, session->job.id);
		dpumap_msg_set_number(&reply, DPUMAP_MSG_STATUS, DOCA_SUCCESS);
		result = session_put(session, &reply, &error);
	}
	end_job(session);
	if (result != DOCA_SUCCESS) {
		count_error(session, stats);
		refuse(session, session->job.id, &error, "");
	}
}
