/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections by address (src/device/cm). Server and client have a manager each, in this process
 * on the same device, or the server is a process on another card.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "core/dev/dev.h"
#include "device/cm/address.h"
#include "device/cm/cm.h"
#include "device/cm/event.h"
#include "device/cm/own.h"
#include "device/device_priv.h"
#include "faults.h"
#include "fixture.h"
#include "rc.h"

#define OWN_IP	 "127.100.0.1" /* of the DPU's function of card 0 */
#define OTHER_IP "127.100.1.1" /* of card 1 */
#define IPV4_GID 3
#define BACKLOG	 8
#define MANY	 40

static struct doca_dev *dev;
static struct dpumap_cm *server, *client;
static struct rc server_rc, client_rc;
static struct dpumap_cm_event server_event, client_event;
static bool server_waits, client_waits;

static int open_side(struct dpumap_cm **cm, struct rc *rc)
{
	return dpumap_cm_create(dev->device, cm) != DOCA_SUCCESS || !rc_open(rc, dev->device->pd);
}

static int open_all(void **state)
{
	server_waits = false;
	client_waits = false;
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	return open_side(&server, &server_rc) || open_side(&client, &client_rc) ? -1 : 0;
}

static int close_all(void **state)
{
	dpumap_cm_destroy(server);
	dpumap_cm_destroy(client);
	if (!rc_close(&server_rc) || !rc_close(&client_rc) || doca_dev_close(dev) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}
#define cm_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

/* librdmacm keeps a device open after its first use. */
static int use_once(void **state)
{
	struct dpumap_cm_id *id;
	bool done;

	if (fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	done = dpumap_cm_create(dev->device, &server) == DOCA_SUCCESS &&
	       dpumap_cm_listen(server, NULL, DPUMAP_GID_ANY, 0, 1, &id) == DOCA_SUCCESS;
	if (done)
		dpumap_cm_id_destroy(id);
	dpumap_cm_destroy(server);
	return done && doca_dev_close(dev) == DOCA_SUCCESS ? 0 : -1;
}

static struct sockaddr_storage address(const char *text, uint16_t port)
{
	enum dpumap_cm_family family = strchr(text, ':') ? DPUMAP_CM_IPV6 : DPUMAP_CM_IPV4;
	struct sockaddr_storage parsed;

	assert_ok(dpumap_cm_address_parse(family, text, port, &parsed));
	return parsed;
}

static struct dpumap_cm_end end_of(const struct rc *rc, const void *data, uint8_t len)
{
	struct dpumap_cm_end end = dpumap_cm_end_default();

	end.qp = rc->qp;
	end.access = RC_ALL;
	end.data = data;
	end.data_len = len;
	return end;
}

/* Poll one manager; its event waits until a test wants it. */
static void progress(struct dpumap_cm *cm, struct dpumap_cm_event *event, bool *waits)
{
	doca_error_t result;

	if (*waits)
		return;
	result = dpumap_cm_poll(cm, event);
	*waits = result == DOCA_SUCCESS;
	if (!*waits)
		assert_error(result, DOCA_ERROR_AGAIN);
}

static void progress_both(void)
{
	struct pollfd fds[2] = {{.fd = dpumap_cm_fd(server), .events = POLLIN},
				{.fd = dpumap_cm_fd(client), .events = POLLIN}};

	poll(fds, 2, 10);
	progress(server, &server_event, &server_waits);
	progress(client, &client_event, &client_waits);
}

static const struct dpumap_cm_event *await(struct dpumap_cm *cm, enum dpumap_cm_event_type type)
{
	struct dpumap_cm_event *event = cm == server ? &server_event : &client_event;
	bool *waits = cm == server ? &server_waits : &client_waits;
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (!*waits) {
		assert_true(monotonic_ms() < deadline);
		progress_both();
	}
	*waits = false;
	assert_int_equal(event->type, type);
	return event;
}

static struct dpumap_cm_id *listen_at(const char *ip, uint16_t *port)
{
	struct sockaddr_storage at = address(ip, 0);
	struct dpumap_cm_id *listener;

	assert_ok(dpumap_cm_listen(server, &at, DPUMAP_GID_ANY, 0, BACKLOG, &listener));
	*port = dpumap_cm_id_port(listener);
	assert_int_not_equal(*port, 0);
	return listener;
}

static struct dpumap_cm_id *connect_to(const char *ip, uint16_t port, const void *data, uint8_t len)
{
	struct dpumap_cm_end end = end_of(&client_rc, data, len);
	struct sockaddr_storage to = address(ip, port);
	struct dpumap_cm_id *id;

	assert_ok(dpumap_cm_connect(client, &to, DPUMAP_GID_ANY, &end, &id));
	return id;
}

struct pair {
	struct dpumap_cm_id *listener, *active, *passive;
};

static void request_pair(struct pair *pair)
{
	uint16_t port;

	pair->listener = listen_at(OWN_IP, &port);
	pair->active = connect_to(OWN_IP, port, "hello", 5);
	pair->passive = await(server, DPUMAP_CM_REQUEST)->id;
}

static void connect_pair(struct pair *pair)
{
	struct dpumap_cm_end end = end_of(&server_rc, "welcome", 7);

	request_pair(pair);
	assert_ok(dpumap_cm_accept(pair->passive, &end));
	assert_ptr_equal(await(client, DPUMAP_CM_ESTABLISHED)->id, pair->active);
	assert_ptr_equal(await(server, DPUMAP_CM_ESTABLISHED)->id, pair->passive);
}

static void destroy_pair(struct pair *pair)
{
	dpumap_cm_id_destroy(pair->active);
	dpumap_cm_id_destroy(pair->passive);
	dpumap_cm_id_destroy(pair->listener);
}

static bool reset(struct rc *rc)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return !ibv_modify_qp(rc->qp, &attr, IBV_QP_STATE);
}

static enum ibv_qp_state state_of(struct rc *rc)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_query_qp(rc->qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static void assert_write(struct rc *from, struct rc *to)
{
	fixture_fill(from->bytes, RC_BYTES, monotonic_ms() % 1000);
	assert_int_equal(rc_write(from, to->mr->rkey, (uintptr_t)to->bytes, RC_BYTES),
			 IBV_WC_SUCCESS);
	assert_memory_equal(from->bytes, to->bytes, RC_BYTES);
}

/* --- addresses -------------------------------------------------------------------------------- */

static void address_texts_are_parsed(void **state)
{
	static const struct {
		enum dpumap_cm_family family;
		const char *text, *printed;
	} good[] = {
		{DPUMAP_CM_IPV4, "192.0.2.1", "192.0.2.1:13579"},
		{DPUMAP_CM_IPV6, "2001:db8::1", "[2001:db8::1]:13579"},
		{DPUMAP_CM_IPV6, "fe80::1%lo", "[fe80::1%lo]:13579"},
		{DPUMAP_CM_GID, "0000:0000:0000:0000:0000:ffff:c000:0201", "192.0.2.1:13579"},
		{DPUMAP_CM_GID, "fe80:0000:0000:0000:0000:0000:0000:0001", "[fe80::1]:13579"},
	};
	static const struct {
		enum dpumap_cm_family family;
		const char *text;
	} bad[] = {
		{DPUMAP_CM_IPV4, ""},
		{DPUMAP_CM_IPV4, "192.0.2.256"},
		{DPUMAP_CM_IPV4, "localhost"},
		{DPUMAP_CM_IPV4, "::1"},
		{DPUMAP_CM_IPV6, "192.0.2.1"},
		{DPUMAP_CM_IPV6, "2001:db8::1::"},
		{DPUMAP_CM_IPV6, "fe80::1%nowhere"},
		{DPUMAP_CM_GID, "192.0.2.1"},
	};
	struct sockaddr_storage parsed;
	char text[DPUMAP_CM_ADDRESS_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_ok(dpumap_cm_address_parse(good[i].family, good[i].text, 13579, &parsed));
		dpumap_cm_address_print(&parsed, text);
		assert_string_equal(text, good[i].printed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_error(dpumap_cm_address_parse(bad[i].family, bad[i].text, 1, &parsed),
			     DOCA_ERROR_INVALID_VALUE);
}

static void source_is_of_the_family_of_the_peer(void **state)
{
	struct sockaddr_storage addresses[] = {address("fe80::1%lo", 0), address("192.0.2.1", 0),
					       address("2001:db8::1", 0)};
	const struct dpumap_cm_own own = {.addresses = addresses, .num_addresses = 3};
	const struct dpumap_cm_own old = {.addresses = addresses, .num_addresses = 2};
	const struct sockaddr_storage near = address("fe80::2%lo", 1),
				      four = address("192.0.2.2", 1),
				      six = address("2001:db8::2", 1);
	const struct dpumap_cm_own six_only = {.addresses = &addresses[2], .num_addresses = 1};

	assert_ptr_equal(dpumap_cm_own_find(&own, &near), &addresses[0]);
	assert_ptr_equal(dpumap_cm_own_find(&own, &four), &addresses[1]);
	assert_ptr_equal(dpumap_cm_own_find(&own, &six), &addresses[2]);
	assert_ptr_equal(dpumap_cm_own_find(&old, &six), &addresses[0]);
	assert_null(dpumap_cm_own_find(&six_only, &four));
}

/* --- connections ------------------------------------------------------------------------------ */

static void connected_queue_pairs_move_data_both_ways(void **state)
{
	struct pair pair;

	connect_pair(&pair);
	assert_int_equal(state_of(&client_rc), IBV_QPS_RTS);
	assert_int_equal(state_of(&server_rc), IBV_QPS_RTS);
	assert_write(&client_rc, &server_rc);
	assert_write(&server_rc, &client_rc);
	assert_int_equal(rc_read(&client_rc, server_rc.mr->rkey, (uintptr_t)server_rc.bytes, 8),
			 IBV_WC_SUCCESS);
	destroy_pair(&pair);
}

static void private_data_arrives_in_full_length(void **state)
{
	uint8_t asked[DPUMAP_CM_REQUEST_DATA] = {0}, answered[DPUMAP_CM_ACCEPT_DATA] = {0};
	struct dpumap_cm_end end = end_of(&server_rc, answered, sizeof(answered));
	const struct dpumap_cm_event *event;
	struct pair pair;
	uint16_t port;

	fixture_fill(asked, sizeof(asked), 1);
	fixture_fill(answered, sizeof(answered), 2);
	pair.listener = listen_at(OWN_IP, &port);
	dpumap_cm_id_set_user(pair.listener, &port);
	pair.active = connect_to(OWN_IP, port, asked, sizeof(asked));
	event = await(server, DPUMAP_CM_REQUEST);
	assert_ptr_equal(event->listener, pair.listener);
	assert_ptr_equal(dpumap_cm_id_user(event->id), &port);
	assert_int_equal(event->data_len, sizeof(asked));
	assert_memory_equal(event->data, asked, sizeof(asked));
	pair.passive = event->id;
	assert_ok(dpumap_cm_accept(pair.passive, &end));
	event = await(client, DPUMAP_CM_ESTABLISHED);
	assert_int_equal(event->data_len, sizeof(answered));
	assert_memory_equal(event->data, answered, sizeof(answered));
	await(server, DPUMAP_CM_ESTABLISHED);
	destroy_pair(&pair);
}

static void too_much_private_data_is_refused(void **state)
{
	uint8_t data[255] = {0};
	struct dpumap_cm_end end = end_of(&client_rc, data, DPUMAP_CM_REQUEST_DATA + 1);
	struct sockaddr_storage to = address(OWN_IP, 1);
	struct dpumap_cm_id *id;
	struct pair pair;

	assert_error(dpumap_cm_connect(client, &to, DPUMAP_GID_ANY, &end, &id),
		     DOCA_ERROR_INVALID_VALUE);
	request_pair(&pair);
	end = end_of(&server_rc, data, DPUMAP_CM_ACCEPT_DATA + 1);
	assert_error(dpumap_cm_accept(pair.passive, &end), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_cm_reject(pair.passive, data, DPUMAP_CM_REJECT_DATA + 1),
		     DOCA_ERROR_INVALID_VALUE);
	destroy_pair(&pair);
}

static void peer_and_port_of_a_connection_are_known(void **state)
{
	char text[DPUMAP_CM_ADDRESS_TEXT], wanted[DPUMAP_CM_ADDRESS_TEXT];
	struct sockaddr_storage peer;
	struct pair pair;

	connect_pair(&pair);
	assert_int_equal(dpumap_cm_id_port(pair.passive), dpumap_cm_id_port(pair.listener));
	dpumap_cm_id_peer(pair.passive, &peer);
	dpumap_cm_address_print(&peer, text);
	snprintf(wanted, sizeof(wanted), "%s:%u", OWN_IP, dpumap_cm_id_port(pair.active));
	assert_string_equal(text, wanted);
	destroy_pair(&pair);
}

static void many_connections_outlive_their_listener(void **state)
{
	static struct rc ends[2 * MANY];
	static struct pair pairs[MANY];
	struct dpumap_cm_id *listener;
	uint16_t port;

	listener = listen_at(OWN_IP, &port);
	for (size_t i = 0; i < MANY; i++) {
		struct sockaddr_storage to = address(OWN_IP, port);
		struct dpumap_cm_end end;

		assert_true(rc_open(&ends[2 * i], dev->device->pd));
		assert_true(rc_open(&ends[2 * i + 1], dev->device->pd));
		end = end_of(&ends[2 * i], NULL, 0);
		assert_ok(dpumap_cm_connect(client, &to, DPUMAP_GID_ANY, &end, &pairs[i].active));
		pairs[i].passive = await(server, DPUMAP_CM_REQUEST)->id;
		end = end_of(&ends[2 * i + 1], NULL, 0);
		assert_ok(dpumap_cm_accept(pairs[i].passive, &end));
		await(client, DPUMAP_CM_ESTABLISHED);
		await(server, DPUMAP_CM_ESTABLISHED);
	}
	/* Connections stay when their listener is gone. */
	dpumap_cm_id_destroy(listener);
	for (size_t i = 0; i < MANY; i++) {
		assert_write(&ends[2 * i], &ends[2 * i + 1]);
		dpumap_cm_id_destroy(pairs[i].active);
		assert_ptr_equal(await(server, DPUMAP_CM_DISCONNECTED)->id, pairs[i].passive);
		dpumap_cm_id_destroy(pairs[i].passive);
		assert_true(rc_close(&ends[2 * i]) && rc_close(&ends[2 * i + 1]));
	}
}

static void access_of_an_end_limits_its_peer(void **state)
{
	struct dpumap_cm_end end = end_of(&server_rc, NULL, 0);
	struct pair pair;

	end.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	request_pair(&pair);
	assert_ok(dpumap_cm_accept(pair.passive, &end));
	await(client, DPUMAP_CM_ESTABLISHED);
	await(server, DPUMAP_CM_ESTABLISHED);
	assert_int_equal(rc_read(&client_rc, server_rc.mr->rkey, (uintptr_t)server_rc.bytes, 8),
			 IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&client_rc, server_rc.mr->rkey, (uintptr_t)server_rc.bytes, 8),
			 IBV_WC_REM_INV_REQ_ERR);
	destroy_pair(&pair);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void reject_returns_reason_and_data(void **state)
{
	const struct dpumap_cm_event *event;
	struct pair pair;

	request_pair(&pair);
	assert_ok(dpumap_cm_reject(pair.passive, "no", 2));
	event = await(client, DPUMAP_CM_REJECTED);
	assert_int_equal(event->reason, DPUMAP_CM_REJECTED_BY_PEER);
	assert_error(event->error, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(event->data_len, DPUMAP_CM_REJECT_DATA);
	assert_memory_equal(event->data, "no", 3);
	assert_int_equal(state_of(&client_rc), IBV_QPS_RESET);
	assert_error(dpumap_cm_reject(pair.passive, NULL, 0), DOCA_ERROR_CONNECTION_ABORTED);
	destroy_pair(&pair);
}

static void destroyed_request_is_rejected(void **state)
{
	struct pair pair;

	request_pair(&pair);
	dpumap_cm_id_destroy(pair.passive);
	pair.passive = NULL;
	assert_error(await(client, DPUMAP_CM_REJECTED)->error, DOCA_ERROR_CONNECTION_ABORTED);
	destroy_pair(&pair);
}

static void request_whose_client_is_gone_cannot_be_accepted(void **state)
{
	struct dpumap_cm_end end = end_of(&server_rc, NULL, 0);
	struct pair pair;
	doca_error_t result;

	request_pair(&pair);
	dpumap_cm_id_destroy(pair.active);
	pair.active = NULL;
	result = dpumap_cm_accept(pair.passive, &end);
	if (result == DOCA_SUCCESS) /* the news had not arrived */
		await(server, DPUMAP_CM_REJECTED);
	destroy_pair(&pair);
}

static void nobody_listens_is_reported(void **state)
{
	const struct dpumap_cm_event *event;
	struct dpumap_cm_id *id, *listener;
	uint16_t port;

	listener = listen_at(OWN_IP, &port);
	dpumap_cm_id_destroy(listener);
	id = connect_to(OWN_IP, port, NULL, 0);
	event = await(client, DPUMAP_CM_REJECTED);
	assert_ptr_equal(event->id, id);
	assert_error(event->error, DOCA_ERROR_NOT_CONNECTED);
	dpumap_cm_id_destroy(id);
}

static void address_of_nobody_fails(void **state)
{
	struct dpumap_cm_end end = end_of(&client_rc, NULL, 0);
	struct sockaddr_storage to = address("192.0.2.77", 1);
	struct dpumap_cm_id *id;

	if (dpumap_cm_connect(client, &to, DPUMAP_GID_ANY, &end, &id) != DOCA_SUCCESS)
		return;
	assert_error(await(client, DPUMAP_CM_FAILED)->error, DOCA_ERROR_NOT_CONNECTED);
	dpumap_cm_id_destroy(id);
}

static void disconnect_ends_both(struct dpumap_cm_id *by, struct rc *by_rc, struct dpumap_cm *near,
				 struct dpumap_cm_id *other, struct rc *other_rc,
				 struct dpumap_cm *far)
{
	assert_ok(dpumap_cm_disconnect(by));
	assert_int_equal(state_of(by_rc), IBV_QPS_ERR);
	assert_ptr_equal(await(far, DPUMAP_CM_DISCONNECTED)->id, other);
	assert_int_equal(state_of(other_rc), IBV_QPS_ERR);
	assert_ptr_equal(await(near, DPUMAP_CM_DISCONNECTED)->id, by);
	assert_ok(dpumap_cm_disconnect(by));
	assert_ok(dpumap_cm_disconnect(other));
}

static void client_disconnects(void **state)
{
	struct pair pair;

	connect_pair(&pair);
	disconnect_ends_both(pair.active, &client_rc, client, pair.passive, &server_rc, server);
	destroy_pair(&pair);
}

static void server_disconnects(void **state)
{
	struct pair pair;

	connect_pair(&pair);
	disconnect_ends_both(pair.passive, &server_rc, server, pair.active, &client_rc, client);
	destroy_pair(&pair);
}

static void both_disconnect_at_once(void **state)
{
	struct pair pair;

	connect_pair(&pair);
	assert_ok(dpumap_cm_disconnect(pair.active));
	assert_ok(dpumap_cm_disconnect(pair.passive));
	await(client, DPUMAP_CM_DISCONNECTED);
	await(server, DPUMAP_CM_DISCONNECTED);
	destroy_pair(&pair);
}

/* It waits for the answer of the peer, which has not yet been read. */
static void disconnect_right_after_accept_ends_both(void **state)
{
	struct dpumap_cm_end end = end_of(&server_rc, NULL, 0);
	struct pair pair;

	request_pair(&pair);
	assert_ok(dpumap_cm_accept(pair.passive, &end));
	assert_ok(dpumap_cm_disconnect(pair.passive));
	await(client, DPUMAP_CM_ESTABLISHED);
	await(server, DPUMAP_CM_DISCONNECTED);
	await(client, DPUMAP_CM_DISCONNECTED);
	destroy_pair(&pair);
}

/* The server is gone before it has read that the connection is established. */
static void server_that_ends_after_accept_disconnects(void **state)
{
	struct dpumap_cm_end end = end_of(&server_rc, NULL, 0);
	struct pair pair;

	request_pair(&pair);
	assert_ok(dpumap_cm_accept(pair.passive, &end));
	dpumap_cm_id_destroy(pair.passive);
	pair.passive = NULL;
	while (!client_waits)
		progress_both();
	if (client_event.type == DPUMAP_CM_ESTABLISHED) {
		await(client, DPUMAP_CM_ESTABLISHED);
		await(client, DPUMAP_CM_DISCONNECTED);
		assert_int_equal(state_of(&client_rc), IBV_QPS_ERR);
	} else {
		assert_in_range(client_event.type, DPUMAP_CM_REJECTED, DPUMAP_CM_FAILED);
	}
	destroy_pair(&pair);
}

static void destroy_disconnects_the_peer(void **state)
{
	struct pair pair;

	connect_pair(&pair);
	dpumap_cm_id_destroy(pair.active);
	pair.active = NULL;
	assert_ptr_equal(await(server, DPUMAP_CM_DISCONNECTED)->id, pair.passive);
	destroy_pair(&pair);
}

static void disconnect_before_the_end_of_connecting_is_refused(void **state)
{
	struct pair pair;

	request_pair(&pair);
	assert_error(dpumap_cm_disconnect(pair.active), DOCA_ERROR_BAD_STATE);
	assert_error(dpumap_cm_disconnect(pair.passive), DOCA_ERROR_BAD_STATE);
	destroy_pair(&pair);
}

/* --- listeners -------------------------------------------------------------------------------- */

static void taken_port_is_reported(void **state)
{
	struct sockaddr_storage at = address(OWN_IP, 0);
	struct dpumap_cm_id *listener, *second;
	uint16_t port;

	listener = listen_at(OWN_IP, &port);
	assert_error(dpumap_cm_listen(client, &at, DPUMAP_GID_ANY, port, BACKLOG, &second),
		     DOCA_ERROR_IN_USE);
	assert_error(dpumap_cm_listen(client, NULL, DPUMAP_GID_ANY, port, BACKLOG, &second),
		     DOCA_ERROR_IN_USE);
	dpumap_cm_id_destroy(listener);
	assert_ok(dpumap_cm_listen(client, &at, DPUMAP_GID_ANY, port, BACKLOG, &second));
	dpumap_cm_id_destroy(second);
}

static void address_of_another_device_is_refused(void **state)
{
	/* The second one is the machine's, but no device has it. */
	static const char *const others[] = {OTHER_IP, "127.0.0.1"};
	struct dpumap_cm_id *listener;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct sockaddr_storage at = address(others[i], 0);

		assert_error(dpumap_cm_listen(server, &at, DPUMAP_GID_ANY, 0, BACKLOG, &listener),
			     DOCA_ERROR_NOT_FOUND);
	}
}

static void listen_without_address_takes_all_of_the_device(void **state)
{
	struct dpumap_cm_end end = end_of(&server_rc, NULL, 0);
	struct pair pair;

	assert_ok(dpumap_cm_listen(server, NULL, DPUMAP_GID_ANY, 0, BACKLOG, &pair.listener));
	pair.active = connect_to(OWN_IP, dpumap_cm_id_port(pair.listener), NULL, 0);
	pair.passive = await(server, DPUMAP_CM_REQUEST)->id;
	assert_ok(dpumap_cm_accept(pair.passive, &end));
	await(client, DPUMAP_CM_ESTABLISHED);
	await(server, DPUMAP_CM_ESTABLISHED);
	destroy_pair(&pair);
}

static void gid_index_chooses_the_address(void **state)
{
	struct dpumap_cm_end end = end_of(&client_rc, NULL, 0);
	struct sockaddr_storage to;
	struct dpumap_cm_id *listener, *id;

	assert_ok(dpumap_cm_listen(server, NULL, IPV4_GID, 0, BACKLOG, &listener));
	to = address(OWN_IP, dpumap_cm_id_port(listener));
	assert_ok(dpumap_cm_connect(client, &to, IPV4_GID, &end, &id));
	dpumap_cm_id_destroy(await(server, DPUMAP_CM_REQUEST)->id);
	await(client, DPUMAP_CM_REJECTED);
	dpumap_cm_id_destroy(id);
	/* The first GID is a link-local one. */
	assert_error(dpumap_cm_connect(client, &to, 0, &end, &id), DOCA_ERROR_NOT_CONNECTED);
	assert_error(dpumap_cm_connect(client, &to, 200, &end, &id), DOCA_ERROR_NOT_FOUND);
	assert_error(dpumap_cm_listen(server, NULL, 200, 0, BACKLOG, &id), DOCA_ERROR_NOT_FOUND);
	dpumap_cm_id_destroy(listener);
}

/* --- ids of the program ----------------------------------------------------------------------- */

static struct rdma_cm_event *next_of(struct rdma_event_channel *channel)
{
	struct pollfd fd = {.fd = channel->fd, .events = POLLIN};
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct rdma_cm_event *event;

	while (poll(&fd, 1, 0) < 1) {
		assert_true(monotonic_ms() < deadline);
		progress_both();
	}
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	return event;
}

static void request_of_the_program_is_adopted(void **state)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct dpumap_cm_end end = end_of(&server_rc, "mine", 4);
	struct sockaddr_storage at = address(OWN_IP, 0);
	struct dpumap_cm_id *passive, *active;
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener;

	assert_non_null(channel);
	assert_int_equal(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(listener, (struct sockaddr *)&at), 0);
	assert_int_equal(rdma_listen(listener, 1), 0);
	active = connect_to(OWN_IP, ntohs(rdma_get_src_port(listener)), NULL, 0);

	event = next_of(channel);
	assert_int_equal(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_ok(dpumap_cm_adopt(server, event->id, &passive));
	rdma_ack_cm_event(event);
	assert_ok(dpumap_cm_accept(passive, &end));
	assert_memory_equal(await(client, DPUMAP_CM_ESTABLISHED)->data, "mine", 4);
	event = next_of(channel);
	assert_int_equal(event->event, RDMA_CM_EVENT_ESTABLISHED);
	rdma_ack_cm_event(event);
	dpumap_cm_set_established(passive);
	assert_write(&client_rc, &server_rc);

	assert_ok(dpumap_cm_disconnect(passive));
	await(client, DPUMAP_CM_DISCONNECTED);
	dpumap_cm_id_destroy(passive);
	dpumap_cm_id_destroy(active);
	assert_int_equal(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Whatever fails, both sides end and can be destroyed. */
static void try_connection(struct dpumap_cm *passive_cm, struct dpumap_cm *active_cm)
{
	struct dpumap_cm_end theirs = end_of(&server_rc, NULL, 0),
			     ours = end_of(&client_rc, NULL, 0);
	struct sockaddr_storage at = address(OWN_IP, 0);
	struct dpumap_cm_id *listener = NULL, *active = NULL, *passive = NULL;
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct dpumap_cm_event event = {0};

	if (dpumap_cm_listen(passive_cm, NULL, DPUMAP_GID_ANY, 0, BACKLOG, &listener) !=
	    DOCA_SUCCESS)
		return;
	dpumap_cm_address_set_port(&at, dpumap_cm_id_port(listener));
	if (dpumap_cm_connect(active_cm, &at, DPUMAP_GID_ANY, &ours, &active) != DOCA_SUCCESS)
		goto destroy_listener;
	while (dpumap_cm_poll(active_cm, &event) != DOCA_SUCCESS) {
		assert_true(monotonic_ms() < deadline);
		if (dpumap_cm_poll(passive_cm, &event) != DOCA_SUCCESS ||
		    event.type != DPUMAP_CM_REQUEST)
			continue;
		passive = event.id;
		if (dpumap_cm_accept(passive, &theirs) == DOCA_SUCCESS)
			continue;
		dpumap_cm_id_destroy(passive);
		passive = NULL;
	}
	assert_ptr_equal(event.id, active);
	dpumap_cm_id_destroy(active);
	dpumap_cm_id_destroy(passive);
destroy_listener:
	dpumap_cm_id_destroy(listener);
}

static bool fail_once(enum fault_kind kind, unsigned int n)
{
	struct dpumap_cm *passive_cm = NULL, *active_cm = NULL;
	bool fired;

	fault_arm(kind, n, EIO);
	if (dpumap_cm_create(dev->device, &passive_cm) == DOCA_SUCCESS &&
	    dpumap_cm_create(dev->device, &active_cm) == DOCA_SUCCESS)
		try_connection(passive_cm, active_cm);
	fired = fault_fired();
	fault_disarm();
	dpumap_cm_destroy(passive_cm);
	dpumap_cm_destroy(active_cm);
	return fired && reset(&server_rc) && reset(&client_rc);
}

static void each_failure_is_undone(void **state)
{
	unsigned int live = fault_count_live(), points = 0;

	for (unsigned int n = 1; fail_once(FAULT_ALLOC, n); n++)
		points++;
	for (unsigned int n = 1; fail_once(FAULT_COMMAND, n); n++)
		points++;
	assert_int_equal(fault_count_live(), live);
	assert_true(points > 12);
}

/* In a process of its own, which ends with what a failed device does not take back. */
static void survive_the_device(void)
{
	const char *const die[] = {test_options.emu, "fault", "device", NULL};
	struct pair pair;

	if (fixture_open_device(&dev) != DOCA_SUCCESS || open_side(&server, &server_rc) ||
	    open_side(&client, &client_rc))
		_exit(1);
	connect_pair(&pair);
	if (process_run(die))
		_exit(2);
	assert_ptr_equal(await(client, DPUMAP_CM_FAILED)->id, pair.active);
	assert_error(client_event.error, DOCA_ERROR_DRIVER);
	await(server, DPUMAP_CM_FAILED);
	await(server, DPUMAP_CM_FAILED);
	assert_ok(dpumap_cm_disconnect(pair.active));
	destroy_pair(&pair);
	dpumap_cm_destroy(server);
	dpumap_cm_destroy(client);
	_exit(0);
}

static void failure_of_the_device_ends_listeners_and_connections(void **state)
{
	const char *const clear[] = {test_options.emu, "fault", "clear", NULL};
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		survive_the_device();
	assert_int_equal(process_exit_code(child), 0);
	assert_int_equal(process_run(clear), 0);
}

/* --- another process -------------------------------------------------------------------------- */

/* The peer listens on card 1, says at which port, and accepts all requests until its stdin ends. */
static int serve(void)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	struct dpumap_cm_id *listener;
	struct dpumap_cm_end end;
	uint16_t port;

	if (fixture_open_device(&dev) != DOCA_SUCCESS || open_side(&server, &server_rc) ||
	    dpumap_cm_listen(server, NULL, DPUMAP_GID_ANY, 0, BACKLOG, &listener) != DOCA_SUCCESS)
		return 1;
	port = dpumap_cm_id_port(listener);
	fds[1].fd = dpumap_cm_fd(server);
	if (!process_send(STDOUT_FILENO, &port, sizeof(port)))
		return 1;
	while (!fds[0].revents) {
		poll(fds, 2, -1);
		if (dpumap_cm_poll(server, &server_event) != DOCA_SUCCESS)
			continue;
		end = end_of(&server_rc, &server_rc.mr->rkey, sizeof(server_rc.mr->rkey));
		if (server_event.type == DPUMAP_CM_REQUEST)
			dpumap_cm_accept(server_event.id, &end);
	}
	return 0;
}

static struct dpumap_cm_id *connect_to_peer(struct process *peer)
{
	const struct dpumap_cm_event *event;
	struct dpumap_cm_id *id;
	uint16_t port;

	assert_true(process_start_peer(peer, "dpu1"));
	assert_true(process_receive(peer->from, &port, sizeof(port)));
	id = connect_to(OTHER_IP, port, NULL, 0);
	event = await(client, DPUMAP_CM_ESTABLISHED);
	assert_ptr_equal(event->id, id);
	return id;
}

static void peer_on_another_card_is_reached(void **state)
{
	struct dpumap_cm_id *id;
	struct process peer;

	id = connect_to_peer(&peer);
	assert_int_equal(state_of(&client_rc), IBV_QPS_RTS);
	assert_ok(dpumap_cm_disconnect(id));
	await(client, DPUMAP_CM_DISCONNECTED);
	dpumap_cm_id_destroy(id);
	assert_true(process_finish(&peer));
}

static void killed_peer_disconnects(void **state)
{
	struct dpumap_cm_id *id;
	struct process peer;

	id = connect_to_peer(&peer);
	assert_true(process_kill(&peer));
	assert_ptr_equal(await(client, DPUMAP_CM_DISCONNECTED)->id, id);
	dpumap_cm_id_destroy(id);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_texts_are_parsed),
		cmocka_unit_test(source_is_of_the_family_of_the_peer),
		cm_test(connected_queue_pairs_move_data_both_ways),
		cm_test(private_data_arrives_in_full_length),
		cm_test(too_much_private_data_is_refused),
		cm_test(peer_and_port_of_a_connection_are_known),
		cm_test(many_connections_outlive_their_listener),
		cm_test(access_of_an_end_limits_its_peer),
		cm_test(reject_returns_reason_and_data),
		cm_test(destroyed_request_is_rejected),
		cm_test(request_whose_client_is_gone_cannot_be_accepted),
		cm_test(nobody_listens_is_reported),
		cm_test(address_of_nobody_fails),
		cm_test(client_disconnects),
		cm_test(server_disconnects),
		cm_test(both_disconnect_at_once),
		cm_test(disconnect_right_after_accept_ends_both),
		cm_test(server_that_ends_after_accept_disconnects),
		cm_test(destroy_disconnects_the_peer),
		cm_test(disconnect_before_the_end_of_connecting_is_refused),
		cm_test(taken_port_is_reported),
		cm_test(address_of_another_device_is_refused),
		cm_test(listen_without_address_takes_all_of_the_device),
		cm_test(gid_index_chooses_the_address),
		cm_test(request_of_the_program_is_adopted),
		cm_test(each_failure_is_undone),
		cm_test(peer_on_another_card_is_reached),
		cm_test(killed_peer_disconnects),
		/* The last one: librdmacm keeps the context of the device that failed. */
		counted_test(failure_of_the_device_ends_listeners_and_connections),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return serve();
	return cmocka_run_group_tests(tests, use_once, NULL);
}
