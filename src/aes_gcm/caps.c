/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "aes_gcm/aes_gcm.h"

#include "core/dev/caps.h"
#include "log/log.h"

/* The device works on one piece of memory at a time. */
#define MAX_LIST_LEN 1

static const char *const names[AES_GCM_NUM_KINDS] = {
	[AES_GCM_ENCRYPT] = "encrypt",
	[AES_GCM_DECRYPT] = "decrypt",
};

uint32_t dpumap_aes_gcm_need(enum aes_gcm_kind kind, enum doca_aes_gcm_key_type type)
{
	const bool encrypts = kind == AES_GCM_ENCRYPT;

	switch (type) {
	case DOCA_AES_GCM_KEY_128:
		return encrypts ? DPUMAP_CRYPTO_ENCRYPT_128 : DPUMAP_CRYPTO_DECRYPT_128;
	case DOCA_AES_GCM_KEY_256:
		return encrypts ? DPUMAP_CRYPTO_ENCRYPT_256 : DPUMAP_CRYPTO_DECRYPT_256;
	default:
		return 0;
	}
}

bool dpumap_aes_gcm_has_kind(uint32_t crypto, enum aes_gcm_kind kind)
{
	return crypto & (dpumap_aes_gcm_need(kind, DOCA_AES_GCM_KEY_128) |
			 dpumap_aes_gcm_need(kind, DOCA_AES_GCM_KEY_256)) &&
	       crypto & (DPUMAP_CRYPTO_TAG_96 | DPUMAP_CRYPTO_TAG_128);
}

static doca_error_t query(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
			  const void *out, struct dpumap_caps *caps, const char *function)
{
	doca_error_t result = dpumap_devinfo_get_caps(function, devinfo, out, caps);

	if (result != DOCA_SUCCESS)
		return result;
	if (caps->max_crypto_len && dpumap_aes_gcm_has_kind(caps->crypto, kind))
		return DOCA_SUCCESS;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s does not %s by AES-GCM",
				dpumap_hca_name(devinfo->hca), names[kind]);
}

doca_error_t dpumap_aes_gcm_is_supported(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
					 const char *function)
{
	struct dpumap_caps caps;

	return query(devinfo, kind, devinfo, &caps, function);
}

doca_error_t dpumap_aes_gcm_has_tag(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
				    uint32_t tag, const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result = query(devinfo, kind, devinfo, &caps, function);

	if (result != DOCA_SUCCESS || caps.crypto & tag)
		return result;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s does not support tags of %d bits",
				dpumap_hca_name(devinfo->hca),
				tag == DPUMAP_CRYPTO_TAG_96 ? 96 : 128);
}

doca_error_t dpumap_aes_gcm_has_key_type(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
					 enum doca_aes_gcm_key_type type, const char *function)
{
	const uint32_t need = dpumap_aes_gcm_need(kind, type);
	struct dpumap_caps caps;
	doca_error_t result = query(devinfo, kind, devinfo, &caps, function);

	if (result != DOCA_SUCCESS)
		return result;
	if (!need)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: invalid type of keys %d",
				   function, (int)type);
	if (caps.crypto & need)
		return DOCA_SUCCESS;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s does not %s with keys of type %d",
				dpumap_hca_name(devinfo->hca), names[kind], (int)type);
}

doca_error_t dpumap_aes_gcm_get_max_iv_len(const struct doca_devinfo *devinfo,
					   enum aes_gcm_kind kind, uint32_t *len,
					   const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result = query(devinfo, kind, len, &caps, function);

	if (result == DOCA_SUCCESS)
		*len = AES_GCM_IV_LEN;
	return result;
}

doca_error_t dpumap_aes_gcm_get_max_len(const struct doca_devinfo *devinfo, enum aes_gcm_kind kind,
					uint64_t *len, const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result = query(devinfo, kind, len, &caps, function);

	if (result == DOCA_SUCCESS)
		*len = caps.max_crypto_len;
	return result;
}

doca_error_t dpumap_aes_gcm_get_max_list_len(const struct doca_devinfo *devinfo,
					     enum aes_gcm_kind kind, uint32_t *len,
					     const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result = query(devinfo, kind, len, &caps, function);

	if (result == DOCA_SUCCESS)
		*len = MAX_LIST_LEN;
	return result;
}
