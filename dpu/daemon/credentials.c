/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/credentials.h"

#include "base/array.h"
#include "dpu/base/log.h"

void credentials_warn(const struct dpumap_tls *tls)
{
	struct dpumap_credentials found;
	const struct dpumap_credential *const all[] = {&found.certificate, &found.authority,
						       &found.list};

	dpumap_tls_judge(tls, &found);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i]->state == DPUMAP_CREDENTIAL_USELESS)
			log_warning("no client can connect over TLS: %s: %s", all[i]->text,
				    all[i]->advice);
		else if (all[i]->state == DPUMAP_CREDENTIAL_WARN)
			log_warning("%s: %s", all[i]->text, all[i]->advice);
	}
}

doca_error_t credentials_check_reload(const struct dpumap_tls *now, const struct dpumap_tls *next,
				      struct dpumap_fault *fault)
{
	struct dpumap_credentials before, after;
	const struct dpumap_credential *useless;

	dpumap_tls_judge(next, &after);
	useless = dpumap_credentials_useless(&after);
	if (!useless)
		return DOCA_SUCCESS;
	dpumap_tls_judge(now, &before);
	if (dpumap_credentials_useless(&before))
		return DOCA_SUCCESS;
	return dpumap_fault_set(fault, DOCA_ERROR_BAD_CONFIG,
				"no client could connect over TLS: %s: %s", useless->text,
				useless->advice);
}
