/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure a task of doca_aes_gcm that encrypts, compared with the same work request by hand (mmo.h), and with OpenSSL
 * on the CPU. Each message has an initialization vector of its own.
 */
#include <endian.h>
#include <string.h>

#include <openssl/evp.h>

#include "aes_gcm/aes_gcm.h"
#include "device.h"
#include "mmo.h"

#define ENCRYPT 0x0600002fu
#define GCM	(3u << 24)
#define TAG_LEN 16u

/* Where the engine reads the parameters of a request. */
#define PARAMETER_IV	  12
#define PARAMETER_TAG_LEN 24

static const uint8_t raw_key[32] = {1, 2, 3, 4, 5, 6, 7, 8};

static struct doca_aes_gcm *aes_gcm;
static struct doca_aes_gcm_key *key;
static EVP_CIPHER_CTX *cipher;
static uint64_t iv[2]; /* of the last message; the first 12 bytes count */

static void on_end(struct doca_aes_gcm_task_encrypt *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	mmo_count(doca_aes_gcm_task_encrypt_as_task(task));
}

/*
 * The key of the library is of the protection domain of the queue by hand, which uses it, too. The library has no
 * function for its number.
 */
static struct doca_ctx *create(void)
{
	const uint32_t tag_len = htobe32(TAG_LEN);

	if (!bench_is_ok(doca_aes_gcm_create(mmo.dev, &aes_gcm), "a context") ||
	    !bench_is_ok(doca_aes_gcm_task_encrypt_set_conf(aes_gcm, on_end, on_end, MMO_DEPTH),
			 "its tasks") ||
	    !bench_is_ok(doca_aes_gcm_key_create(aes_gcm, raw_key, DOCA_AES_GCM_KEY_256, &key),
			 "its key"))
		return NULL;
	mmo.key = key->dek.number;
	for (size_t i = 0; i < MMO_DEPTH; i++)
		memcpy(mmo_scratch(i) + PARAMETER_TAG_LEN, &tag_len, sizeof(tag_len));
	return doca_aes_gcm_as_ctx(aes_gcm);
}

static doca_error_t alloc(const struct doca_buf *src, struct doca_buf *dst, struct doca_task **task)
{
	struct doca_aes_gcm_task_encrypt *allocated = NULL;
	doca_error_t result = doca_aes_gcm_task_encrypt_alloc_init(
		aes_gcm, src, dst, key, NULL, 0, TAG_LEN, 0, (union doca_data){0}, &allocated);

	*task = doca_aes_gcm_task_encrypt_as_task(allocated);
	return result;
}

static void destroy(void)
{
	if (key)
		doca_aes_gcm_key_destroy(key);
	if (aes_gcm)
		doca_aes_gcm_destroy(aes_gcm);
	EVP_CIPHER_CTX_free(cipher);
}

static bool fill(uint8_t *source, const uint8_t *text, size_t len)
{
	memcpy(source, text, len);
	mmo.in = len;
	mmo.out = len + TAG_LEN;
	return true;
}

static const uint8_t *next_iv(void)
{
	iv[0]++;
	return (const uint8_t *)iv;
}

static void write_parameters(uint8_t *scratch)
{
	memcpy(scratch + PARAMETER_IV, next_iv(), AES_GCM_IV_LEN);
}

static void set_parameters(struct doca_task *task)
{
	doca_aes_gcm_task_encrypt_set_iv((struct doca_aes_gcm_task_encrypt *)task, next_iv(),
					 AES_GCM_IV_LEN);
}

static bool encrypt_one(const uint8_t *source, uint8_t *destination)
{
	int n;

	if (!cipher)
		cipher = EVP_CIPHER_CTX_new();
	return cipher && EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, raw_key, next_iv()) &&
	       EVP_EncryptUpdate(cipher, destination, &n, source, (int)mmo.in) &&
	       EVP_EncryptFinal_ex(cipher, destination, &n) &&
	       EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_LEN, destination + mmo.in);
}

int main(int argc, char **argv)
{
	static const struct mmo_ops ops = {
		.many = "messages",
		.title = "64 KiB encrypted",
		.ratio = "time of 64 KiB encrypted : work request",
		.opcode = ENCRYPT,
		.control = GCM,
		.fill = fill,
		.create = create,
		.alloc = alloc,
		.destroy = destroy,
		.write_parameters = write_parameters,
		.set_parameters = set_parameters,
		.cpu = "OpenSSL",
		.on_cpu = encrypt_one,
	};

	return mmo_main(&ops, argc, argv);
}
