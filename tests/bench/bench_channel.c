/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure an import over an established TLS connection, compared with the minimum: a request and a reply
 * of the same size over plain OpenSSL, and an alias created without the library. First with one client,
 * then with many at once. Also measure imports of many exports with one call, compared with one by one.
 * Runs on the host's function with a dpumapd; scripts/bench starts both.
 *
 *   bench_channel ADDRESS CERT CA NAME [ours|bare COUNT | wait SECONDS]
 *
 * With a COUNT, one client imports so often, for programs that count instructions or system calls. With
 * SECONDS, one client imports for so long and prints how long it waited, in milliseconds: median, 99th
 * percentile, longest.
 *
 * CERT is the path of the client's certificate without .crt; the plain OpenSSL server uses the same one.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <openssl/ssl.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/channel.h>
#include <dpumap/desc.h>

#include "channel/conn.h"
#include "channel/message.h"
#include "device/prm.h"
#include "stats.h"

#define ROUNDS	25
#define IMPORTS 100 /* in a round, and exports NAME-0 and so on */
#define CLIENTS 64
#define SECONDS 2
#define WAITS	((size_t)1 << 20)

static const char *address, *cert, *ca, *name;
static size_t request_len, reply_len; /* lengths of the frames of an import */
static struct doca_dev *dev;
static struct ibv_context *verbs;
static uint32_t pdn;
static struct dpumap_desc desc; /* the descriptor of the import */
static uint16_t bare_port;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench: %s failed\n", what);
	exit(1);
}

/* --- plain OpenSSL: TLS ----------------------------------------------------------------------- */

static SSL_CTX *make_context(const SSL_METHOD *method)
{
	SSL_CTX *ctx = SSL_CTX_new(method);
	char path[512];

	must(ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION), "TLS");
	snprintf(path, sizeof(path), "%s.crt", cert);
	must(SSL_CTX_use_certificate_chain_file(ctx, path) == 1, path);
	snprintf(path, sizeof(path), "%s.key", cert);
	must(SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM) == 1, path);
	must(SSL_CTX_load_verify_file(ctx, ca) == 1, ca);
	return ctx;
}

static SSL *open_session(SSL_CTX *ctx, int fd)
{
	SSL *ssl = SSL_new(ctx);
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	must(ssl && SSL_set_fd(ssl, fd) == 1, "TLS");
	return ssl;
}

static bool read_all(SSL *ssl, uint8_t *buf, size_t len)
{
	size_t n;

	for (size_t at = 0; at < len; at += n)
		if (SSL_read_ex(ssl, buf + at, len - at, &n) != 1)
			return false;
	return true;
}

static void *answer(void *context)
{
	uint8_t buf[4096] = {0};
	SSL *ssl = context;
	size_t n;

	if (SSL_accept(ssl) == 1)
		while (read_all(ssl, buf, request_len) &&
		       SSL_write_ex(ssl, buf, reply_len, &n) == 1)
			;
	close(SSL_get_fd(ssl));
	SSL_free(ssl);
	return NULL;
}

static void serve(int listener)
{
	SSL_CTX *ctx = make_context(TLS_server_method());
	pthread_t thread;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		must(!pthread_create(&thread, NULL, answer, open_session(ctx, fd)), "a thread");
		pthread_detach(thread);
	}
	_exit(1);
}

static pid_t start_bare_server(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(at);
	pid_t pid;

	must(listener >= 0 && !bind(listener, (struct sockaddr *)&at, sizeof(at)) &&
		     !listen(listener, CLIENTS) &&
		     !getsockname(listener, (struct sockaddr *)&at, &len),
	     "listening");
	bare_port = at.sin_port;
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(listener);
	}
	close(listener);
	return pid;
}

/* --- plain OpenSSL: the alias ----------------------------------------------------------------- */

static struct mlx5dv_devx_obj *make_alias(void)
{
	uint8_t in[PRM_ALIAS_LEN] = {0}, out[PRM_ALIAS_LEN] = {0};
	uint8_t *alias = in + PRM_ALIAS_CONTEXT;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	prm_set(in, PRM_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_OBJECT_IS_ALIAS, 1);
	prm_set(alias, PRM_ALIAS_VHCA_ID, desc.vhca_id);
	prm_set(alias, PRM_ALIAS_OBJECT_ID, desc.mkey >> 8);
	memcpy(alias + PRM_ALIAS_ACCESS_KEY, desc.access_key, sizeof(desc.access_key));
	prm_set(alias, PRM_ALIAS_METADATA_1, pdn);
	return mlx5dv_devx_obj_create(verbs, in, sizeof(in), out, sizeof(out));
}

/* --- clients ---------------------------------------------------------------------------------- */

struct client {
	struct dpumap_channel *channel; /* of a client with the library */
	SSL *ssl;			/* of a plain OpenSSL client */
};

static void open_ours(struct client *client)
{
	uint8_t bytes[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	char crt[512], key[512];
	size_t len = sizeof(bytes);

	snprintf(crt, sizeof(crt), "%s.crt", cert);
	snprintf(key, sizeof(key), "%s.key", cert);
	must(!dpumap_channel_create(&client->channel), "a channel");
	must(!dpumap_channel_set_address(client->channel, address), "the address");
	must(!dpumap_channel_set_certificate(client->channel, crt, key, ca, NULL), "certificates");
	must(!dpumap_channel_connect(client->channel), "connecting");
	/* Hold one reference all the time: the last release would change the key, which is not measured. */
	must(!dpumap_channel_get(client->channel, name, bytes, &len), "get");
	must(dpumap_desc_decode(bytes, len, &desc) == DPUMAP_DESC_OK, "the descriptor");
}

static void open_bare(struct client *client, SSL_CTX *ctx)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = bare_port,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)), "connecting");
	client->ssl = open_session(ctx, fd);
	must(SSL_connect(client->ssl) == 1, "the handshake");
}

/* Both functions return the seconds that an import took, without its release. */
__attribute__((noinline)) static double import_ours(struct client *client)
{
	double start = bench_now(), end;
	struct doca_mmap *map;

	must(!dpumap_channel_import(client->channel, name, dev, &map), "import");
	end = bench_now();
	must(!doca_mmap_destroy(map) && !dpumap_channel_release(client->channel, name), "release");
	return end - start;
}

__attribute__((noinline)) static double import_bare(struct client *client)
{
	double start = bench_now(), end;
	struct mlx5dv_devx_obj *alias;
	uint8_t buf[4096] = {0};
	size_t n;

	must(SSL_write_ex(client->ssl, buf, request_len, &n) == 1 &&
		     read_all(client->ssl, buf, reply_len),
	     "a bare request");
	alias = make_alias();
	end = bench_now();
	must(alias && !mlx5dv_devx_obj_destroy(alias), "a bare alias");
	/* The library sends a request to release, too. */
	must(SSL_write_ex(client->ssl, buf, request_len, &n) == 1 &&
		     read_all(client->ssl, buf, reply_len),
	     "a bare request");
	return end - start;
}

/* --- one client ------------------------------------------------------------------------------- */

static void measure_one(struct client *ours, struct client *bare)
{
	double of_ours[ROUNDS], of_bare[ROUNDS], ratio[ROUNDS];
	struct bench_stats a, b, r;

	for (size_t round = 0; round < ROUNDS; round++) {
		of_ours[round] = of_bare[round] = 0;
		for (size_t i = 0; i < IMPORTS; i++) {
			of_ours[round] += import_ours(ours) * 1e6 / IMPORTS;
			of_bare[round] += import_bare(bare) * 1e6 / IMPORTS;
		}
		ratio[round] = of_ours[round] / of_bare[round];
	}
	bench_stats(of_ours, ROUNDS, &a);
	bench_stats(of_bare, ROUNDS, &b);
	bench_stats(ratio, ROUNDS, &r);
	printf("one import, us: median (range) of %d rounds of %d; frames of %zu and %zu bytes\n"
	       "dpumap_channel_import      %7.1f (%.1f to %.1f)\n"
	       "bare TLS and alias         %7.1f (%.1f to %.1f)\n"
	       "ratio                      %7.2f (%.2f to %.2f)\n",
	       ROUNDS, IMPORTS, request_len, reply_len, a.median, a.min, a.max, b.median, b.min,
	       b.max, r.median, r.min, r.max);
	bench_record(&r, "at most 1.15", "one import : TLS and an alias by hand");
}

/* --- many clients ----------------------------------------------------------------------------- */

static atomic_bool running;
static _Atomic uint64_t imports;

static void *loop_ours(void *context)
{
	while (!atomic_load(&running))
		usleep(1000);
	for (; atomic_load(&running); atomic_fetch_add(&imports, 1))
		import_ours(context);
	return NULL;
}

static void *loop_bare(void *context)
{
	while (!atomic_load(&running))
		usleep(1000);
	for (; atomic_load(&running); atomic_fetch_add(&imports, 1))
		import_bare(context);
	return NULL;
}

/* Return the imports per second of all clients together. */
static double measure_many(struct client *clients, void *(*loop)(void *), unsigned int seconds)
{
	pthread_t threads[CLIENTS];
	double start;

	atomic_store(&imports, 0);
	for (size_t i = 0; i < CLIENTS; i++)
		must(!pthread_create(&threads[i], NULL, loop, &clients[i]), "a thread");
	start = bench_now();
	atomic_store(&running, true);
	sleep(seconds);
	atomic_store(&running, false);
	for (size_t i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	return (double)atomic_load(&imports) / (bench_now() - start);
}

static void compare_many(struct client *ours, struct client *bare, unsigned int seconds)
{
	double of_ours[5], of_bare[5], ratio[5];
	struct bench_stats a, b, r;

	for (size_t i = 0; i < 5; i++) {
		of_ours[i] = measure_many(ours, loop_ours, seconds);
		of_bare[i] = measure_many(bare, loop_bare, seconds);
		ratio[i] = of_ours[i] / of_bare[i];
	}
	bench_stats(of_ours, 5, &a);
	bench_stats(of_bare, 5, &b);
	bench_stats(ratio, 5, &r);
	printf("%d clients, imports a second: median (range) of 5 times %u s\n"
	       "dpumap_channel_import      %7.0f (%.0f to %.0f)\n"
	       "bare TLS and alias         %7.0f (%.0f to %.0f)\n"
	       "ratio                      %7.2f (%.2f to %.2f)\n",
	       CLIENTS, seconds, a.median, a.min, a.max, b.median, b.min, b.max, r.median, r.min,
	       r.max);
	bench_record(&r, "at least 0.95", "imports a second of %d clients : by hand", CLIENTS);
}

/* --- many exports ----------------------------------------------------------------------------- */

static char many_names[IMPORTS][64];
static const char *many[IMPORTS];

/* The seconds until all were gotten, and until all were imported. */
struct times {
	double get, import;
};

struct got {
	uint8_t bytes[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len;
};

static struct got got[IMPORTS];

static void keep(union doca_data user_data, size_t i, doca_error_t result, const void *descriptor,
		 size_t len)
{
	(void)user_data;
	must(!result, "get of many");
	memcpy(got[i].bytes, descriptor, len);
	got[i].len = len;
}

static void get_together(const struct client *client)
{
	const union doca_data none = {0};

	must(!dpumap_channel_get_many(client->channel, many, IMPORTS, keep, none), "get of many");
}

static void get_one_by_one(const struct client *client)
{
	for (size_t i = 0; i < IMPORTS; i++) {
		got[i].len = sizeof(got[i].bytes);
		must(!dpumap_channel_get(client->channel, many[i], got[i].bytes, &got[i].len),
		     "get");
	}
}

static struct times import_many(const struct client *client,
				void (*get)(const struct client *client))
{
	struct doca_mmap *maps[IMPORTS];
	double start = bench_now();
	struct times times;

	get(client);
	times.get = bench_now() - start;
	for (size_t i = 0; i < IMPORTS; i++)
		must(!doca_mmap_create_from_export(NULL, got[i].bytes, got[i].len, dev, &maps[i]),
		     "import");
	times.import = bench_now() - start;
	for (size_t i = 0; i < IMPORTS; i++)
		must(!doca_mmap_destroy(maps[i]) &&
			     !dpumap_channel_release(client->channel, many[i]),
		     "release");
	return times;
}

static void print_many(const char *what, double *together, double *one_by_one)
{
	struct bench_stats a, b, r;
	double ratio[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++)
		ratio[i] = together[i] / one_by_one[i];
	bench_stats(together, ROUNDS, &a);
	bench_stats(one_by_one, ROUNDS, &b);
	bench_stats(ratio, ROUNDS, &r);
	printf("%s of %d exports, ms: median (range) of %d rounds\n"
	       "one call                   %7.2f (%.2f to %.2f)\n"
	       "one by one                 %7.2f (%.2f to %.2f)\n"
	       "ratio                      %7.2f (%.2f to %.2f)\n",
	       what, IMPORTS, ROUNDS, a.median, a.min, a.max, b.median, b.min, b.max, r.median,
	       r.min, r.max);
	bench_record(&r, "at most 0.3", "%s of %d exports, one call : one by one", what, IMPORTS);
}

static void measure_together(const struct client *client)
{
	double get[2][ROUNDS], import[2][ROUNDS];

	for (size_t i = 0; i < IMPORTS; i++) {
		snprintf(many_names[i], sizeof(many_names[i]), "%s-%zu", name, i);
		many[i] = many_names[i];
	}
	/* As with one export: hold one reference all the time. */
	get_together(client);
	for (size_t i = 0; i < ROUNDS; i++) {
		struct times one = import_many(client, get_one_by_one);
		struct times together = import_many(client, get_together);

		get[0][i] = together.get * 1e3;
		get[1][i] = one.get * 1e3;
		import[0][i] = together.import * 1e3;
		import[1][i] = one.import * 1e3;
	}
	print_many("descriptors", get[0], get[1]);
	print_many("imports", import[0], import[1]);
}

/* --- lengths of the frames -------------------------------------------------------------------- */

static size_t frame_len(const struct dpumap_msg *msg)
{
	static uint8_t buf[DPUMAP_FRAME_MAX];
	struct dpumap_error error;
	size_t len;

	must(!dpumap_msg_encode(msg, buf, sizeof(buf), &len, &error), "a message");
	return DPUMAP_FRAME_HEADER + len;
}

static void measure_frames(void)
{
	struct dpumap_export_info info = {.kind = "dram", .size = 4096, .access = 0x21};
	struct dpumap_msg msg;
	uint8_t bytes[80] = {0};

	snprintf(info.name, sizeof(info.name), "%s", name);
	dpumap_msg_init(&msg);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, 1000);
	dpumap_msg_set_text(&msg, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_GET));
	dpumap_msg_set_text(&msg, DPUMAP_MSG_NAME, name);
	request_len = frame_len(&msg);
	dpumap_msg_init(&msg);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, 1000);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_STATUS, 0);
	dpumap_msg_add_export(&msg, &info);
	dpumap_msg_set_bytes(&msg, DPUMAP_MSG_DESCRIPTOR, bytes, sizeof(bytes));
	reply_len = frame_len(&msg);
}

static void open_device(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5dv_pd pd = {0};
	struct mlx5dv_obj obj = {.pd.out = &pd};
	struct doca_devinfo **infos;
	uint32_t num;

	verbs = list && list[0] ? mlx5dv_open_device(list[0], &attr) : NULL;
	must(verbs, "opening a device");
	ibv_free_device_list(list);
	obj.pd.in = ibv_alloc_pd(verbs);
	must(obj.pd.in && !mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), "a protection domain");
	pdn = pd.pdn;
	must(!doca_devinfo_create_list(&infos, &num) && num && !doca_dev_open(infos[0], &dev),
	     "opening a device");
	doca_devinfo_destroy_list(infos);
}

static void run_one(const char *kind, unsigned long times, SSL_CTX *ctx)
{
	struct client client = {0}, ours = {0};

	/* The bare import needs a descriptor, too. */
	open_ours(&ours);
	if (strcmp(kind, "bare") == 0)
		open_bare(&client, ctx);
	for (unsigned long i = 0; i < times; i++)
		client.ssl ? import_bare(&client) : import_ours(&ours);
	dpumap_channel_destroy(ours.channel);
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure_wait(double seconds)
{
	double *waits = calloc(WAITS, sizeof(*waits)), end;
	struct client client = {0};
	size_t n = 0;

	must(waits, "memory");
	open_ours(&client);
	for (end = bench_now() + seconds; n < WAITS && bench_now() < end; n++)
		waits[n] = import_ours(&client) * 1e3;
	must(n, "an import");
	qsort(waits, n, sizeof(*waits), compare_times);
	printf("%.3f %.3f %.3f\n", waits[n / 2], waits[n * 99 / 100], waits[n - 1]);
	free(waits);
	dpumap_channel_destroy(client.channel);
}

static void compare(SSL_CTX *ctx)
{
	static struct client ours[CLIENTS], bare[CLIENTS];

	for (size_t i = 0; i < CLIENTS; i++) {
		open_ours(&ours[i]);
		open_bare(&bare[i], ctx);
	}
	measure_one(&ours[0], &bare[0]);
	measure_together(&ours[0]);
	compare_many(ours, bare, SECONDS);
	for (size_t i = 0; i < CLIENTS; i++)
		dpumap_channel_destroy(ours[i].channel);
}

int main(int argc, char **argv)
{
	SSL_CTX *ctx;
	pid_t server;

	if (argc < 5)
		return 2;
	address = argv[1];
	cert = argv[2];
	ca = argv[3];
	name = argv[4];
	signal(SIGPIPE, SIG_IGN);
	measure_frames();
	server = start_bare_server();
	open_device();
	ctx = make_context(TLS_client_method());
	if (argc == 7 && strcmp(argv[5], "wait") == 0)
		measure_wait(strtod(argv[6], NULL));
	else if (argc == 7)
		run_one(argv[5], strtoul(argv[6], NULL, 10), ctx);
	else
		compare(ctx);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return 0;
}
