/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Data encryption keys: which commands the firmware refuses and with which status, and that nothing of the emulator
 * shows a key. Fields have the names of DPDK's mlx5_prm.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "copies.h"
#include "devx_context.h"
#include "emulator.h"
#include "fixture.h"
#include "prm.h"

#define HEADER	    0x10u
#define CREATE_LEN  0x110u
#define QUERY_LEN   0x110u
#define CAPS_LEN    0x1010u
#define TYPE_DEK    0xcu
#define PURPOSE_GCM 5u
#define KEY	    (HEADER + 0x40) /* a byte */
#define KEY_LEN	    32u
#define LIM	    0x8
#define PATIENCE_MS 20000

/* In the context of a key, which follows the header. */
#define DEK_KEY_SIZE	AT(HEADER, 0x54, 4)
#define DEK_HAS_KEYTAG	AT(HEADER, 0x58, 1)
#define DEK_KEY_PURPOSE AT(HEADER, 0x5c, 4)
#define DEK_PD		AT(HEADER, 0x68, 24)
#define IN_RESERVED	0x60, 1

/* Capabilities, current: the general page and the one of encryption. */
#define OP_MOD_GENERAL	      0x1
#define OP_MOD_CRYPTO	      0x35
#define CAP_GENERAL_OBJ_TYPES AT(HEADER, 0x400, 64)
#define CAP_CRYPTO	      AT(HEADER, 0x469, 1)
#define CAP_LOG_MAX_DEK	      AT(HEADER, 0x5b3, 5)
#define CAP_LOG_MAX_NUM_DEKS  AT(HEADER, 0x2b, 5)
#define CAP_MMO_AND_GCM	      AT(HEADER, 0x100, 7) /* crypto_mmo_qp to gcm_auth_tag_96 */
#define CAP_LOG_MAX_SIZE      AT(HEADER, 0x10a, 6)

/* Inverted, so that no memory has a copy of the key but what is searched for. */
static const uint8_t inverted[KEY_LEN] = {
	0x81, 0x72, 0x23, 0x14, 0x95, 0x36, 0x47, 0x58, 0x79, 0x8a, 0x3b,
	0x4c, 0x5d, 0x9e, 0x6f, 0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76,
	0x87, 0x98, 0xa9, 0xba, 0xcb, 0xdc, 0xed, 0xfe, 0x0f, 0x1a,
};

struct bench {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t pdn;
	uint8_t in[CREATE_LEN], out[CAPS_LEN];
};

/* Does the card have the engine? By its capabilities, which tests compare with the profile. */
static bool has_engine;

static int setup(void **state)
{
	struct bench *b = test_calloc(1, sizeof(*b));
	struct mlx5dv_pd dv_pd;
	struct mlx5dv_obj obj = {0};

	b->context = open_devx();
	b->pd = ibv_alloc_pd(b->context);
	obj.pd.in = b->pd;
	obj.pd.out = &dv_pd;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	b->pdn = dv_pd.pdn;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	assert_int_equal(ibv_dealloc_pd(b->pd), 0);
	assert_int_equal(ibv_close_device(b->context), 0);
	test_free(b);
	return 0;
}

static void put_key(struct bench *b)
{
	for (unsigned int i = 0; i < KEY_LEN; i++)
		b->in[KEY + i] = (uint8_t)~inverted[i];
}

static void good_request(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	memset(b->out, 0, sizeof(b->out));
	prm_put(b->in, IN_OPCODE, CMD_CREATE_GENERAL_OBJECT);
	prm_put(b->in, IN_OBJ_TYPE, TYPE_DEK);
	prm_put(b->in, DEK_KEY_SIZE, 1);
	prm_put(b->in, DEK_KEY_PURPOSE, PURPOSE_GCM);
	prm_put(b->in, DEK_PD, b->pdn);
	put_key(b);
}

static struct mlx5dv_devx_obj *create_of(struct bench *b, size_t in_len)
{
	struct mlx5dv_devx_obj *obj =
		mlx5dv_devx_obj_create(b->context, b->in, in_len, b->out, HEADER);
	int err = errno;

	explicit_bzero(b->in, sizeof(b->in));
	errno = err;
	return obj;
}

static struct mlx5dv_devx_obj *create(struct bench *b)
{
	struct mlx5dv_devx_obj *obj;

	good_request(b);
	obj = create_of(b, sizeof(b->in));
	assert_non_null(obj);
	return obj;
}

static void destroy(struct mlx5dv_devx_obj *obj)
{
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
}

static void refuse_of(struct bench *b, size_t in_len, uint8_t status)
{
	assert_null(create_of(b, in_len));
	assert_int_equal(errno, EREMOTEIO);
	assert_int_equal(b->out[OUT_STATUS], status);
}

static void refuse(struct bench *b, unsigned int bit, unsigned int width, uint64_t value,
		   uint8_t status)
{
	good_request(b);
	prm_put(b->in, bit, width, value);
	refuse_of(b, sizeof(b->in), status);
}

static void read_caps(struct bench *b, uint16_t page)
{
	uint8_t in[HEADER] = {0};

	memset(b->out, 0, sizeof(b->out));
	prm_put(in, IN_OPCODE, CMD_QUERY_HCA_CAP);
	prm_put(in, IN_OP_MOD, page);
	assert_int_equal(mlx5dv_devx_general_cmd(b->context, in, sizeof(in), b->out, CAPS_LEN), 0);
}

/* --- what each card does ---------------------------------------------------------------------- */

/* DPDK's driver and the library ask for these. */
static void capabilities_agree(void **state)
{
	struct bench *b = *state;

	read_caps(b, OP_MOD_GENERAL);
	assert_int_equal(prm_get(b->out, CAP_CRYPTO), has_engine);
	assert_int_equal(prm_get(b->out, CAP_GENERAL_OBJ_TYPES) >> TYPE_DEK & 1, has_engine);
	assert_int_equal(prm_get(b->out, CAP_LOG_MAX_DEK), has_engine ? 10 : 0);
	read_caps(b, OP_MOD_CRYPTO);
	assert_int_equal(prm_get(b->out, CAP_MMO_AND_GCM), has_engine ? 0x7f : 0);
	assert_int_equal(prm_get(b->out, CAP_LOG_MAX_NUM_DEKS), has_engine ? 10 : 0);
	assert_int_equal(prm_get(b->out, CAP_LOG_MAX_SIZE), has_engine ? 21 : 0);
}

static void a_card_without_the_engine_has_no_keys(void **state)
{
	struct bench *b = *state;

	good_request(b);
	if (has_engine)
		destroy(create(b));
	else
		refuse_of(b, sizeof(b->in), BAD_OP);
}

/* --- what the firmware refuses ---------------------------------------------------------------- */

static void bad_keys_are_refused(void **state)
{
	struct bench *b = *state;

	if (!has_engine)
		test_lacks("the card has no engine for AES-GCM");
	good_request(b);
	refuse_of(b, CREATE_LEN - 4, BAD_INP_LEN);
	refuse(b, IN_RESERVED, 1, BAD_PARAM);
	refuse(b, DEK_HAS_KEYTAG, 1, BAD_PARAM);
	refuse(b, DEK_KEY_SIZE, 2, BAD_PARAM);
	for (uint64_t purpose = 0; purpose < 16; purpose++)
		if (purpose != PURPOSE_GCM)
			refuse(b, DEK_KEY_PURPOSE, purpose, BAD_PARAM);
	refuse(b, DEK_PD, 0xffffff, BAD_RES);
}

static void a_query_does_not_return_the_key(void **state)
{
	struct mlx5dv_devx_obj *obj;
	struct bench *b = *state;
	uint8_t in[HEADER] = {0};
	uint32_t number;

	if (!has_engine)
		test_lacks("the card has no engine for AES-GCM");
	obj = create(b);
	number = (uint32_t)prm_get(b->out, OUT_OBJ_ID);
	prm_put(in, IN_OPCODE, CMD_QUERY_GENERAL_OBJECT);
	prm_put(in, IN_OBJ_TYPE, TYPE_DEK);
	prm_put(in, IN_OBJ_ID, number);
	memset(b->out, 0, sizeof(b->out));
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), b->out, QUERY_LEN), 0);
	assert_int_equal(prm_get(b->out, OUT_OBJ_ID), number);
	assert_int_equal(prm_get(b->out, DEK_KEY_SIZE), 1);
	assert_int_equal(prm_get(b->out, DEK_KEY_PURPOSE), PURPOSE_GCM);
	assert_int_equal(prm_get(b->out, DEK_PD), b->pdn);
	for (unsigned int i = KEY; i < QUERY_LEN; i++)
		assert_int_equal(b->out[i], 0);
	/* Too short an answer, a reserved bit, another number, another type. */
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), b->out, QUERY_LEN - 4),
			 EREMOTEIO);
	assert_int_equal(b->out[OUT_STATUS], BAD_OUTP_LEN);
	prm_put(in, IN_RESERVED, 1);
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), b->out, QUERY_LEN), EREMOTEIO);
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
	prm_put(in, IN_RESERVED, 0);
	prm_put(in, IN_OBJ_ID, number + 1);
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), b->out, QUERY_LEN), EINVAL);
	prm_put(in, IN_OBJ_ID, number);
	prm_put(in, IN_OBJ_TYPE, 0xff01);
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), b->out, QUERY_LEN), EINVAL);
	destroy(obj);
}

static void a_domain_with_keys_is_busy(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *obj;

	if (!has_engine)
		test_lacks("the card has no engine for AES-GCM");
	obj = create(b);
	assert_int_equal(ibv_dealloc_pd(b->pd), EBUSY);
	destroy(obj);
}

static void a_card_has_as_many_keys_as_it_says(void **state)
{
	static struct mlx5dv_devx_obj *objs[1 << 10];
	struct bench *b = *state;

	if (!has_engine)
		test_lacks("the card has no engine for AES-GCM");
	for (size_t i = 0; i < ARRAY_SIZE(objs); i++)
		objs[i] = create(b);
	good_request(b);
	refuse_of(b, sizeof(b->in), LIM);
	for (size_t i = 0; i < ARRAY_SIZE(objs); i++)
		destroy(objs[i]);
	destroy(create(b));
}

/* --- secrets ---------------------------------------------------------------------------------- */

static pid_t server(void)
{
	const char *dir = getenv("DPUMAP_EMU_DIR");

	return dir ? emulator_server_of(dir) : -1;
}

static int count_in_server(void)
{
	int found = copies_count(server(), inverted, KEY_LEN);

	if (found < 0)
		test_lacks("the memory of the server may not be read here");
	return found;
}

static void the_server_has_one_copy_until_the_key_is_destroyed(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *obj;

	if (!has_engine)
		test_lacks("the card has no engine for AES-GCM");
	test_needs_emulator();
	assert_int_equal(count_in_server(), 0);
	obj = create(b);
	assert_int_equal(count_in_server(), 1);
	destroy(obj);
	assert_int_equal(count_in_server(), 0);
	/* Refused: the mailbox is wiped, too. */
	refuse(b, DEK_HAS_KEYTAG, 1, BAD_PARAM);
	assert_int_equal(count_in_server(), 0);
}

struct output {
	char bytes[1 << 16];
	size_t len;
};

/* Read until the text is there; false: it does not come. */
static bool read_until(int fd, struct output *o, const char *text)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	while (!memmem(o->bytes, o->len, text, strlen(text))) {
		if (poll(&p, 1, PATIENCE_MS) != 1)
			return false;
		n = read(fd, o->bytes + o->len, sizeof(o->bytes) - o->len);
		if (n <= 0)
			return false;
		o->len += (size_t)n;
	}
	return true;
}

/* As bytes, or as hexadecimal digits, of which eight are enough to know them. */
static void assert_no_key(const struct output *o)
{
	char hex[2 * KEY_LEN + 1];
	uint8_t key[KEY_LEN];

	for (unsigned int i = 0; i < KEY_LEN; i++) {
		key[i] = (uint8_t)~inverted[i];
		snprintf(hex + (size_t)2 * i, 3, "%02x", key[i]);
	}
	assert_null(memmem(o->bytes, o->len, key, 4));
	for (unsigned int i = 0; i + 4 <= KEY_LEN; i += 4)
		assert_null(memmem(o->bytes, o->len, hex + (size_t)2 * i, 8));
	explicit_bzero(key, sizeof(key));
}

static void read_all(const char *const argv[], struct output *o)
{
	ssize_t n;
	int from;
	pid_t pid = process_spawn(argv, NULL, &from);

	assert_true(pid > 0);
	o->len = 0;
	while ((n = read(from, o->bytes + o->len, sizeof(o->bytes) - o->len)) > 0)
		o->len += (size_t)n;
	close(from);
	assert_int_equal(process_exit_code(pid), 0);
	assert_true(o->len > 0);
}

static void nothing_shows_a_key(void **state)
{
	const char *const trace[] = {test_options.emu, "trace", NULL};
	const char *const status[] = {test_options.emu, "status", "--json", NULL};
	static struct output o;
	struct bench *b = *state;
	struct mlx5dv_devx_obj *obj;
	int from;
	pid_t tracer;

	if (!has_engine)
		test_lacks("the card has no engine for AES-GCM");
	test_needs_emulator();
	tracer = process_spawn(trace, NULL, &from);
	assert_true(tracer > 0);
	o.len = 0;
	/* Until a command of ours is in the trace, it has not begun. */
	do {
		read_caps(b, OP_MOD_GENERAL);
		usleep(10000);
	} while (poll(&(struct pollfd){.fd = from, .events = POLLIN}, 1, 0) != 1);
	obj = create(b);
	assert_true(read_until(from, &o, "dek.create"));
	assert_true(read_until(from, &o, "purpose=5 size=1"));
	assert_no_key(&o);
	read_all(status, &o);
	assert_non_null(memmem(o.bytes, o.len, "\"deks\"", 6));
	assert_no_key(&o);
	destroy(obj);
	assert_int_equal(kill(tracer, SIGTERM), 0);
	process_reap(tracer);
	close(from);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(capabilities_agree),
		TEST(a_card_without_the_engine_has_no_keys),
		TEST(bad_keys_are_refused),
		TEST(a_query_does_not_return_the_key),
		TEST(a_domain_with_keys_is_busy),
		TEST(a_card_has_as_many_keys_as_it_says),
		TEST(the_server_has_one_copy_until_the_key_is_destroyed),
		TEST(nothing_shows_a_key),
	};

	test_parse_options(argc, argv);
	has_engine = test_setting("DPUMAP_TEST_DEKS", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
