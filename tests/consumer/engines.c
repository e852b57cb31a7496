/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that looks for a device with an engine, as DOCA programs do, and finds none for erasure coding and hashes.
 * Valid C11 and C++.
 */
#include <doca_aes_gcm.h>
#include <doca_buf_array.h>
#include <doca_dev.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>

#include <stdio.h>

typedef doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);

struct job {
	enum doca_aes_gcm_key_type key_type;
	enum doca_ec_matrix_type matrix_type;
	enum doca_sha_algorithm algorithm;
	struct doca_buf_arr *array;
	struct doca_aes_gcm_task_encrypt *encryption;
	struct doca_ec_task_recover *recovery;
	struct doca_sha_task_hash *hash;
};

static doca_error_t hashes_sha256(const struct doca_devinfo *devinfo)
{
	return doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256);
}

static int is_capable(is_supported check)
{
	struct doca_devinfo **list;
	int found = 0;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return check(NULL) != DOCA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < n; i++)
		found |= check(list[i]) != DOCA_ERROR_NOT_SUPPORTED;
	(void)doca_devinfo_destroy_list(list);
	return found;
}

int main(void)
{
	const is_supported checks[] = {doca_ec_cap_task_recover_is_supported, hashes_sha256};
	struct job *job = (struct job *)calloc(1, sizeof(*job));
	int found = doca_aes_gcm_cap_task_encrypt_is_supported(NULL) == DOCA_SUCCESS;

	if (!job)
		return EXIT_FAILURE;
	job->key_type = DOCA_AES_GCM_KEY_256;
	job->matrix_type = DOCA_EC_MATRIX_TYPE_CAUCHY;
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		found |= checks[i](NULL) != DOCA_ERROR_INVALID_VALUE || is_capable(checks[i]);
	if (found || doca_sha_task_hash_as_task(job->hash) ||
	    doca_ec_task_recover_get_recovered_data(job->recovery) ||
	    doca_aes_gcm_task_encrypt_as_task(job->encryption))
		return EXIT_FAILURE;
	free(job);
	puts("no device is capable");
	return EXIT_SUCCESS;
}
