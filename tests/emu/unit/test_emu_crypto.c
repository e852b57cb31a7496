/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The encryption engine: published vectors, what OpenSSL encrypts and decrypts, what it refuses, and where its keys
 * are. A thread is the server, which has the keys.
 */
#include "engine_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/array.h"
#include "base/clock.h"
#include "emu/engine/fds.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/state.h"
#include "emu/ipc/codes.h"
#include "tests/integration/support/copies.h"

#define FUNC	   1
#define PD	   10
#define OTHER_PD   11
#define LOG_LIMIT  21
#define BIG	   (1u << LOG_LIMIT)
#define ROOM	   (BIG + 4096)
#define CRYPTO	   6u
#define ENCRYPT	   0u
#define DECRYPT	   1u
#define GCM	   3u

#define VENDOR	   0x9d
#define BAD_TAG	   0x12
#define TOO_LONG   0x84
#define UNTOUCHED  0xee

#define DEK_128	   1u
#define DEK_256	   2u
#define DEK_OTHERS 3u /* of another protection domain */
#define NO_DEK	   4u

/* Those of the vectors, inverted: memory has no copies of the keys but those of the engine. */
static const uint8_t inverted_keys[4][32] = {
	[DEK_128] = {0x01, 0x00, 0x16, 0x6d, 0x79, 0x9a, 0x8c, 0xe3, 0x92, 0x95, 0x70, 0x6b, 0x98,
		     0xcf, 0x7c, 0xf7},
	[DEK_256] = {0x01, 0x00, 0x16, 0x6d, 0x79, 0x9a, 0x8c, 0xe3, 0x92, 0x95, 0x70,
		     0x6b, 0x98, 0xcf, 0x7c, 0xf7, 0x01, 0x00, 0x16, 0x6d, 0x79, 0x9a,
		     0x8c, 0xe3, 0x92, 0x95, 0x70, 0x6b, 0x98, 0xcf, 0x7c, 0xf7},
	[DEK_OTHERS] = {1, 2, 3},
};

struct server {
	pthread_t thread;
	int fd[2];
	uint32_t slot;
	_Atomic uint32_t asked, mute;
	_Atomic uint32_t deks; /* a bit for each that was asked for */
};

struct rig {
	struct server server;
	struct fixture_cq cq;
	struct fixture_qp qp;
	uint8_t *src, *dst, *opaque; /* ROOM bytes, ROOM bytes and 64 bytes */
	uint32_t key;
};

static struct rig rig;

/* --- the server ------------------------------------------------------------------------------- */

static uint8_t bytes_of(uint32_t dek)
{
	return dek == DEK_256 ? 32 : 16;
}

static void raw_key(uint32_t dek, uint8_t out[static 32])
{
	for (unsigned int i = 0; i < 32; i++)
		out[i] = i < bytes_of(dek) ? (uint8_t)~inverted_keys[dek][i] : 0;
}

static void send_answer(const struct emu_note *note)
{
	struct emu_key_given given = {.qpn = note->number,
				      .qp_serial = note->serial,
				      .dek = note->event,
				      .serial = atomic_load(&fixture_tables->dek[note->event])};

	if (note->event < DEK_OTHERS) {
		given.bytes = bytes_of(note->event);
		raw_key(note->event, given.raw);
	}
	assert_int_equal(send(rig.server.fd[1], &given, sizeof(given), 0), sizeof(given));
	explicit_bzero(&given, sizeof(given));
}

static void answer(const struct emu_note *note)
{
	send_answer(note);
	fixture_announce(rig.server.slot);
}

static void *serve(void *unused)
{
	struct emu_note note;

	while (recv(rig.server.fd[1], &note, sizeof(note), 0) == sizeof(note)) {
		if (note.type != EMU_NOTE_KEY)
			continue;
		atomic_fetch_add(&rig.server.asked, 1);
		atomic_fetch_or(&rig.server.deks, 1u << note.event);
		if (!atomic_load(&rig.server.mute))
			answer(&note);
	}
	return unused;
}

static void start_server(void)
{
	static uint32_t serial = 100;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, rig.server.fd), 0);
	rig.server.slot = fixture_engine_start_on(rig.server.fd[0]);
	for (uint32_t dek = DEK_128; dek <= DEK_OTHERS; dek++)
		atomic_store(&fixture_tables->dek[dek], serial++);
	atomic_store(&rig.server.asked, 0);
	atomic_store(&rig.server.deks, 0);
	atomic_store(&rig.server.mute, 0);
	assert_int_equal(pthread_create(&rig.server.thread, NULL, serve, NULL), 0);
}

static void stop_server(void)
{
	fixture_engine_stop(rig.server.slot);
	shutdown(rig.server.fd[1], SHUT_RD); /* the thread may be sending */
	pthread_join(rig.server.thread, NULL);
	close(rig.server.fd[0]);
	close(rig.server.fd[1]);
}

static void add_queue_of(uint16_t func, uint32_t pd, struct fixture_qp *qp)
{
	fixture_qp_init(qp, rig.server.slot, func, pd, 16, &rig.cq, &rig.cq);
	qp->entry->mmo = (struct emu_mmo){
		.log_copy = LOG_LIMIT, .log_compress = LOG_LIMIT, .log_crypto = LOG_LIMIT};
	fixture_qp_connect(qp, qp);
}

static void add_queue(struct fixture_qp *qp)
{
	add_queue_of(FUNC, PD, qp);
}

static int setup(void **state)
{
	uint8_t *memory = fixture_alloc(2 * ROOM + 4096);

	(void)state;
	start_server();
	fixture_cq_init(&rig.cq, rig.server.slot, 32, 64);
	add_queue(&rig.qp);
	rig.src = memory;
	rig.dst = memory + ROOM;
	rig.opaque = memory + (size_t)2 * ROOM;
	rig.key = fixture_mkey_mem(FUNC, PD, FIXTURE_ALL, memory, 2 * ROOM + 4096);
	for (uint32_t i = 0, random = 1; i < BIG; i++) {
		random = random * 1103515245 + 12345;
		rig.src[i] = (uint8_t)(random >> 16);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stop_server();
	munmap(rig.src, 2 * ROOM + 4096);
	return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

/* What a request is about; iv: 12 bytes. */
struct job {
	uint32_t operation, dek;
	const uint8_t *iv;
	uint32_t aad, text, tag; /* bytes */
};

static const uint8_t some_iv[12] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce,
				    0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};

static uint32_t in_len(const struct job *j)
{
	return j->aad + j->text + (j->operation == DECRYPT ? j->tag : 0);
}

static uint32_t out_len(const struct job *j)
{
	return j->aad + j->text + (j->operation == ENCRYPT ? j->tag : 0);
}

static void put_parameters(const struct job *j)
{
	memset(rig.opaque, UNTOUCHED, 64);
	memcpy(rig.opaque + 12, j->iv, 12);
	emu_put32(rig.opaque + 24, j->tag);
	emu_put32(rig.opaque + 28, j->aad);
}

static struct fixture_wr request(const struct job *j, struct fixture_sge src,
				 struct fixture_sge dst)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	wr.raw[0] = CRYPTO;
	emu_put32(wr.raw + 12, GCM << 24 | j->operation << 20);
	fixture_wr_meta(&wr, rig.opaque, rig.key);
	emu_put32(wr.raw + 16, j->dek);
	fixture_wr_sge(&wr, &src);
	fixture_wr_sge(&wr, &dst);
	put_parameters(j);
	return wr;
}

static struct fixture_sge part(const uint8_t *from, size_t len)
{
	return (struct fixture_sge){from, (uint32_t)len, rig.key};
}

static struct fixture_wr plain_request(const struct job *j)
{
	return request(j, part(rig.src, in_len(j)), part(rig.dst, out_len(j)));
}

static void post(struct fixture_qp *qp, struct fixture_wr wr)
{
	fixture_wr_put(qp, &wr, EMU_WQE_MMO, FIXTURE_SIGNALED);
	fixture_ring(qp);
}

static void expect_good(uint32_t len)
{
	struct fixture_cqe cqe = fixture_expect(&rig.cq, 0);

	assert_int_equal(cqe.wqe_opcode, EMU_WQE_MMO);
	assert_int_equal(cqe.byte_cnt, len);
	assert_int_equal(emu_get32(rig.opaque), 0);
}

static void run(const struct job *j, const uint8_t *from, uint8_t *to)
{
	post(&rig.qp, request(j, part(from, in_len(j)), part(to, out_len(j))));
	expect_good(out_len(j));
}

static void expect_bad_of(const struct job *j, struct fixture_wr wr, uint8_t what)
{
	struct fixture_cqe cqe;

	memset(rig.dst, UNTOUCHED, out_len(j) + 1);
	post(&rig.qp, wr);
	cqe = fixture_expect(&rig.cq, EMU_SYN_LOC_QP_OP);
	assert_int_equal(cqe.opcode, EMU_CQE_REQ_ERR);
	assert_int_equal(cqe.hw_syndrome, what);
	assert_int_equal(cqe.vendor, VENDOR);
	assert_int_equal(cqe.byte_cnt, 0);
	assert_int_equal(emu_get32(rig.opaque), what);
	assert_int_equal(atomic_load(&rig.qp.entry->state), EMU_QPS_RTS);
}

static void expect_bad(const struct job *j, uint8_t what)
{
	expect_bad_of(j, plain_request(j), what);
	for (uint32_t i = 0; i <= out_len(j); i++)
		assert_int_equal(rig.dst[i], UNTOUCHED);
}

static void refuse_on(struct fixture_qp *qp, struct fixture_wr wr, uint8_t syndrome)
{
	struct fixture_cqe cqe;

	post(qp, wr);
	cqe = fixture_expect(&rig.cq, syndrome);
	assert_int_equal(cqe.opcode, EMU_CQE_REQ_ERR);
	assert_int_equal(cqe.hw_syndrome, 0);
	assert_int_equal(atomic_load(&qp->entry->state), EMU_QPS_ERR);
}

static void refuse(struct fixture_wr wr, uint8_t syndrome)
{
	struct fixture_qp qp;

	add_queue(&qp);
	refuse_on(&qp, wr, syndrome);
}

/* --- OpenSSL ---------------------------------------------------------------------------------- */

/* What the engine should write for rig.src, or for a source of OpenSSL's own. */
static void seal(const struct job *j, const uint8_t *from, uint8_t *to)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	uint8_t key[32];
	int n;

	assert_non_null(c);
	raw_key(j->dek, key);
	assert_true(EVP_EncryptInit_ex(c, j->dek == DEK_256 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(),
				       NULL, key, j->iv));
	if (j->aad)
		assert_true(EVP_EncryptUpdate(c, NULL, &n, from, (int)j->aad));
	memmove(to, from, j->aad);
	if (j->text)
		assert_true(EVP_EncryptUpdate(c, to + j->aad, &n, from + j->aad, (int)j->text));
	assert_true(EVP_EncryptFinal_ex(c, to, &n));
	assert_true(
		EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, (int)j->tag, to + j->aad + j->text));
	EVP_CIPHER_CTX_free(c);
	explicit_bzero(key, sizeof(key));
}

static const uint32_t texts[] = {0, 1, 15, 16, 17, 64, 4095, 65535, 65536, 65537, 131072, 300001};
static const uint32_t aads[] = {0, 1, 13, 16, 20, 65537};

/* Each job without an operation: both keys and both lengths of the tag alternate. A source is never empty. */
static bool next_job(struct job *j)
{
	static unsigned int i;
	const unsigned int all = ARRAY_SIZE(texts) * ARRAY_SIZE(aads);

	for (; i < all; i++) {
		*j = (struct job){.iv = some_iv,
				  .dek = i & 1 ? DEK_256 : DEK_128,
				  .tag = i / 2 & 1 ? 16 : 12,
				  .text = texts[i % ARRAY_SIZE(texts)],
				  .aad = aads[i / ARRAY_SIZE(texts)]};
		if (j->text || j->aad)
			return i++, true;
	}
	i = 0;
	return false;
}

/* --- what it does ----------------------------------------------------------------------------- */

static size_t from_hex(const char *hex, uint8_t *out)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2" SCNx8, &out[i]), 1);
	return n;
}

#define AAD "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define TEXT                                                             \
	"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a" \
	"721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"

/* McGrew and Viega, The Galois/Counter Mode of Operation (GCM), appendix B: test cases 4 and 16. */
static void published_vectors(void **state)
{
	static const struct {
		uint32_t dek;
		const char *sealed;
	} vectors[] = {
		{DEK_128, AAD "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
			      "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
			      "5bc94fbc3221a5db94fae95ae7121a47"},
		{DEK_256, AAD "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
			      "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
			      "76fc6ece0f4e1768cddf8853bb2d551b"},
	};
	uint8_t opened[80], sealed[96];

	(void)state;
	assert_int_equal(from_hex(AAD TEXT, opened), sizeof(opened));
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct job j = {ENCRYPT, vectors[i].dek, some_iv, 20, 60, 16};

		assert_int_equal(from_hex(vectors[i].sealed, sealed), sizeof(sealed));
		memcpy(rig.src, opened, sizeof(opened));
		run(&j, rig.src, rig.dst);
		assert_memory_equal(rig.dst, sealed, sizeof(sealed));
		j.operation = DECRYPT;
		memcpy(rig.src, sealed, sizeof(sealed));
		run(&j, rig.src, rig.dst);
		assert_memory_equal(rig.dst, opened, sizeof(opened));
	}
}

static void the_engine_encrypts_as_openssl_does(void **state)
{
	uint8_t *expected = malloc(ROOM);
	struct job j;

	(void)state;
	assert_non_null(expected);
	while (next_job(&j)) {
		run(&j, rig.src, rig.dst);
		seal(&j, rig.src, expected);
		assert_memory_equal(rig.dst, expected, out_len(&j));
	}
	free(expected);
}

static void the_engine_decrypts_what_openssl_encrypts(void **state)
{
	uint8_t *sealed = rig.dst + BIG / 2;
	struct job j;

	(void)state;
	while (next_job(&j)) {
		seal(&j, rig.src, sealed);
		j.operation = DECRYPT;
		run(&j, sealed, rig.dst);
		assert_memory_equal(rig.dst, rig.src, out_len(&j));
	}
}

static void source_and_destination_may_be_the_same(void **state)
{
	struct job j = {ENCRYPT, DEK_256, some_iv, 20, 200001, 16};
	uint8_t *original = malloc(ROOM);

	(void)state;
	assert_non_null(original);
	memcpy(original, rig.src, out_len(&j));
	run(&j, rig.src, rig.src);
	seal(&j, original, rig.dst);
	assert_memory_equal(rig.src, rig.dst, out_len(&j));
	j.operation = DECRYPT;
	run(&j, rig.src, rig.src);
	assert_memory_equal(rig.src, original, out_len(&j));
	free(original);
}

static void sources_are_as_long_as_the_limit(void **state)
{
	struct job j = {ENCRYPT, DEK_128, some_iv, 0, BIG, 16};

	(void)state;
	run(&j, rig.src, rig.dst);
	j.text++;
	refuse(plain_request(&j), EMU_SYN_LOC_LEN);
}

static void a_source_of_nothing_but_the_tag_is_decrypted(void **state)
{
	struct job j = {ENCRYPT, DEK_128, some_iv, 0, 0, 16};

	(void)state;
	seal(&j, rig.dst, rig.src);
	j.operation = DECRYPT;
	post(&rig.qp, request(&j, part(rig.src, 16), part(rig.dst, 1)));
	expect_good(0);
}

/* --- data that are wrong: the queue goes on --------------------------------------------------- */

/* Of a text that is longer than a piece, no byte is written. */
static void a_wrong_bit_anywhere_is_detected(void **state)
{
	struct job j = {ENCRYPT, DEK_256, some_iv, 20, 150000, 12};
	const uint32_t at[] = {0, 19, 20, 70000, 150019, 150020, 150031};

	(void)state;
	seal(&j, rig.src, rig.dst);
	memcpy(rig.src, rig.dst, out_len(&j));
	j.operation = DECRYPT;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		rig.src[at[i]] ^= 0x10;
		expect_bad(&j, BAD_TAG);
		rig.src[at[i]] ^= 0x10;
	}
	run(&j, rig.src, rig.dst);
}

static void other_parameters_are_detected(void **state)
{
	static const uint8_t iv[12] = {1};
	const struct job good = {DECRYPT, DEK_256, some_iv, 20, 100, 16};
	struct job j = good;

	(void)state;
	j.operation = ENCRYPT;
	seal(&j, rig.src, rig.dst);
	memcpy(rig.src, rig.dst, out_len(&j));
	j = good;
	j.iv = iv;
	expect_bad(&j, BAD_TAG);
	j = good;
	j.dek = DEK_128;
	expect_bad(&j, BAD_TAG);
	j = good;
	j.aad--;
	j.text++;
	expect_bad(&j, BAD_TAG);
	run(&good, rig.src, rig.dst);
}

static void sources_that_are_too_short_are_reported(void **state)
{
	const struct job j = {DECRYPT, DEK_128, some_iv, 20, 0, 16};
	struct fixture_wr wr = request(&j, part(rig.src, 35), part(rig.dst, 100));

	(void)state;
	expect_bad_of(&j, wr, BAD_TAG);
	put_parameters(&(struct job){.iv = some_iv, .aad = UINT32_MAX, .tag = 16});
	expect_bad_of(&j, wr, BAD_TAG);
	wr = request(&(struct job){ENCRYPT, DEK_128, some_iv, 36, 0, 16}, part(rig.src, 35),
		     part(rig.dst, 100));
	expect_bad_of(&j, wr, BAD_TAG);
}

static void output_ends_where_the_destination_ends(void **state)
{
	struct job j = {ENCRYPT, DEK_128, some_iv, 20, 1000, 16};

	(void)state;
	expect_bad_of(&j, request(&j, part(rig.src, 1020), part(rig.dst, 1035)), TOO_LONG);
	assert_int_equal(rig.dst[1035], UNTOUCHED);
	seal(&j, rig.src, rig.dst);
	memcpy(rig.src, rig.dst, 1036);
	j.operation = DECRYPT;
	expect_bad_of(&j, request(&j, part(rig.src, 1036), part(rig.dst, 1019)), TOO_LONG);
	assert_int_equal(rig.dst[1019], UNTOUCHED);
}

/* --- requests that are wrong: the queue ends -------------------------------------------------- */

static void what_the_engine_lacks_is_refused(void **state)
{
	struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};
	struct fixture_wr wr = plain_request(&j);
	struct fixture_qp qp;

	(void)state;
	for (uint32_t type = 0; type < 16; type++) {
		emu_put32(wr.raw + 12, type << 24);
		if (type != GCM)
			refuse(wr, EMU_SYN_LOC_QP_OP);
	}
	emu_put32(wr.raw + 12, GCM << 24 | 2u << 20);
	refuse(wr, EMU_SYN_LOC_QP_OP);
	for (j.tag = 0; j.tag < 20; j.tag++)
		if (j.tag != 12 && j.tag != 16)
			refuse(plain_request(&j), EMU_SYN_LOC_QP_OP);
	j.tag = 16;
	add_queue(&qp);
	qp.entry->mmo.log_crypto = 0;
	refuse_on(&qp, plain_request(&j), EMU_SYN_LOC_QP_OP);
}

static void each_key_of_memory_needs_its_rights(void **state)
{
	const uint32_t rights[] = {EMU_LR, EMU_LW};
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};
	struct fixture_wr wr;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		uint32_t key = fixture_mkey_mem(FUNC, PD, rights[i], rig.src, 2 * ROOM + 4096);

		wr = plain_request(&j);
		emu_put32(wr.raw + 20, key);
		refuse(wr, EMU_SYN_LOC_PROT);
		wr = plain_request(&j);
		emu_put32(wr.raw + (rights[i] == EMU_LR ? 52 : 36), key);
		refuse(wr, EMU_SYN_LOC_PROT);
	}
	wr = plain_request(&j);
	emu_put32(wr.raw + 36, fixture_mkey_mem(FUNC, PD, EMU_LR, rig.src, ROOM));
	emu_put32(wr.raw + 52, fixture_mkey_mem(FUNC, PD, EMU_LW, rig.dst, ROOM));
	post(&rig.qp, wr);
	expect_good(out_len(&j));
	rig.opaque += 32;
	wr = plain_request(&j);
	rig.opaque -= 32;
	refuse(wr, EMU_SYN_LOC_QP_OP); /* it is not aligned */
}

/* --- the keys --------------------------------------------------------------------------------- */

static void keys_that_a_queue_may_not_use_are_refused(void **state)
{
	const uint32_t deks[] = {0, DEK_OTHERS, NO_DEK, EMU_MAX_DEKS, 0xffffff};
	struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deks); i++) {
		j.dek = deks[i];
		refuse(plain_request(&j), EMU_SYN_LOC_PROT);
	}
	assert_int_equal(atomic_load(&rig.server.deks),
			 1u << DEK_OTHERS); /* the others do not exist */
}

/* The server decides whether it may use the key. */
static void a_key_is_asked_for_again_by_another_function_and_domain(void **state)
{
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};
	const struct {
		uint16_t func;
		uint32_t pd;
	} others[] = {{FUNC, OTHER_PD}, {FUNC + 1, PD}};
	struct fixture_qp qp;
	uint32_t asked;

	(void)state;
	run(&j, rig.src, rig.dst);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		asked = atomic_load(&rig.server.asked);
		add_queue_of(others[i].func, others[i].pd, &qp);
		rig.key = fixture_mkey_mem(others[i].func, others[i].pd, FIXTURE_ALL, rig.src,
					   2 * ROOM + 4096);
		post(&qp, plain_request(&j));
		expect_good(out_len(&j));
		assert_true(atomic_load(&rig.server.asked) > asked);
	}
}

/* An answer that takes long is asked for again, also after the request was executed. */
static void a_key_is_asked_for_once(void **state)
{
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};
	uint32_t asked;

	(void)state;
	run(&j, rig.src, rig.dst);
	for (unsigned int i = 0; i < 5; i++) {
		asked = atomic_load(&rig.server.asked);
		run(&j, rig.src, rig.dst);
		if (atomic_load(&rig.server.asked) == asked)
			return;
	}
	fail_msg("each request asks for the key");
}

static void a_lost_answer_is_asked_for_again(void **state)
{
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};

	(void)state;
	atomic_store(&rig.server.mute, 1);
	post(&rig.qp, plain_request(&j));
	while (!atomic_load(&rig.server.asked))
		usleep(100);
	atomic_store(&rig.server.mute, 0);
	expect_good(out_len(&j));
	assert_true(atomic_load(&rig.server.asked) > 1);
}

/* The next request may name a key that the queue may use. */
static void a_refusal_after_the_key_is_forgotten(void **state)
{
	struct job j = {ENCRYPT, DEK_128, some_iv, 0, 64, 16};
	struct emu_note note = {EMU_NOTE_KEY, rig.qp.qpn, atomic_load(&rig.qp.entry->serial),
				DEK_128};

	(void)state;
	atomic_store(&rig.server.mute, 1);
	post(&rig.qp, plain_request(&j));
	while (!atomic_load(&rig.server.asked))
		usleep(100);
	send_answer(&note);
	note.event = DEK_OTHERS;
	answer(&note);
	expect_good(out_len(&j));
	atomic_store(&rig.server.mute, 0);
	j.dek = DEK_256;
	run(&j, rig.src, rig.dst);
}

/* How many copies of the key are in memory that this process can write? */
static int count_copies(uint32_t dek)
{
	int found = copies_count(getpid(), inverted_keys[dek], bytes_of(dek));

	if (found < 0)
		skip();
	return found;
}

static void destroy(uint32_t dek)
{
	atomic_store(&fixture_tables->dek[dek], 0);
	fixture_announce(rig.server.slot);
	fixture_passes(rig.server.slot);
}

/* The engine of the test before closes in its own time. */
static void wait_for_no_copy(uint32_t dek)
{
	uint64_t end = monotonic_ms() + 20000;

	while (count_copies(dek))
		assert_true(monotonic_ms() < end);
}

/* The engine keeps a key for the next request. Of its schedule and of the message, nothing remains. */
static void memory_has_one_copy_of_a_key_until_it_is_destroyed(void **state)
{
	(void)state;
	for (uint32_t dek = DEK_128; dek <= DEK_256; dek++) {
		const struct job j = {ENCRYPT, dek, some_iv, 0, 100000, 16};

		wait_for_no_copy(dek);
		run(&j, rig.src, rig.dst);
		fixture_passes(rig.server.slot);
		assert_int_equal(count_copies(dek), 1);
		destroy(dek);
		assert_int_equal(count_copies(dek), 0);
		refuse(plain_request(&j), EMU_SYN_LOC_PROT);
	}
}

/* The message is that of a queue that does not exist. */
static void receive_key(void *engine)
{
	struct emu_key_given given = {.qpn = EMU_MAX_QPS, .dek = DEK_256, .bytes = 32};
	struct engine *e = engine;
	int fd[2] = {-1, -1};

	raw_key(DEK_256, given.raw);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd);
	send(fd[1], &given, sizeof(given), 0);
	explicit_bzero(&given, sizeof(given));
	e->cfg.notify_fd = fd[0];
	emu_fds_receive(e);
	close(fd[0]);
	close(fd[1]);
}

static void a_message_with_a_key_leaves_no_copy(void **state)
{
	static struct engine engine;
	int found;

	(void)state;
	wait_for_no_copy(DEK_256);
	engine.cfg.queues = fixture_queues;
	found = copies_left_by(receive_key, &engine, inverted_keys[DEK_256], bytes_of(DEK_256));
	if (found < 0)
		skip();
	assert_int_equal(found, 0);
}

/* --- several queues --------------------------------------------------------------------------- */

#define SHARE (BIG / 8)

static void queues_and_engines_take_turns(void **state)
{
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, SHARE, 16};
	unsigned int sealed = 0;
	struct fixture_qp other;
	struct fixture_wr wr;

	(void)state;
	add_queue(&other);
	for (unsigned int i = 0; i < 4; i++) {
		wr = request(&j, part(rig.src, SHARE),
			     part(rig.dst + i * (SHARE + 16), SHARE + 16));
		fixture_wr_put(i & 1 ? &other : &rig.qp, &wr, EMU_WQE_MMO, FIXTURE_SIGNALED);
	}
	fixture_wr_begin(&wr);
	wr.raw[0] = 2; /* compress, with the largest window and dynamic codes */
	emu_put32(wr.raw + 12, 5u << 12 | 15u << 16 | 15u << 20);
	fixture_wr_meta(&wr, rig.opaque + 1024, rig.key);
	fixture_wr_sge(&wr, &(struct fixture_sge){rig.opaque, 1000, rig.key});
	fixture_wr_sge(&wr, &(struct fixture_sge){rig.dst + BIG - 2000, 2000, rig.key});
	fixture_wr_put(&other, &wr, EMU_WQE_MMO, FIXTURE_SIGNALED);
	fixture_ring(&rig.qp);
	fixture_ring(&other);
	for (unsigned int i = 0; i < 5; i++)
		sealed += fixture_expect(&rig.cq, 0).byte_cnt == SHARE + 16;
	assert_int_equal(sealed, 4);
	for (unsigned int i = 1; i < 4; i++)
		assert_memory_equal(rig.dst + i * (SHARE + 16), rig.dst, SHARE + 16);
}

static void memory_has_no_copy_of_a_text_but_that_of_the_client(void **state)
{
	struct job j = {ENCRYPT, DEK_256, some_iv, 0, 100000, 16};
	uint8_t inverted[16];
	int before;

	(void)state;
	for (unsigned int i = 0; i < sizeof(inverted); i++)
		inverted[i] = (uint8_t)~rig.src[99900 + i];
	seal(&j, rig.src, rig.dst);
	memcpy(rig.src, rig.dst, out_len(&j));
	memset(rig.dst, 0, out_len(&j));
	before = copies_count(getpid(), inverted, sizeof(inverted));
	if (before < 0)
		skip();
	j.operation = DECRYPT;
	rig.src[5] ^= 0x10;
	expect_bad(&j, BAD_TAG);
	assert_int_equal(copies_count(getpid(), inverted, sizeof(inverted)), before);
	rig.src[5] ^= 0x10;
	run(&j, rig.src, rig.dst);
	assert_int_equal(copies_count(getpid(), inverted, sizeof(inverted)), before + 1);
}

/* Without the tag of a text that was changed, nobody can make one for it. */
static void memory_has_no_copy_of_a_tag_but_that_of_the_client(void **state)
{
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, 5000, 16};
	uint8_t inverted[16], *tag = rig.dst + j.text;
	int found;

	(void)state;
	post(&rig.qp, plain_request(&j));
	expect_good(out_len(&j));
	for (unsigned int i = 0; i < sizeof(inverted); i++)
		inverted[i] = (uint8_t)~tag[i];
	found = copies_count(getpid(), inverted, sizeof(inverted));
	if (found < 0)
		skip();
	assert_int_equal(found, 1);
}

/* A queue that ends in the middle of its request leaves the engine to others, and no key behind. */
static void the_engine_survives_its_queue(void **state)
{
	const struct job long_one = {ENCRYPT, DEK_256, some_iv, 0, BIG - 16, 16};
	const struct job j = {ENCRYPT, DEK_128, some_iv, 0, 5000, 16};
	struct fixture_qp other;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		add_queue(&other);
		post(&other, plain_request(&long_one));
		if (i == 0)
			fixture_qp_reset(&other);
		else if (i == 1)
			fixture_qp_state(&other, EMU_QPS_ERR);
		else
			fixture_qp_retire(&other);
		if (i == 1)
			fixture_expect(&rig.cq, EMU_SYN_FLUSH);
		run(&j, rig.src, rig.dst);
	}
	destroy(DEK_128);
	destroy(DEK_256);
	assert_true(copies_count(getpid(), inverted_keys[DEK_256], bytes_of(DEK_256)) <= 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(published_vectors),
		TEST(the_engine_encrypts_as_openssl_does),
		TEST(the_engine_decrypts_what_openssl_encrypts),
		TEST(source_and_destination_may_be_the_same),
		TEST(sources_are_as_long_as_the_limit),
		TEST(a_source_of_nothing_but_the_tag_is_decrypted),
		TEST(a_wrong_bit_anywhere_is_detected),
		TEST(other_parameters_are_detected),
		TEST(sources_that_are_too_short_are_reported),
		TEST(output_ends_where_the_destination_ends),
		TEST(what_the_engine_lacks_is_refused),
		TEST(each_key_of_memory_needs_its_rights),
		TEST(keys_that_a_queue_may_not_use_are_refused),
		TEST(a_key_is_asked_for_again_by_another_function_and_domain),
		TEST(a_key_is_asked_for_once),
		TEST(a_lost_answer_is_asked_for_again),
		TEST(a_refusal_after_the_key_is_forgotten),
		TEST(memory_has_one_copy_of_a_key_until_it_is_destroyed),
		TEST(a_message_with_a_key_leaves_no_copy),
		TEST(memory_has_no_copy_of_a_text_but_that_of_the_client),
		TEST(memory_has_no_copy_of_a_tag_but_that_of_the_client),
		TEST(queues_and_engines_take_turns),
		TEST(the_engine_survives_its_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
