/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/link/tls.h"

#include <dlfcn.h>
#include <stdatomic.h>

/* The library stays loaded: sessions use it. */
static const struct dpumap_comch_tls *load(struct dpumap_error *error)
{
	const struct dpumap_comch_tls *tls;
	void *library = dlopen(DPUMAP_COMCH_TLS_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
				 "cannot load " DPUMAP_COMCH_TLS_LIBRARY
				 " (package libdpumap-channel): %.160s",
				 dlerror());
		return NULL;
	}
	tls = dlsym(library, DPUMAP_COMCH_TLS_SYMBOL);
	if (!tls || tls->version != DPUMAP_COMCH_TLS_VERSION) {
		dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
				 DPUMAP_COMCH_TLS_LIBRARY " is of another release than libdpumap: "
							  "install the same release of both");
		dlclose(library);
		return NULL;
	}
	return tls;
}

const struct dpumap_comch_tls *dpumap_comch_tls_get(struct dpumap_error *error)
{
	static _Atomic(const struct dpumap_comch_tls *) loaded;
	const struct dpumap_comch_tls *tls = atomic_load(&loaded);

	if (!tls) {
		tls = load(error);
		if (tls)
			atomic_store(&loaded, tls);
	}
	return tls;
}
