/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_aes_gcm: what the engine of a card does, judged by OpenSSL, what it refuses, and the keys. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include <doca_aes_gcm.h>
#include <dpumap/mmap.h>

#include "base/array.h"
#include "copies.h"
#include "tasks.h"

#define NUM	    8u
#define PATIENCE_MS 60000
#define IV_LEN	    12u

enum kind { ENCRYPT, DECRYPT };

static struct aes_gcm {
	struct doca_aes_gcm *aes_gcm;
	struct doca_ctx *ctx;
	struct doca_aes_gcm_key *keys[2]; /* of 128 and of 256 bits */
	unsigned int num_done, num_failed;
	struct doca_task *last;
	doca_error_t last_error;
	uint64_t order[2 * NUM];
} c;

static const union doca_data no_data;
static const uint8_t raw_key[32] = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c,
				    0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
				    1,	  2,	3,    4,    5,	  6,	7,    8};
static const uint8_t iv[IV_LEN] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce,
				   0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const enum doca_aes_gcm_key_type types[2] = {DOCA_AES_GCM_KEY_128, DOCA_AES_GCM_KEY_256};

/* The logarithm of the longest source; 0: the card has no such engine. Hardware is asked for it. */
static unsigned int log_max;

static void needs_engine(void)
{
	if (!log_max)
		test_lacks("the card has no engine for AES-GCM");
}

/* --- the fixture ------------------------------------------------------------------------------ */

static void on_done(struct doca_task *task, union doca_data data)
{
	c.order[(c.num_done + c.num_failed) % ARRAY_SIZE(c.order)] = data.u64;
	c.num_done++;
	c.last = task;
	c.last_error = doca_task_get_status(task);
	assert_ok(c.last_error);
}

static void on_failed(struct doca_task *task, union doca_data data)
{
	c.order[(c.num_done + c.num_failed) % ARRAY_SIZE(c.order)] = data.u64;
	c.num_failed++;
	c.last = task;
	c.last_error = doca_task_get_status(task);
	assert_int_not_equal(c.last_error, DOCA_SUCCESS);
}

#define KIND(name)                                                                                 \
	static void name##_done(struct doca_aes_gcm_task_##name *task, union doca_data data,       \
				union doca_data ctx_data)                                          \
	{                                                                                          \
		assert_ptr_equal(ctx_data.ptr, &c);                                                \
		on_done(doca_aes_gcm_task_##name##_as_task(task), data);                           \
	}                                                                                          \
	static void name##_failed(struct doca_aes_gcm_task_##name *task, union doca_data data,     \
				  union doca_data ctx_data)                                        \
	{                                                                                          \
		assert_ptr_equal(ctx_data.ptr, &c);                                                \
		on_failed(doca_aes_gcm_task_##name##_as_task(task), data);                         \
	}                                                                                          \
	static doca_error_t name##_set_conf(uint32_t num)                                          \
	{                                                                                          \
		return doca_aes_gcm_task_##name##_set_conf(c.aes_gcm, name##_done, name##_failed,  \
							   num);                                   \
	}                                                                                          \
	static doca_error_t name##_alloc(const struct doca_buf *src, struct doca_buf *dst,         \
					 struct doca_aes_gcm_key *key, uint32_t tag, uint32_t aad, \
					 union doca_data data, struct doca_task **task)            \
	{                                                                                          \
		struct doca_aes_gcm_task_##name *allocated = NULL;                                 \
		doca_error_t result = doca_aes_gcm_task_##name##_alloc_init(                       \
			c.aes_gcm, src, dst, key, iv, IV_LEN, tag, aad, data, &allocated);         \
                                                                                                   \
		if (result == DOCA_SUCCESS)                                                        \
			*task = doca_aes_gcm_task_##name##_as_task(allocated);                     \
		return result;                                                                     \
	}

KIND(encrypt)
KIND(decrypt)

static const struct {
	doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);
	doca_error_t (*has_tag_96)(const struct doca_devinfo *devinfo);
	doca_error_t (*has_tag_128)(const struct doca_devinfo *devinfo);
	doca_error_t (*has_key_type)(const struct doca_devinfo *devinfo,
				     enum doca_aes_gcm_key_type type);
	doca_error_t (*get_max_iv)(const struct doca_devinfo *devinfo, uint32_t *len);
	doca_error_t (*get_max_size)(const struct doca_devinfo *devinfo, uint64_t *size);
	doca_error_t (*get_max_list)(const struct doca_devinfo *devinfo, uint32_t *len);
	doca_error_t (*set_conf)(uint32_t num);
	doca_error_t (*alloc)(const struct doca_buf *src, struct doca_buf *dst,
			      struct doca_aes_gcm_key *key, uint32_t tag, uint32_t aad,
			      union doca_data data, struct doca_task **task);
} kinds[] = {
#define ROW(name)                                                                                  \
	{                                                                                          \
		doca_aes_gcm_cap_task_##name##_is_supported,                                       \
			doca_aes_gcm_cap_task_##name##_is_tag_96_supported,                        \
			doca_aes_gcm_cap_task_##name##_is_tag_128_supported,                       \
			doca_aes_gcm_cap_task_##name##_is_key_type_supported,                      \
			doca_aes_gcm_cap_task_##name##_get_max_iv_len,                             \
			doca_aes_gcm_cap_task_##name##_get_max_buf_size,                           \
			doca_aes_gcm_cap_task_##name##_get_max_list_buf_num_elem, name##_set_conf, \
			name##_alloc                                                               \
	}
	[ENCRYPT] = ROW(encrypt),
	[DECRYPT] = ROW(decrypt),
};

static int open_aes_gcm(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	if (tasks_open(state))
		return -1;
	memset(&c, 0, sizeof(c));
	if (!log_max)
		return 0;
	result = doca_aes_gcm_create(tasks.dev, &c.aes_gcm);
	if (result != DOCA_SUCCESS)
		return -1;
	c.ctx = doca_aes_gcm_as_ctx(c.aes_gcm);
	result = doca_pe_connect_ctx(tasks.pe, c.ctx);
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(c.ctx, (union doca_data){.ptr = &c}));
	for (unsigned int i = 0; i < 2; i++) {
		DOCA_ERROR_PROPAGATE(result, kinds[i].set_conf(NUM));
		DOCA_ERROR_PROPAGATE(
			result, doca_aes_gcm_key_create(c.aes_gcm, raw_key, types[i], &c.keys[i]));
	}
	return result == DOCA_SUCCESS ? 0 : -1;
}

static enum doca_ctx_states state_of(void)
{
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(c.ctx, &now));
	return now;
}

static void stop(void)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	(void)doca_ctx_stop(c.ctx);
	while (state_of() != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
}

static int close_aes_gcm(void **state)
{
	if (c.aes_gcm) {
		stop();
		for (unsigned int i = 0; i < 2; i++)
			if (c.keys[i] && doca_aes_gcm_key_destroy(c.keys[i]))
				return -1;
		if (doca_aes_gcm_destroy(c.aes_gcm))
			return -1;
	}
	return tasks_close(state);
}

static void start(void)
{
	assert_ok(doca_ctx_start(c.ctx));
}

static void wait_for(unsigned int num)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	while (c.num_done + c.num_failed < num) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(c.num_done + c.num_failed, num);
}

static void fill(size_t len)
{
	uint32_t random = 7;

	for (size_t i = 0; i < len; i++) {
		random = random * 1103515245 + 12345;
		tasks.bytes[i] = (uint8_t)(random >> 16);
	}
}

static struct doca_buf *source(const uint8_t *bytes, size_t len)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, tasks.mmap, (void *)bytes,
						     len, &buf));
	return buf;
}

static struct doca_buf *room(uint8_t *bytes, size_t len)
{
	struct doca_buf *buf;

	assert_ok(
		doca_buf_inventory_buf_get_by_addr(tasks.inventory, tasks.mmap, bytes, len, &buf));
	return buf;
}

/* What a task is about. */
struct job {
	enum kind kind;
	unsigned int key; /* of c.keys */
	uint32_t tag, aad;
	size_t text;
};

static size_t in_len(const struct job *j)
{
	return j->aad + j->text + (j->kind == DECRYPT ? j->tag : 0);
}

static size_t out_len(const struct job *j)
{
	return j->aad + j->text + (j->kind == ENCRYPT ? j->tag : 0);
}

static struct doca_task *alloc(const struct job *j, const struct doca_buf *src,
			       struct doca_buf *dst)
{
	struct doca_task *task = NULL;

	assert_ok(kinds[j->kind].alloc(src, dst, c.keys[j->key], j->tag, j->aad, no_data, &task));
	return task;
}

/* Run a task with exactly as much room as it needs, or 1 byte. Returns how many bytes it has produced. */
static size_t run(const struct job *j, const uint8_t *in, uint8_t *out, doca_error_t wanted)
{
	struct doca_buf *src = source(in, in_len(j)), *dst = room(out, out_len(j) ? out_len(j) : 1);
	struct doca_task *task = alloc(j, src, dst);
	size_t len = 77;

	c.num_done = c.num_failed = 0;
	assert_ok(doca_task_submit(task));
	wait_for(1);
	assert_ptr_equal(c.last, task);
	assert_error(c.last_error, wanted);
	assert_int_equal(c.num_failed, wanted != DOCA_SUCCESS);
	assert_ok(doca_buf_get_data_len(dst, &len));
	doca_task_free(task);
	tasks_drop(src);
	tasks_drop(dst);
	return len;
}

/* What OpenSSL makes of the additional data and the text. */
static void seal(const struct job *j, const uint8_t *from, uint8_t *to)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n;

	assert_non_null(ctx);
	assert_true(EVP_EncryptInit_ex(ctx, j->key ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), NULL,
				       raw_key, iv));
	if (j->aad)
		assert_true(EVP_EncryptUpdate(ctx, NULL, &n, from, (int)j->aad));
	memcpy(to, from, j->aad);
	if (j->text)
		assert_true(EVP_EncryptUpdate(ctx, to + j->aad, &n, from + j->aad, (int)j->text));
	assert_true(EVP_EncryptFinal_ex(ctx, to, &n));
	assert_true(
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, (int)j->tag, to + j->aad + j->text));
	EVP_CIPHER_CTX_free(ctx);
}

/* --- capabilities ----------------------------------------------------------------------------- */

static void capabilities_are_those_of_the_card(void **state)
{
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(tasks.dev);
	const doca_error_t wanted = log_max ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
	struct doca_aes_gcm *none = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t iv_len = 77, list = 77;
		uint64_t size = 77;

		assert_error(kinds[i].is_supported(devinfo), wanted);
		assert_error(kinds[i].has_tag_96(devinfo), wanted);
		assert_error(kinds[i].has_tag_128(devinfo), wanted);
		assert_error(kinds[i].has_key_type(devinfo, DOCA_AES_GCM_KEY_128), wanted);
		assert_error(kinds[i].has_key_type(devinfo, DOCA_AES_GCM_KEY_256), wanted);
		assert_error(kinds[i].get_max_iv(devinfo, &iv_len), wanted);
		assert_error(kinds[i].get_max_size(devinfo, &size), wanted);
		assert_error(kinds[i].get_max_list(devinfo, &list), wanted);
		assert_int_equal(iv_len, log_max ? IV_LEN : 77);
		assert_int_equal(size, log_max ? 1u << log_max : 77);
		assert_int_equal(list, log_max ? 1 : 77);
	}
	if (!log_max)
		assert_error(doca_aes_gcm_create(tasks.dev, &none), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_aes_gcm_create(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_create(tasks.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
}

static void arguments_that_are_null_are_refused(void **state)
{
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(tasks.dev);
	uint32_t u32;
	uint64_t u64;

	for (unsigned int i = 0; i < 2; i++) {
		assert_error(kinds[i].is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].has_tag_96(NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].has_tag_128(NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].has_key_type(NULL, DOCA_AES_GCM_KEY_128),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].get_max_iv(NULL, &u32), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].get_max_iv(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].get_max_size(NULL, &u64), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].get_max_size(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].get_max_list(NULL, &u32), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[i].get_max_list(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
	}
	assert_error(doca_aes_gcm_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_key_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_cap_get_max_num_tasks(NULL, &u32), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_aes_gcm_as_ctx(NULL));
	assert_null(doca_aes_gcm_task_encrypt_as_task(NULL));
	assert_null(doca_aes_gcm_task_decrypt_as_task(NULL));
	assert_error(doca_aes_gcm_task_encrypt_alloc_init(NULL, NULL, NULL, NULL, NULL, 0, 0, 0,
							  no_data, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	needs_engine();
	assert_error(doca_aes_gcm_cap_get_max_num_tasks(c.aes_gcm, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_task_encrypt_set_conf(c.aes_gcm, NULL, encrypt_failed, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_task_decrypt_set_conf(c.aes_gcm, decrypt_done, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
}

static void tasks_of_both_kinds_share_a_maximum(void **state)
{
	uint32_t max = 0;

	needs_engine();
	assert_ok(doca_aes_gcm_cap_get_max_num_tasks(c.aes_gcm, &max));
	assert_in_range(max, 128, 8192);
	assert_error(kinds[ENCRYPT].set_conf(0), DOCA_ERROR_INVALID_VALUE);
	assert_error(kinds[ENCRYPT].set_conf(max - NUM + 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(kinds[ENCRYPT].set_conf(max - NUM));
	start();
	assert_error(kinds[ENCRYPT].set_conf(1), DOCA_ERROR_BAD_STATE);
}

static void a_context_without_tasks_does_not_start(void **state)
{
	struct doca_aes_gcm *idle;

	needs_engine();
	assert_ok(doca_aes_gcm_create(tasks.dev, &idle));
	assert_ok(doca_pe_connect_ctx(tasks.pe, doca_aes_gcm_as_ctx(idle)));
	assert_error(doca_ctx_start(doca_aes_gcm_as_ctx(idle)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_aes_gcm_destroy(idle));
}

/* --- keys ------------------------------------------------------------------------------------- */

static void keys_have_one_of_two_lengths(void **state)
{
	struct doca_aes_gcm_key *key = NULL;

	needs_engine();
	for (int type = 0; type <= 3; type += 3) {
		assert_error(doca_aes_gcm_key_create(c.aes_gcm, raw_key,
						     (enum doca_aes_gcm_key_type)type, &key),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[ENCRYPT].has_key_type(doca_dev_as_devinfo(tasks.dev),
							 (enum doca_aes_gcm_key_type)type),
			     DOCA_ERROR_INVALID_VALUE);
	}
	assert_error(doca_aes_gcm_key_create(NULL, raw_key, DOCA_AES_GCM_KEY_128, &key),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_key_create(c.aes_gcm, NULL, DOCA_AES_GCM_KEY_128, &key),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_key_create(c.aes_gcm, raw_key, DOCA_AES_GCM_KEY_128, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(key);
}

static const uint8_t inverted_key[32] = {
	0x5a, 0x91, 0x0f, 0xc3, 0x77, 0x2e, 0xe8, 0x14, 0xb9, 0x60, 0xd4,
	0x3b, 0x82, 0xf6, 0x1d, 0xaa, 0x45, 0x98, 0x27, 0xec, 0x03, 0x7f,
	0xb1, 0x5c, 0xde, 0x69, 0x30, 0x8b, 0xf2, 0x16, 0xc7, 0x4d,
};

/* The caller wipes its own copy. */
static void create_key(void *key)
{
	uint8_t raw[32];

	for (unsigned int i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)~inverted_key[i];
	doca_aes_gcm_key_create(c.aes_gcm, raw, DOCA_AES_GCM_KEY_256, key);
	explicit_bzero(raw, sizeof(raw));
}

static void the_library_keeps_no_copy_of_a_key(void **state)
{
	struct doca_aes_gcm_key *key = NULL;
	uint8_t raw[32];
	int found;

	(void)state;
	needs_engine();
	for (unsigned int i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)~inverted_key[i];
	found = copies_count(getpid(), inverted_key, sizeof(inverted_key));
	if (found < 0)
		test_lacks("the memory of the process may not be read here");
	assert_int_equal(found, 1);
	explicit_bzero(raw, sizeof(raw));
	found = copies_left_by(create_key, &key, inverted_key, sizeof(inverted_key));
	assert_non_null(key);
	assert_int_equal(found, 0);
	assert_ok(doca_aes_gcm_key_destroy(key));
}

static void an_object_with_keys_is_in_use(void **state)
{
	needs_engine();
	for (unsigned int i = 0; i < 2; i++) {
		assert_error(doca_aes_gcm_destroy(c.aes_gcm), DOCA_ERROR_IN_USE);
		assert_ok(doca_aes_gcm_key_destroy(c.keys[i]));
		c.keys[i] = NULL;
	}
	assert_ok(doca_aes_gcm_destroy(c.aes_gcm));
	c.aes_gcm = NULL;
}

static void an_active_object_is_in_use(void **state)
{
	needs_engine();
	for (unsigned int i = 0; i < 2; i++) {
		assert_ok(doca_aes_gcm_key_destroy(c.keys[i]));
		c.keys[i] = NULL;
	}
	start();
	assert_error(doca_aes_gcm_destroy(c.aes_gcm), DOCA_ERROR_IN_USE);
}

static void a_key_of_tasks_in_flight_is_in_use(void **state)
{
	const struct job j = {ENCRYPT, 0, 16, 0, 1000};
	struct doca_buf *src, *dst;
	struct doca_task *all[2];

	needs_engine();
	start();
	src = source(tasks.bytes, 1000);
	dst = room(tasks.bytes + TASKS_LEN, TASKS_LEN);
	for (unsigned int i = 0; i < 2; i++) {
		all[i] = alloc(&j, src, dst);
		assert_ok(doca_task_submit_ex(all[i], DOCA_TASK_SUBMIT_FLAG_NONE));
	}
	/* Another key for the next run does not release this one. */
	doca_aes_gcm_task_encrypt_set_key((struct doca_aes_gcm_task_encrypt *)all[0], c.keys[1]);
	assert_error(doca_aes_gcm_key_destroy(c.keys[0]), DOCA_ERROR_IN_USE);
	doca_ctx_flush_tasks(c.ctx);
	wait_for(2);
	assert_ok(doca_aes_gcm_key_destroy(c.keys[0]));
	c.keys[0] = NULL;
	for (unsigned int i = 0; i < 2; i++)
		doca_task_free(all[i]);
	tasks_drop(src);
	tasks_drop(dst);
}

/* --- what the engine does --------------------------------------------------------------------- */

static size_t longest(void)
{
	return log_max < 19 ? (size_t)1 << log_max : TASKS_LEN / 2;
}

/* The jobs of both tests below. */
static bool next_job(struct job *j, enum kind kind)
{
	static const size_t texts[] = {0, 1, 16, 1000, 65537};
	static const uint32_t aads[] = {0, 1, 20, 4096};
	static unsigned int i;

	while (i < ARRAY_SIZE(texts) * ARRAY_SIZE(aads) * 4) {
		unsigned int at = i++;

		*j = (struct job){kind, at & 1, at & 2 ? 12 : 16, aads[at / 4 % ARRAY_SIZE(aads)],
				  texts[at / 4 / ARRAY_SIZE(aads)]};
		if (in_len(j) && j->aad + j->text + j->tag <= longest())
			return true;
	}
	i = 0;
	return false;
}

static void openssl_encrypts_the_same(void **state)
{
	uint8_t *out = tasks.bytes + TASKS_LEN, *expected = tasks.bytes + TASKS_LEN / 2;
	struct job j;

	needs_engine();
	start();
	fill(TASKS_LEN / 2);
	while (next_job(&j, ENCRYPT)) {
		seal(&j, tasks.bytes, expected);
		assert_int_equal(run(&j, tasks.bytes, out, DOCA_SUCCESS), out_len(&j));
		assert_memory_equal(out, expected, out_len(&j));
	}
}

static void what_openssl_encrypted_is_decrypted(void **state)
{
	uint8_t *out = tasks.bytes + TASKS_LEN / 2, *sealed = tasks.bytes + TASKS_LEN;
	struct job j;

	needs_engine();
	start();
	fill(TASKS_LEN / 2);
	while (next_job(&j, DECRYPT)) {
		seal(&j, tasks.bytes, sealed);
		assert_int_equal(run(&j, sealed, out, DOCA_SUCCESS), out_len(&j));
		assert_memory_equal(out, tasks.bytes, out_len(&j));
	}
}

static void the_longest_source_is_encrypted(void **state)
{
	const struct job j = {ENCRYPT, 1, 16, 20, longest() - 20};
	uint8_t *expected = tasks.bytes + TASKS_LEN / 2, *out = expected + TASKS_LEN / 2 + 64;

	needs_engine();
	start();
	fill(longest());
	assert_int_equal(run(&j, tasks.bytes, out, DOCA_SUCCESS), longest() + 16);
	seal(&j, tasks.bytes, expected);
	assert_memory_equal(out, expected, longest() + 16);
}

static void a_text_is_encrypted_where_it_is(void **state)
{
	struct job j = {ENCRYPT, 0, 12, 13, 5000};

	needs_engine();
	start();
	fill(6000);
	seal(&j, tasks.bytes, tasks.bytes + TASKS_LEN);
	assert_int_equal(run(&j, tasks.bytes, tasks.bytes, DOCA_SUCCESS), out_len(&j));
	assert_memory_equal(tasks.bytes, tasks.bytes + TASKS_LEN, out_len(&j));
	j.kind = DECRYPT;
	assert_int_equal(run(&j, tasks.bytes, tasks.bytes, DOCA_SUCCESS), out_len(&j));
	memcpy(tasks.bytes + TASKS_LEN, tasks.bytes, out_len(&j));
	fill(6000);
	assert_memory_equal(tasks.bytes, tasks.bytes + TASKS_LEN, out_len(&j));
}

/* Programs leave room for a header, keep their task, and give it other values. */
static void results_are_appended_and_tasks_used_again(void **state)
{
	struct job j = {ENCRYPT, 0, 16, 20, 100};
	uint8_t *out = tasks.bytes + TASKS_LEN, *expected = tasks.bytes + TASKS_LEN / 2;
	struct doca_aes_gcm_task_encrypt *task;
	struct doca_buf *src, *dst, *other;
	uint32_t len = 0;
	size_t data_len;

	needs_engine();
	start();
	fill(1000);
	src = source(tasks.bytes, 120);
	dst = room(out, 5000);
	other = room(out + 5000, 5000);
	assert_ok(doca_buf_set_data(dst, out + 2, 3));
	assert_ok(doca_aes_gcm_task_encrypt_alloc_init(c.aes_gcm, NULL, NULL, NULL, NULL, 0, 0, 0,
						       no_data, &task));
	doca_aes_gcm_task_encrypt_set_src(task, src);
	doca_aes_gcm_task_encrypt_set_dst(task, dst);
	doca_aes_gcm_task_encrypt_set_key(task, c.keys[0]);
	doca_aes_gcm_task_encrypt_set_iv(task, iv, IV_LEN);
	doca_aes_gcm_task_encrypt_set_tag_size(task, 16);
	doca_aes_gcm_task_encrypt_set_aad_size(task, 20);
	assert_ptr_equal(doca_aes_gcm_task_encrypt_get_src(task), src);
	assert_ptr_equal(doca_aes_gcm_task_encrypt_get_dst(task), dst);
	assert_ptr_equal(doca_aes_gcm_task_encrypt_get_key(task), c.keys[0]);
	assert_int_equal(doca_aes_gcm_task_encrypt_get_tag_size(task), 16);
	assert_int_equal(doca_aes_gcm_task_encrypt_get_aad_size(task), 20);
	assert_memory_equal(doca_aes_gcm_task_encrypt_get_iv(task, &len), iv, IV_LEN);
	assert_int_equal(len, IV_LEN);
	seal(&j, tasks.bytes, expected);
	for (unsigned int i = 1; i <= 2; i++) {
		assert_ok(doca_task_submit(doca_aes_gcm_task_encrypt_as_task(task)));
		wait_for(i);
		assert_ok(doca_buf_get_data_len(dst, &data_len));
		assert_int_equal(data_len, 3 + i * 136);
		assert_memory_equal(out + 5 + (i - 1) * 136, expected, 136);
	}
	doca_aes_gcm_task_encrypt_set_dst(task, other);
	doca_aes_gcm_task_encrypt_set_key(task, c.keys[1]);
	doca_aes_gcm_task_encrypt_set_aad_size(task, 0);
	assert_ok(doca_task_submit(doca_aes_gcm_task_encrypt_as_task(task)));
	wait_for(3);
	j = (struct job){ENCRYPT, 1, 16, 0, 120};
	seal(&j, tasks.bytes, expected);
	assert_memory_equal(out + 5000, expected, 136);
	doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
	tasks_drop(src);
	tasks_drop(dst);
	tasks_drop(other);
}

/* All tasks in flight, of both kinds, with one doorbell. */
static void tasks_complete_in_their_order(void **state)
{
	const struct job jobs[2] = {{ENCRYPT, 0, 16, 0, 20000}, {DECRYPT, 1, 12, 8, 19992}};
	struct doca_task *all[2 * NUM];
	struct doca_buf *bufs[4 * NUM];

	needs_engine();
	start();
	fill(20000);
	seal(&jobs[1], tasks.bytes, tasks.bytes + TASKS_LEN);
	for (unsigned int i = 0; i < 2 * NUM; i++) {
		const struct job *j = &jobs[i & 1];

		bufs[2 * i] = source(tasks.bytes + (i & 1) * TASKS_LEN, in_len(j));
		bufs[2 * i + 1] = room(tasks.bytes + (size_t)20100 * (i + 1), out_len(j));
		assert_ok(kinds[j->kind].alloc(bufs[2 * i], bufs[2 * i + 1], c.keys[j->key], j->tag,
					       j->aad, (union doca_data){.u64 = i}, &all[i]));
		assert_ok(doca_task_submit_ex(all[i], DOCA_TASK_SUBMIT_FLAG_NONE));
	}
	doca_ctx_flush_tasks(c.ctx);
	wait_for(2 * NUM);
	for (unsigned int i = 0; i < 2 * NUM; i++) {
		assert_int_equal(c.order[i], i);
		if (i & 1)
			assert_memory_equal(tasks.bytes + (size_t)20100 * (i + 1), tasks.bytes,
					    20000);
		doca_task_free(all[i]);
		tasks_drop(bufs[2 * i]);
		tasks_drop(bufs[2 * i + 1]);
	}
}

static void an_event_tells_of_completions(void **state)
{
	const struct job j = {ENCRYPT, 0, 16, 0, longest()};
	struct pollfd handle = {.events = POLLIN};
	struct doca_buf *src, *dst;
	struct doca_task *task;

	needs_engine();
	start();
	assert_ok(doca_pe_get_notification_handle(tasks.pe, &handle.fd));
	src = source(tasks.bytes, in_len(&j));
	dst = room(tasks.bytes + TASKS_LEN, out_len(&j));
	task = alloc(&j, src, dst);
	assert_ok(doca_task_submit(task));
	while (!c.num_done) {
		assert_ok(doca_pe_request_notification(tasks.pe));
		assert_int_equal(poll(&handle, 1, PATIENCE_MS), 1);
		assert_ok(doca_pe_clear_notification(tasks.pe, 0));
		(void)doca_pe_progress(tasks.pe);
	}
	doca_task_free(task);
	tasks_drop(src);
	tasks_drop(dst);
}

/* --- data that are wrong: the task fails, and the context goes on ------------------------------ */

/* Nothing is appended, and none of the text is written. */
static void a_wrong_bit_fails_the_task_alone(void **state)
{
	struct job j = {DECRYPT, 1, 16, 20, 100000};
	uint8_t *sealed = tasks.bytes + TASKS_LEN, *out = tasks.bytes + TASKS_LEN / 2;
	const size_t at[] = {0, 20, 50000, 100019, 100020, 100035};

	needs_engine();
	start();
	if (in_len(&j) > longest())
		j.text = 1000;
	fill(out_len(&j));
	seal(&j, tasks.bytes, sealed);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		size_t bit = at[i] % in_len(&j);

		memset(out, 0xee, out_len(&j));
		sealed[bit] ^= 4;
		assert_int_equal(run(&j, sealed, out, DOCA_ERROR_IO_FAILED), 0);
		sealed[bit] ^= 4;
		assert_int_equal(state_of(), DOCA_CTX_STATE_RUNNING);
		for (size_t k = 0; k < out_len(&j); k++)
			assert_int_equal(out[k], 0xee);
	}
	assert_int_equal(run(&j, sealed, out, DOCA_SUCCESS), out_len(&j));
	assert_memory_equal(out, tasks.bytes, out_len(&j));
}

static void another_key_or_length_fails_the_task_alone(void **state)
{
	const struct job good = {DECRYPT, 1, 16, 20, 1000};
	uint8_t *sealed = tasks.bytes + TASKS_LEN, *out = tasks.bytes + TASKS_LEN / 2;
	struct job j = good;

	needs_engine();
	start();
	fill(2000);
	seal(&j, tasks.bytes, sealed);
	j.key = 0;
	assert_int_equal(run(&j, sealed, out, DOCA_ERROR_IO_FAILED), 0);
	j = good;
	j.aad++;
	j.text--;
	assert_int_equal(run(&j, sealed, out, DOCA_ERROR_IO_FAILED), 0);
	assert_int_equal(run(&good, sealed, out, DOCA_SUCCESS), 1020);
}

/* --- tasks that are wrong: refused ------------------------------------------------------------- */

static void refuse(struct doca_task *task, doca_error_t wanted)
{
	size_t inflight = 77;

	assert_error(doca_task_submit(task), wanted);
	assert_error(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_ctx_get_num_inflight_tasks(c.ctx, &inflight));
	assert_int_equal(inflight, 0);
}

/* A task of a source of 100 bytes with 20 of additional data, and just enough room. */
static struct doca_aes_gcm_task_encrypt *good_task(struct doca_buf *src, struct doca_buf *dst)
{
	const struct job j = {ENCRYPT, 0, 16, 20, 80};

	return (struct doca_aes_gcm_task_encrypt *)alloc(&j, src, dst);
}

static void an_iv_has_12_bytes(void **state)
{
	struct doca_buf *src, *dst;
	struct doca_aes_gcm_task_encrypt *task;
	uint8_t long_iv[16] = {0};

	needs_engine();
	start();
	src = source(tasks.bytes, 100);
	dst = room(tasks.bytes + TASKS_LEN, 116);
	task = good_task(src, dst);
	for (uint32_t len = 0; len <= sizeof(long_iv); len++) {
		doca_aes_gcm_task_encrypt_set_iv(task, long_iv, len);
		if (len != IV_LEN)
			refuse(doca_aes_gcm_task_encrypt_as_task(task), DOCA_ERROR_INVALID_VALUE);
	}
	doca_aes_gcm_task_encrypt_set_iv(task, NULL, IV_LEN);
	refuse(doca_aes_gcm_task_encrypt_as_task(task), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
	tasks_drop(src);
	tasks_drop(dst);
}

static void a_tag_has_12_or_16_bytes(void **state)
{
	struct doca_buf *src, *dst;
	struct doca_aes_gcm_task_encrypt *task;

	needs_engine();
	start();
	src = source(tasks.bytes, 100);
	dst = room(tasks.bytes + TASKS_LEN, 200);
	task = good_task(src, dst);
	for (uint32_t len = 0; len <= 20; len++) {
		doca_aes_gcm_task_encrypt_set_tag_size(task, len);
		if (len != 12 && len != 16)
			refuse(doca_aes_gcm_task_encrypt_as_task(task), DOCA_ERROR_INVALID_VALUE);
	}
	doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
	tasks_drop(src);
	tasks_drop(dst);
}

static void a_task_needs_a_key_of_its_own_context(void **state)
{
	struct doca_aes_gcm_task_encrypt *task;
	struct doca_aes_gcm_key *foreign;
	struct doca_buf *src, *dst;
	struct doca_aes_gcm *other;

	needs_engine();
	start();
	src = source(tasks.bytes, 100);
	dst = room(tasks.bytes + TASKS_LEN, 116);
	task = good_task(src, dst);
	assert_ok(doca_aes_gcm_create(tasks.dev, &other));
	assert_ok(doca_aes_gcm_key_create(other, raw_key, DOCA_AES_GCM_KEY_128, &foreign));
	doca_aes_gcm_task_encrypt_set_key(task, foreign);
	refuse(doca_aes_gcm_task_encrypt_as_task(task), DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_key(task, NULL);
	refuse(doca_aes_gcm_task_encrypt_as_task(task), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_aes_gcm_key_destroy(foreign));
	assert_ok(doca_aes_gcm_destroy(other));
	doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
	tasks_drop(src);
	tasks_drop(dst);
}

static void bad_bufs_are_refused_when_they_are_submitted(void **state)
{
	struct doca_buf *src, *dst, *full, *second, *empty, *too_long;
	struct doca_aes_gcm_task_encrypt *task;
	struct doca_task *base;

	needs_engine();
	start();
	src = source(tasks.bytes, 100);
	dst = room(tasks.bytes + TASKS_LEN, 116);
	full = room(tasks.bytes + TASKS_LEN, 115);
	second = source(tasks.bytes + 200, 100);
	empty = room(tasks.bytes, 100);
	too_long = source(tasks.bytes, 2 * TASKS_LEN);
	task = good_task(NULL, dst);
	base = doca_aes_gcm_task_encrypt_as_task(task);
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_src(task, empty);
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_src(task, too_long);
	if (log_max < 21)
		refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_src(task, src);
	doca_aes_gcm_task_encrypt_set_dst(task, NULL);
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_dst(task, full);
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_dst(task, dst);
	doca_aes_gcm_task_encrypt_set_aad_size(task, 101);
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_aad_size(task, UINT32_MAX);
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_encrypt_set_aad_size(task, 20);
	assert_ok(doca_buf_chain_list(src, second));
	refuse(base, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(c.num_done + c.num_failed, 0);
	assert_int_equal(state_of(), DOCA_CTX_STATE_RUNNING);
	doca_task_free(base);
	tasks_drop(src); /* with the second one */
	tasks_drop(dst);
	tasks_drop(full);
	tasks_drop(too_long);
	tasks_drop(empty);
}

static void a_source_to_decrypt_has_a_tag(void **state)
{
	const struct job j = {DECRYPT, 0, 16, 20, 0};
	struct doca_buf *src, *dst;
	struct doca_task *task;

	needs_engine();
	start();
	src = source(tasks.bytes, 35);
	dst = room(tasks.bytes + TASKS_LEN, 100);
	task = alloc(&j, src, dst);
	refuse(task, DOCA_ERROR_INVALID_VALUE);
	doca_aes_gcm_task_decrypt_set_aad_size((struct doca_aes_gcm_task_decrypt *)task, 0);
	assert_ok(doca_buf_set_data(src, tasks.bytes, 15));
	refuse(task, DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
	tasks_drop(src);
	tasks_drop(dst);
}

/* --- memory of others ------------------------------------------------------------------------- */

static struct doca_mmap *export_all(uint32_t permissions)
{
	struct doca_mmap *exported;

	assert_ok(doca_mmap_create(&exported));
	assert_ok(doca_mmap_set_memrange(exported, tasks.bytes, TASKS_LEN));
	assert_ok(doca_mmap_add_dev(exported, tasks.dev));
	assert_ok(doca_mmap_set_permissions(exported, permissions));
	assert_ok(doca_mmap_start(exported));
	return exported;
}

static void an_import_without_the_right_is_no_destination(void **state)
{
	struct doca_mmap *exported, *peer;
	struct doca_buf *src, *dst;
	struct doca_task *task;

	needs_engine();
	start();
	exported = export_all(LOCAL_RW | PCI_RO);
	peer = fixture_import_pci(tasks.dev, exported);
	src = source(tasks.bytes + TASKS_LEN, 100);
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, peer,
						     tasks.bytes + TASKS_LEN / 2, 1000, &dst));
	task = doca_aes_gcm_task_encrypt_as_task(good_task(src, dst));
	refuse(task, DOCA_ERROR_NOT_PERMITTED);
	doca_task_free(task);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(peer));
	assert_ok(doca_mmap_destroy(exported));
}

/* The data of a DPU go to the host's memory without a copy. */
static void an_import_is_source_and_destination(void **state)
{
	const struct job j = {ENCRYPT, 0, 16, 20, 80};
	struct doca_mmap *exported, *peer;
	struct doca_buf *src, *dst;
	struct doca_task *task;

	needs_engine();
	start();
	fill(100);
	exported = export_all(LOCAL_RW | PCI_RW);
	peer = fixture_import_pci(tasks.dev, exported);
	assert_ok(
		doca_buf_inventory_buf_get_by_data(tasks.inventory, peer, tasks.bytes, 100, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, peer,
						     tasks.bytes + TASKS_LEN / 2, 1000, &dst));
	task = doca_aes_gcm_task_encrypt_as_task(good_task(src, dst));
	assert_ok(doca_task_submit(task));
	wait_for(1);
	assert_ok(c.last_error);
	seal(&j, tasks.bytes, tasks.bytes + TASKS_LEN);
	assert_memory_equal(tasks.bytes + TASKS_LEN / 2, tasks.bytes + TASKS_LEN, 116);
	/* Revoked: the device refuses it, and its queue has failed. */
	assert_ok(dpumap_mmap_revoke_pci(exported, tasks.dev));
	assert_ok(doca_task_submit(task));
	wait_for(2);
	assert_error(c.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(state_of(), DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	assert_int_equal(state_of(), DOCA_CTX_STATE_IDLE);
	/* The key is usable afterwards. */
	start();
	assert_int_equal(run(&j, tasks.bytes, tasks.bytes + TASKS_LEN, DOCA_SUCCESS), 116);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(peer));
	assert_ok(doca_mmap_destroy(exported));
}

static void all_tasks_of_a_kind_can_be_allocated(void **state)
{
	const struct job j = {DECRYPT, 0, 16, 0, 0}, other = {ENCRYPT, 0, 16, 0, 0};
	struct doca_task *all[NUM], *more = NULL;

	needs_engine();
	assert_error(kinds[DECRYPT].alloc(NULL, NULL, NULL, 16, 0, no_data, &more),
		     DOCA_ERROR_BAD_STATE);
	start();
	for (unsigned int i = 0; i < NUM; i++)
		all[i] = alloc(&j, NULL, NULL);
	assert_error(kinds[DECRYPT].alloc(NULL, NULL, NULL, 16, 0, no_data, &more),
		     DOCA_ERROR_NO_MEMORY);
	doca_task_free(alloc(&other, NULL, NULL));
	for (unsigned int i = 0; i < NUM; i++)
		doca_task_free(all[i]);
	assert_null(more);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_aes_gcm, close_aes_gcm)

static void ask(void)
{
	struct doca_dev *dev;
	uint64_t size;

	if (fixture_open_device(&dev))
		return;
	if (kinds[ENCRYPT].get_max_size(doca_dev_as_devinfo(dev), &size) == DOCA_SUCCESS)
		log_max = 63u - (unsigned int)__builtin_clzll(size);
	doca_dev_close(dev);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(capabilities_are_those_of_the_card),
		TEST(arguments_that_are_null_are_refused),
		TEST(tasks_of_both_kinds_share_a_maximum),
		TEST(a_context_without_tasks_does_not_start),
		TEST(keys_have_one_of_two_lengths),
		TEST(the_library_keeps_no_copy_of_a_key),
		TEST(an_object_with_keys_is_in_use),
		TEST(an_active_object_is_in_use),
		TEST(a_key_of_tasks_in_flight_is_in_use),
		TEST(openssl_encrypts_the_same),
		TEST(what_openssl_encrypted_is_decrypted),
		TEST(the_longest_source_is_encrypted),
		TEST(a_text_is_encrypted_where_it_is),
		TEST(results_are_appended_and_tasks_used_again),
		TEST(tasks_complete_in_their_order),
		TEST(an_event_tells_of_completions),
		TEST(a_wrong_bit_fails_the_task_alone),
		TEST(another_key_or_length_fails_the_task_alone),
		TEST(an_iv_has_12_bytes),
		TEST(a_tag_has_12_or_16_bytes),
		TEST(a_task_needs_a_key_of_its_own_context),
		TEST(bad_bufs_are_refused_when_they_are_submitted),
		TEST(a_source_to_decrypt_has_a_tag),
		TEST(an_import_without_the_right_is_no_destination),
		TEST(an_import_is_source_and_destination),
		TEST(all_tasks_of_a_kind_can_be_allocated),
	};

	test_parse_options(argc, argv);
	if (getenv("DPUMAP_TEST_LOG_CRYPTO"))
		log_max = (unsigned int)test_setting("DPUMAP_TEST_LOG_CRYPTO", 0);
	else
		ask();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
