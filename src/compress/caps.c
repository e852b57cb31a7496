/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "compress/compress.h"

#include "core/dev/caps.h"
#include "log/log.h"

/* The device works on one piece of memory at a time. */
#define MAX_LIST_LEN 1

static const struct {
	const char *name;
	uint32_t needs; /* enum dpumap_engine */
} kinds[COMPRESS_NUM_KINDS] = {
	[COMPRESS_DEFLATE] = {"compress deflate", DPUMAP_ENGINE_DEFLATE},
	[COMPRESS_INFLATE] = {"decompress deflate", DPUMAP_ENGINE_INFLATE},
	[COMPRESS_LZ4] = {"decompress LZ4", DPUMAP_ENGINE_LZ4_STREAM},
	[COMPRESS_LZ4_STREAM] = {"decompress LZ4 streams", DPUMAP_ENGINE_LZ4_STREAM},
	[COMPRESS_LZ4_BLOCK] = {"decompress LZ4 blocks", DPUMAP_ENGINE_LZ4_BLOCK},
};

uint64_t dpumap_compress_max_len(const struct dpumap_caps *caps, enum compress_kind kind)
{
	if (!(caps->engine & kinds[kind].needs))
		return 0;
	return kind == COMPRESS_DEFLATE ? caps->max_compress_len : caps->max_decompress_len;
}

static doca_error_t query(const struct doca_devinfo *devinfo, enum compress_kind kind,
			  const void *out, uint64_t *max_len, const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(function, devinfo, out, &caps);

	if (result != DOCA_SUCCESS)
		return result;
	*max_len = dpumap_compress_max_len(&caps, kind);
	if (*max_len)
		return DOCA_SUCCESS;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s does not %s",
				dpumap_hca_name(devinfo->hca), kinds[kind].name);
}

doca_error_t dpumap_compress_is_supported(const struct doca_devinfo *devinfo,
					  enum compress_kind kind, const char *function)
{
	uint64_t max_len;

	return query(devinfo, kind, devinfo, &max_len, function);
}

doca_error_t dpumap_compress_get_max_len(const struct doca_devinfo *devinfo,
					 enum compress_kind kind, uint64_t *len,
					 const char *function)
{
	uint64_t max_len;
	doca_error_t result = query(devinfo, kind, len, &max_len, function);

	if (result == DOCA_SUCCESS)
		*len = max_len;
	return result;
}

doca_error_t dpumap_compress_get_max_list_len(const struct doca_devinfo *devinfo,
					      enum compress_kind kind, uint32_t *len,
					      const char *function)
{
	uint64_t max_len;
	doca_error_t result = query(devinfo, kind, len, &max_len, function);

	if (result == DOCA_SUCCESS)
		*len = MAX_LIST_LEN;
	return result;
}
