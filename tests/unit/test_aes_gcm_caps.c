/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Devices that have a part of AES-GCM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "aes_gcm/aes_gcm.h"
#include "base/array.h"

static const struct {
	enum aes_gcm_kind kind;
	enum doca_aes_gcm_key_type type;
	uint32_t bit;
} needs[] = {
	{AES_GCM_ENCRYPT, DOCA_AES_GCM_KEY_128, DPUMAP_CRYPTO_ENCRYPT_128},
	{AES_GCM_ENCRYPT, DOCA_AES_GCM_KEY_256, DPUMAP_CRYPTO_ENCRYPT_256},
	{AES_GCM_DECRYPT, DOCA_AES_GCM_KEY_128, DPUMAP_CRYPTO_DECRYPT_128},
	{AES_GCM_DECRYPT, DOCA_AES_GCM_KEY_256, DPUMAP_CRYPTO_DECRYPT_256},
};

static void each_kind_and_key_needs_its_own_bit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		assert_int_equal(dpumap_aes_gcm_need(needs[i].kind, needs[i].type), needs[i].bit);
	assert_int_equal(dpumap_aes_gcm_need(AES_GCM_ENCRYPT, (enum doca_aes_gcm_key_type)99), 0);
}

static void one_length_of_keys_and_of_tags_is_enough(void **state)
{
	const uint32_t tags[] = {DPUMAP_CRYPTO_TAG_96, DPUMAP_CRYPTO_TAG_128};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		enum aes_gcm_kind other =
			needs[i].kind == AES_GCM_ENCRYPT ? AES_GCM_DECRYPT : AES_GCM_ENCRYPT;

		for (size_t tag = 0; tag < ARRAY_SIZE(tags); tag++) {
			assert_true(
				dpumap_aes_gcm_has_kind(needs[i].bit | tags[tag], needs[i].kind));
			assert_false(dpumap_aes_gcm_has_kind(needs[i].bit | tags[tag], other));
		}
		assert_false(dpumap_aes_gcm_has_kind(needs[i].bit, needs[i].kind));
	}
	assert_false(dpumap_aes_gcm_has_kind(tags[0] | tags[1], AES_GCM_ENCRYPT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_and_key_needs_its_own_bit),
		cmocka_unit_test(one_length_of_keys_and_of_tags_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
