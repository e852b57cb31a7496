/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which peers are accepted over TLS, which are rejected, and why. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/ssl.h>

#include "base/array.h"
#include "channel/conn.h"
#include "channel/message.h"
#include "pki.h"

#define BIG_FRAME 60000u
#define ROUNDS	  2000

static const struct pki_cert certs[] = {
	{"ca", "dpu", "DNS:dpu,DNS:dpu.lab,IP:127.0.0.1,IP:::1", 10, PKI_SERVER, 365},
	{"ca", "host", NULL, 11, PKI_CLIENT, 365},
	{"ca", "old-dpu", "DNS:dpu", 12, PKI_SERVER, -1},
	{"ca", "old-host", NULL, 13, PKI_CLIENT, -1},
	{"ca", "lost-host", NULL, 14, PKI_CLIENT, 365},
	{"ca", "a b", NULL, 15, PKI_CLIENT, 365},
	{"other", "foreign-dpu", "DNS:dpu", 10, PKI_SERVER, 365},
	{"other", "foreign-host", NULL, 11, PKI_CLIENT, 365},
};

static int set_up(void **state)
{
	static char directory[] = "/tmp/dpumap-test-XXXXXX";

	if (!mkdtemp(directory))
		return -1;
	pki_begin(directory);
	pki_make_ca("ca");
	pki_make_ca("other");
	for (size_t i = 0; i < ARRAY_SIZE(certs); i++)
		pki_make_cert(&certs[i]);
	pki_make_crl("ca", 14);
	return 0;
}

static int tear_down(void **state)
{
	pki_end();
	return 0;
}

static void write_file(const char *name, const char *suffix, mode_t mode, const char *text)
{
	FILE *file = fopen(pki_path(name, suffix), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
	assert_int_equal(chmod(pki_path(name, suffix), mode), 0);
}

/* --- two ends --------------------------------------------------------------------------------- */

static doca_error_t try_tls(const char *ca, const char *name, bool is_server,
			    struct dpumap_tls **tls, struct dpumap_error *error)
{
	char cert[300], key[300], authority[300];
	struct dpumap_tls_config config = {.cert = cert, .key = key, .ca = authority};

	snprintf(cert, sizeof(cert), "%s", pki_path(name, "crt"));
	snprintf(key, sizeof(key), "%s", pki_path(name, "key"));
	snprintf(authority, sizeof(authority), "%s", pki_path(ca, "crt"));
	config.crl = is_server && strcmp(ca, "ca") == 0 ? pki_path(ca, "crl") : NULL;
	return dpumap_tls_create(&config, is_server, tls, error);
}

static struct dpumap_tls *make_tls(const char *ca, const char *name, bool is_server)
{
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	if (try_tls(ca, name, is_server, &tls, &error) != DOCA_SUCCESS)
		fail_msg("%s", error.text);
	return tls;
}

static struct dpumap_tls *make_psk(const char *file, const char *name, bool is_server)
{
	struct dpumap_tls_config config = {.psk = pki_path(file, "psk"), .psk_name = name};
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	if (dpumap_tls_create(&config, is_server, &tls, &error) != DOCA_SUCCESS)
		fail_msg("%s", error.text);
	return tls;
}

struct end {
	struct dpumap_tls *tls;
	struct dpumap_conn *conn;
	doca_error_t result;
	struct dpumap_error error;
};

struct pair {
	struct end server, client;
};

static void shake(struct end *end)
{
	if (end->result == DOCA_ERROR_AGAIN)
		end->result = dpumap_conn_handshake(end->conn, &end->error);
}

static void open_pair(struct pair *pair, const char *expected)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(dpumap_conn_create(fds[0], pair->server.tls, NULL, &pair->server.conn,
					    &pair->server.error),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_create(fds[1], pair->client.tls, expected, &pair->client.conn,
					    &pair->client.error),
			 DOCA_SUCCESS);
	pair->server.result = pair->client.result = DOCA_ERROR_AGAIN;
}

/* Progress as far as possible; a client learns of a rejection when it reads. */
static void meet(struct pair *pair, const char *expected)
{
	open_pair(pair, expected);
	for (int i = 0; i < 10; i++) {
		shake(&pair->client);
		shake(&pair->server);
	}
	if (pair->client.result == DOCA_SUCCESS && pair->server.result != DOCA_SUCCESS)
		pair->client.result = dpumap_conn_fill(pair->client.conn, &pair->client.error);
}

static void part(struct pair *pair)
{
	dpumap_conn_destroy(pair->client.conn);
	dpumap_conn_destroy(pair->server.conn);
	dpumap_tls_destroy(pair->client.tls);
	dpumap_tls_destroy(pair->server.tls);
}

static void expect_end(const struct end *end, doca_error_t result, const char *why)
{
	if (end->result != result || (why && !strstr(end->error.text, why)))
		fail_msg("%s: %s", doca_error_get_name(end->result), end->error.text);
}

static void expect_refusal(struct pair *pair, doca_error_t server, const char *server_why,
			   doca_error_t client, const char *client_why)
{
	expect_end(&pair->server, server, server_why);
	expect_end(&pair->client, client, client_why);
	part(pair);
}

static void expect_name(const struct end *end, const char *expected)
{
	char name[DPUMAP_PEER_NAME_MAX];
	struct dpumap_error error = {0};

	if (dpumap_conn_peer_name(end->conn, name, &error) != DOCA_SUCCESS)
		fail_msg("%s", error.text);
	assert_string_equal(name, expected);
}

/* --- accepted peers --------------------------------------------------------------------------- */

static void both_sides_know_each_other(void **state)
{
	static const char *const names[] = {"dpu", "dpu.lab", "127.0.0.1", "::1"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
				    {.tls = make_tls("ca", "host", false)}};

		meet(&pair, names[i]);
		expect_end(&pair.server, DOCA_SUCCESS, NULL);
		expect_end(&pair.client, DOCA_SUCCESS, NULL);
		expect_name(&pair.server, "cert:host");
		expect_name(&pair.client, "cert:dpu");
		part(&pair);
	}
}

static void send_big(struct end *end, const uint8_t *bytes, uint64_t id)
{
	struct dpumap_msg msg;

	dpumap_msg_init(&msg);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, id);
	dpumap_msg_set_bytes(&msg, DPUMAP_MSG_DESCRIPTOR, bytes, DPUMAP_DESCRIPTOR_MAX);
	if (dpumap_conn_put(end->conn, &msg, &end->error) != DOCA_SUCCESS)
		fail_msg("%s", end->error.text);
}

/* Receive frames without poll() in between, as an event loop does. */
static uint64_t take_frames(struct end *end, uint64_t next)
{
	const uint8_t *payload;
	struct dpumap_msg msg;
	size_t len;

	while (dpumap_conn_frame(end->conn, &payload, &len, &end->error) == DOCA_SUCCESS) {
		assert_int_equal(dpumap_msg_decode(payload, len, &msg, &end->error), DOCA_SUCCESS);
		assert_int_equal(msg.value[DPUMAP_MSG_ID].number, next);
		next++;
		dpumap_conn_drop_frame(end->conn);
	}
	return next;
}

static void push(struct end *end)
{
	doca_error_t result = dpumap_conn_flush(end->conn, &end->error);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
		fail_msg("%s", end->error.text);
}

/*
 * Many frames in one direction. Each side waits for the events of dpumap_conn_events() only, so
 * bytes that the session has buffered would hang it.
 */
static void frames_arrive_in_order(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "host", false)}};
	uint8_t bytes[DPUMAP_DESCRIPTOR_MAX] = {1};
	uint64_t sent = 0, seen = 0;

	meet(&pair, "dpu");
	while (seen < ROUNDS) {
		struct pollfd p = {.fd = dpumap_conn_fd(pair.client.conn)};

		while (sent < ROUNDS && !dpumap_conn_has_output(pair.server.conn)) {
			send_big(&pair.server, bytes, sent++);
			push(&pair.server);
		}
		push(&pair.server);
		/* At any time, also between the parts of a record or of a frame, and again and again. */
		for (int i = 0; i < 3; i++) {
			dpumap_conn_rest(pair.server.conn);
			dpumap_conn_rest(pair.client.conn);
		}
		p.events = dpumap_conn_events(pair.client.conn);
		if (poll(&p, 1, 5000) != 1)
			fail_msg("frame %d never comes", (int)seen);
		if (dpumap_conn_fill(pair.client.conn, &pair.client.error) == DOCA_SUCCESS)
			seen = take_frames(&pair.client, seen);
	}
	part(&pair);
}

static void goodbye_is_heard(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "host", false)}};

	meet(&pair, "dpu");
	dpumap_conn_destroy(pair.server.conn);
	pair.server.conn = NULL;
	pair.client.result = dpumap_conn_fill(pair.client.conn, &pair.client.error);
	expect_end(&pair.client, DOCA_ERROR_CONNECTION_RESET, "closed");
	part(&pair);
}

/* --- rejected peers --------------------------------------------------------------------------- */

static void client_of_another_authority_is_refused(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)}, {.tls = NULL}};
	struct dpumap_tls_config config = {0};
	char cert[300], key[300], ca[300];

	snprintf(cert, sizeof(cert), "%s", pki_path("foreign-host", "crt"));
	snprintf(key, sizeof(key), "%s", pki_path("foreign-host", "key"));
	snprintf(ca, sizeof(ca), "%s", pki_path("ca", "crt"));
	config = (struct dpumap_tls_config){.cert = cert, .key = key, .ca = ca};
	assert_int_equal(dpumap_tls_create(&config, false, &pair.client.tls, &pair.client.error),
			 DOCA_SUCCESS);
	meet(&pair, "dpu");
	expect_refusal(
		&pair, DOCA_ERROR_AUTHENTICATION,
		"the certificate of cert:foreign-host was rejected: it was not issued by a CA of /",
		DOCA_ERROR_AUTHENTICATION,
		"dpumapd refuses this host: its certificate was not issued by a CA");
}

static void server_of_another_authority_is_refused(void **state)
{
	struct pair pair = {{.tls = make_tls("other", "foreign-dpu", true)},
			    {.tls = make_tls("ca", "host", false)}};

	meet(&pair, "dpu");
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, NULL, DOCA_ERROR_AUTHENTICATION,
		       "cert:foreign-dpu");
}

static void client_with_an_expired_certificate_is_refused(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "old-host", false)}};

	meet(&pair, "dpu");
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, "expired", DOCA_ERROR_AUTHENTICATION,
		       "expired");
}

static void server_with_an_expired_certificate_is_refused(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "old-dpu", true)},
			    {.tls = make_tls("ca", "host", false)}};

	meet(&pair, "dpu");
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, NULL, DOCA_ERROR_AUTHENTICATION,
		       "expired");
}

static void client_with_a_revoked_certificate_is_refused(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "lost-host", false)}};

	meet(&pair, "dpu");
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, "revoked", DOCA_ERROR_AUTHENTICATION,
		       "dpumapd refuses this host: its certificate is revoked");
}

/* Revoked while connected: the server checks again when it has a new list. */
static void client_that_is_revoked_later_fails_the_next_check(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "host", false)}};
	struct dpumap_tls *newer;

	meet(&pair, "dpu");
	expect_end(&pair.server, DOCA_SUCCESS, NULL);
	assert_int_equal(
		dpumap_conn_check_again(pair.server.conn, pair.server.tls, &pair.server.error),
		DOCA_SUCCESS);
	pki_make_crl("ca", 11);
	newer = make_tls("ca", "dpu", true);
	pair.server.result = dpumap_conn_check_again(pair.server.conn, newer, &pair.server.error);
	pki_make_crl("ca", 14);
	expect_end(&pair.server, DOCA_ERROR_AUTHENTICATION, "cert:host");
	dpumap_tls_destroy(newer);
	part(&pair);
}

static void other_server_than_expected_is_refused(void **state)
{
	static const char *const names[] = {"dpu2", "lab", "127.0.0.2", "host"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
				    {.tls = make_tls("ca", "host", false)}};

		meet(&pair, names[i]);
		expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, NULL, DOCA_ERROR_AUTHENTICATION,
			       "mismatch");
	}
}

/* A host's certificate is not valid for a server, nor the other way round. */
static void certificate_for_the_other_role_is_refused(void **state)
{
	struct pair swapped = {{.tls = make_tls("ca", "dpu", true)},
			       {.tls = make_tls("ca", "dpu", false)}};
	struct pair posing = {{.tls = make_tls("ca", "host", true)},
			      {.tls = make_tls("ca", "host", false)}};

	meet(&swapped, "dpu");
	expect_refusal(&swapped, DOCA_ERROR_AUTHENTICATION, "purpose", DOCA_ERROR_AUTHENTICATION,
		       NULL);
	meet(&posing, "host");
	expect_refusal(&posing, DOCA_ERROR_AUTHENTICATION, NULL, DOCA_ERROR_AUTHENTICATION, NULL);
}

static void certificate_with_an_invalid_name_is_rejected(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "a b", false)}};
	char name[DPUMAP_PEER_NAME_MAX];

	meet(&pair, "dpu");
	expect_end(&pair.server, DOCA_SUCCESS, NULL);
	assert_int_equal(dpumap_conn_peer_name(pair.server.conn, name, &pair.server.error),
			 DOCA_ERROR_AUTHENTICATION);
	part(&pair);
}

/* --- other clients ---------------------------------------------------------------------------- */

/* Our server with a client of plain OpenSSL, which does not verify. */
static doca_error_t meet_stranger(struct dpumap_tls *tls, int version, struct dpumap_error *error)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	doca_error_t result = DOCA_ERROR_AGAIN;
	struct dpumap_conn *conn;
	int fds[2];
	SSL *ssl;

	assert_non_null(ctx);
	assert_true(SSL_CTX_set_max_proto_version(ctx, version));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(dpumap_conn_create(fds[0], tls, NULL, &conn, error), DOCA_SUCCESS);
	ssl = SSL_new(ctx);
	assert_true(SSL_set_fd(ssl, fds[1]));
	for (int i = 0; i < 10 && result == DOCA_ERROR_AGAIN; i++) {
		SSL_connect(ssl);
		result = dpumap_conn_handshake(conn, error);
	}
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	dpumap_conn_destroy(conn);
	close(fds[1]);
	return result;
}

static void client_without_certificate_is_refused(void **state)
{
	struct dpumap_tls *tls = make_tls("ca", "dpu", true);
	struct dpumap_error error = {0};

	assert_int_equal(meet_stranger(tls, TLS1_3_VERSION, &error), DOCA_ERROR_AUTHENTICATION);
	assert_non_null(strstr(error.text, "certificate"));
	dpumap_tls_destroy(tls);
}

static void client_with_tls_1_2_is_refused(void **state)
{
	struct dpumap_tls *tls = make_tls("ca", "dpu", true);
	struct dpumap_error error = {0};

	assert_int_equal(meet_stranger(tls, TLS1_2_VERSION, &error),
			 DOCA_ERROR_UNSUPPORTED_VERSION);
	dpumap_tls_destroy(tls);
}

static void client_that_speaks_no_tls_is_refused(void **state)
{
	static const char *const said[] = {
		"GET / HTTP/1.1\r\nHost: dpu\r\n\r\n", "\x05\x00\x00\x00\xa1\x62id\x01",
		"\x16\x03\x01\xff\xff\x01", /* a record of 64 KiB */
	};
	struct dpumap_tls *tls = make_tls("ca", "dpu", true);
	struct dpumap_error error = {0};
	struct dpumap_conn *conn;
	doca_error_t result;
	int fds[2];

	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		assert_int_equal(dpumap_conn_create(fds[0], tls, NULL, &conn, &error),
				 DOCA_SUCCESS);
		assert_true(write(fds[1], said[i], strlen(said[i]) + 1) > 0);
		shutdown(fds[1], SHUT_WR);
		result = dpumap_conn_handshake(conn, &error);
		assert_int_not_equal(result, DOCA_SUCCESS);
		assert_int_not_equal(result, DOCA_ERROR_AGAIN);
		dpumap_conn_destroy(conn);
		close(fds[1]);
	}
	dpumap_tls_destroy(tls);
}

/* --- shared keys ------------------------------------------------------------------------------ */

#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static void sides_with_a_shared_key_authenticate(void **state)
{
	struct pair pair;

	write_file("server", "psk", 0600, "# hosts\nweb:" KEY_B "\nhost:" KEY_A "\n");
	write_file("client", "psk", 0600, "host:" KEY_A "\nweb:" KEY_B "\n");
	pair = (struct pair){{.tls = make_psk("server", NULL, true)},
			     {.tls = make_psk("client", NULL, false)}};
	meet(&pair, "any");
	expect_end(&pair.server, DOCA_SUCCESS, NULL);
	expect_end(&pair.client, DOCA_SUCCESS, NULL);
	expect_name(&pair.server, "psk:host");
	expect_name(&pair.client, "psk:host");
	part(&pair);

	pair = (struct pair){{.tls = make_psk("server", NULL, true)},
			     {.tls = make_psk("client", "web", false)}};
	meet(&pair, "any");
	expect_end(&pair.server, DOCA_SUCCESS, NULL);
	expect_name(&pair.server, "psk:web");
	part(&pair);
}

static void shared_key_that_the_server_does_not_have_is_refused(void **state)
{
	char wrong_key[sizeof(((struct dpumap_error *)0)->text)];
	struct pair pair;

	write_file("server", "psk", 0600, "host:" KEY_A "\n");
	write_file("client", "psk", 0600, "host:" KEY_B "\nother:" KEY_A "\n");
	pair = (struct pair){{.tls = make_psk("server", NULL, true)},
			     {.tls = make_psk("client", NULL, false)}};
	meet(&pair, "any");
	snprintf(wrong_key, sizeof(wrong_key), "%s", pair.client.error.text);
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, "is wrong", DOCA_ERROR_AUTHENTICATION,
		       NULL);

	/* The client cannot tell an unknown name from a wrong key, the log of the server can. */
	pair = (struct pair){{.tls = make_psk("server", NULL, true)},
			     {.tls = make_psk("client", "other", false)}};
	meet(&pair, "any");
	assert_string_equal(pair.client.error.text, wrong_key);
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, "has an unknown name",
		       DOCA_ERROR_AUTHENTICATION, NULL);
}

static struct dpumap_tls *make_keyed(unsigned char first, bool is_server)
{
	unsigned char key[32] = {first};
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	assert_int_equal(dpumap_tls_create_with_key(key, sizeof(key), is_server, &tls, &error),
			 DOCA_SUCCESS);
	return tls;
}

static void sides_with_a_key_in_memory_authenticate(void **state)
{
	struct pair pair = {{.tls = make_keyed(1, true)}, {.tls = make_keyed(1, false)}};

	meet(&pair, "any");
	expect_end(&pair.server, DOCA_SUCCESS, NULL);
	expect_end(&pair.client, DOCA_SUCCESS, NULL);
	part(&pair);

	pair = (struct pair){{.tls = make_keyed(1, true)}, {.tls = make_keyed(2, false)}};
	meet(&pair, "any");
	expect_refusal(&pair, DOCA_ERROR_AUTHENTICATION, "is wrong", DOCA_ERROR_AUTHENTICATION,
		       NULL);
}

static void use_socket(struct end *end, int fd, struct dpumap_tls *tls)
{
	end->tls = tls;
	end->result = DOCA_ERROR_AGAIN;
	assert_int_equal(dpumap_conn_create(fd, tls, "any", &end->conn, &end->error), DOCA_SUCCESS);
}

/* The client may begin the second session before the server has read the end of the first. */
static void a_connection_may_have_a_second_session(void **state)
{
	struct pair first = {{.tls = make_tls("ca", "dpu", true)},
			     {.tls = make_tls("ca", "host", false)}};
	struct dpumap_error error = {0};
	struct pair second = {0};
	struct dpumap_tls *later;
	int server, client;

	meet(&first, "dpu");
	expect_end(&first.server, DOCA_SUCCESS, NULL);
	assert_int_equal(dpumap_conn_leave(first.server.conn, &server, &error), DOCA_ERROR_AGAIN);
	assert_int_equal(dpumap_conn_leave(first.client.conn, &client, &error), DOCA_SUCCESS);
	use_socket(&second.client, client, make_keyed(1, false));
	shake(&second.client);
	assert_int_equal(dpumap_conn_leave(first.server.conn, &server, &error), DOCA_SUCCESS);
	use_socket(&second.server, server, make_keyed(1, true));
	for (int i = 0; i < 10; i++) {
		shake(&second.server);
		shake(&second.client);
	}
	expect_end(&second.server, DOCA_SUCCESS, NULL);
	expect_end(&second.client, DOCA_SUCCESS, NULL);
	/* The server of the first session still knows its client, and that it was revoked since. */
	expect_name(&first.server, "cert:host");
	later = make_tls("other", "foreign-dpu", true);
	assert_int_equal(dpumap_conn_check_again(first.server.conn, later, &error),
			 DOCA_ERROR_AUTHENTICATION);
	dpumap_tls_destroy(later);
	part(&second);
	part(&first);
}

/* What ends a session in an orderly way is not the end of the connection alone. */
static void session_that_is_cut_off_is_not_left(void **state)
{
	struct pair pair = {{.tls = make_tls("ca", "dpu", true)},
			    {.tls = make_tls("ca", "host", false)}};
	struct dpumap_error error = {0};
	int fd;

	meet(&pair, "dpu");
	assert_int_equal(shutdown(dpumap_conn_fd(pair.client.conn), SHUT_RDWR), 0);
	assert_int_equal(dpumap_conn_leave(pair.server.conn, &fd, &error),
			 DOCA_ERROR_CONNECTION_RESET);
	part(&pair);
}

static void shared_key_and_certificate_do_not_meet(void **state)
{
	struct pair pair;

	write_file("server", "psk", 0600, "host:" KEY_A "\n");
	pair = (struct pair){{.tls = make_psk("server", NULL, true)},
			     {.tls = make_tls("ca", "host", false)}};
	meet(&pair, "dpu");
	assert_int_not_equal(pair.server.result, DOCA_SUCCESS);
	assert_int_not_equal(pair.client.result, DOCA_SUCCESS);
	part(&pair);

	pair = (struct pair){{.tls = make_tls("ca", "dpu", true)},
			     {.tls = make_psk("server", NULL, false)}};
	meet(&pair, "dpu");
	assert_int_not_equal(pair.server.result, DOCA_SUCCESS);
	assert_int_not_equal(pair.client.result, DOCA_SUCCESS);
	part(&pair);
}

static void wrong_key_files_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} files[] = {
		{"", "no key"},
		{"# nothing\n", "no key"},
		{"host\n", ":1:"},
		{"host:00\n", ":1:"},
		{":" KEY_A "\n", ":1:"},
		{"ho st:" KEY_A "\n", ":1:"},
		{"host:" KEY_A KEY_A KEY_A "\n", ":1:"},
		{"host:" KEY_A "\nhost:" KEY_B "\n", ":2: host"},
		{"host:" KEY_A "0\n", ":1:"},
		{"host:g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n", ":1:"},
	};
	struct dpumap_tls_config config = {0};
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		write_file("bad", "psk", 0600, files[i].text);
		config.psk = pki_path("bad", "psk");
		assert_int_equal(dpumap_tls_create(&config, true, &tls, &error),
				 DOCA_ERROR_BAD_CONFIG);
		if (!strstr(error.text, files[i].why) || strstr(error.text, "0001020304"))
			fail_msg("%zu: %s", i, error.text);
	}
	write_file("bad", "psk", 0600, "host:" KEY_A "\n");
	config.psk_name = "nobody";
	assert_int_equal(dpumap_tls_create(&config, false, &tls, &error), DOCA_ERROR_NOT_FOUND);
	assert_null(tls);
}

/* --- files that other users can change -------------------------------------------------------- */

static void expect_tls(const char *name, doca_error_t expected, const char *why)
{
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	if (try_tls("ca", name, true, &tls, &error) != expected || !strstr(error.text, why))
		fail_msg("%s: %s", doca_error_get_name(error.code), error.text);
	assert_null(tls);
}

static void files_that_others_can_change_are_refused(void **state)
{
	assert_int_equal(chmod(pki_path("dpu", "key"), 0644), 0);
	expect_tls("dpu", DOCA_ERROR_NOT_PERMITTED, "dpu.key has mode 0644");
	assert_int_equal(chmod(pki_path("dpu", "key"), 0640), 0);
	expect_tls("dpu", DOCA_ERROR_NOT_PERMITTED, "dpu.key has mode 0640");
	assert_int_equal(chmod(pki_path("dpu", "key"), 0600), 0);
	assert_int_equal(chmod(pki_path("ca", "crt"), 0666), 0);
	expect_tls("dpu", DOCA_ERROR_NOT_PERMITTED, "ca.crt has mode 0666");
	assert_int_equal(chmod(pki_path("ca", "crt"), 0644), 0);
	dpumap_tls_destroy(make_tls("ca", "dpu", true));
}

static void directories_that_others_can_change_are_refused(void **state)
{
	char directory[300];

	snprintf(directory, sizeof(directory), "%s", pki_path("dpu", "crt"));
	*strrchr(directory, '/') = '\0';
	assert_int_equal(chmod(directory, 0777), 0);
	expect_tls("dpu", DOCA_ERROR_NOT_PERMITTED, "has mode 0777");
	assert_int_equal(chmod(directory, 01777), 0);
	dpumap_tls_destroy(make_tls("ca", "dpu", true));
	assert_int_equal(chmod(directory, 0700), 0);
}

static void wrong_certificate_files_are_refused(void **state)
{
	expect_tls("nobody", DOCA_ERROR_NOT_FOUND, "nobody.crt");
	write_file("bad", "crt", 0644, "nothing\n");
	write_file("bad", "key", 0600, "nothing\n");
	expect_tls("bad", DOCA_ERROR_BAD_CONFIG, "bad.crt contains no certificate");
	assert_int_equal(unlink(pki_path("bad", "crt")), 0);
	assert_int_equal(symlink(pki_path("dpu", "crt"), pki_path("bad", "crt")), 0);
	expect_tls("bad", DOCA_ERROR_BAD_CONFIG, "bad.key");
	assert_int_equal(unlink(pki_path("bad", "key")), 0);
	assert_int_equal(symlink(pki_path("host", "key"), pki_path("bad", "key")), 0);
	expect_tls("bad", DOCA_ERROR_BAD_CONFIG, "mismatch");
}

static void configuration_with_too_little_or_too_much_is_refused(void **state)
{
	struct dpumap_tls_config config = {.cert = pki_path("dpu", "crt")};
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	assert_int_equal(dpumap_tls_create(&config, true, &tls, &error), DOCA_ERROR_BAD_CONFIG);
	write_file("good", "psk", 0600, "host:" KEY_A "\n");
	config.psk = pki_path("good", "psk");
	assert_int_equal(dpumap_tls_create(&config, true, &tls, &error), DOCA_ERROR_BAD_CONFIG);
	assert_null(tls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_know_each_other),
		cmocka_unit_test(frames_arrive_in_order),
		cmocka_unit_test(goodbye_is_heard),
		cmocka_unit_test(client_of_another_authority_is_refused),
		cmocka_unit_test(server_of_another_authority_is_refused),
		cmocka_unit_test(client_with_an_expired_certificate_is_refused),
		cmocka_unit_test(server_with_an_expired_certificate_is_refused),
		cmocka_unit_test(client_with_a_revoked_certificate_is_refused),
		cmocka_unit_test(client_that_is_revoked_later_fails_the_next_check),
		cmocka_unit_test(other_server_than_expected_is_refused),
		cmocka_unit_test(certificate_for_the_other_role_is_refused),
		cmocka_unit_test(certificate_with_an_invalid_name_is_rejected),
		cmocka_unit_test(client_without_certificate_is_refused),
		cmocka_unit_test(client_with_tls_1_2_is_refused),
		cmocka_unit_test(client_that_speaks_no_tls_is_refused),
		cmocka_unit_test(sides_with_a_shared_key_authenticate),
		cmocka_unit_test(shared_key_that_the_server_does_not_have_is_refused),
		cmocka_unit_test(sides_with_a_key_in_memory_authenticate),
		cmocka_unit_test(a_connection_may_have_a_second_session),
		cmocka_unit_test(session_that_is_cut_off_is_not_left),
		cmocka_unit_test(shared_key_and_certificate_do_not_meet),
		cmocka_unit_test(wrong_key_files_are_refused_with_their_line),
		cmocka_unit_test(files_that_others_can_change_are_refused),
		cmocka_unit_test(directories_that_others_can_change_are_refused),
		cmocka_unit_test(wrong_certificate_files_are_refused),
		cmocka_unit_test(configuration_with_too_little_or_too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
