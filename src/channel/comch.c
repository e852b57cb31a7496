/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table that libdpumap looks up. */
#include <pthread.h>

#include "channel/comch_remote.h"
#include "channel/comch_session.h"
#include "channel/host_config.h"

static doca_error_t accept_session(int fd, const unsigned char key[DPUMAP_COMCH_KEY_LEN],
				   struct dpumap_comch_session **session,
				   struct dpumap_error *error)
{
	return dpumap_comch_session_create(fd, key, true, session, error);
}

/* As it was for the last user: any number of users may be refused. */
static struct {
	struct dpumap_host_config config;
	bool is_loaded;
	struct dpumap_error error; /* of loading */
} last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void load_last(void)
{
	if (last.is_loaded && dpumap_host_config_is_current(&last.config))
		return;
	dpumap_host_config_free(&last.config);
	last.error.code = DOCA_SUCCESS;
	dpumap_host_config_load(NULL, &last.config, &last.error);
	last.is_loaded = true;
}

static doca_error_t check_user(uid_t uid, struct dpumap_comch_rights *rights,
			       struct dpumap_error *error)
{
	pthread_mutex_lock(&lock);
	load_last();
	*error = last.error;
	if (error->code == DOCA_SUCCESS)
		dpumap_host_config_rights(&last.config, uid, rights);
	if (error->code == DOCA_SUCCESS && !rights->connect && !rights->introduce)
		dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
				 "it is not one of comch.users or comch.introducers in %s",
				 last.config.path[0] ? last.config.path : "dpumap.conf");
	pthread_mutex_unlock(&lock);
	return error->code;
}

__attribute__((destructor)) static void free_last(void)
{
	dpumap_host_config_free(&last.config);
}

extern const struct dpumap_comch_tls dpumap_private_comch_tls;
__attribute__((visibility("default"))) const struct dpumap_comch_tls dpumap_private_comch_tls = {
	.version = DPUMAP_COMCH_TLS_VERSION,
	.handshake = dpumap_comch_session_handshake,
	.read = dpumap_comch_session_read,
	.write = dpumap_comch_session_write,
	.has_more = dpumap_comch_session_has_more,
	.wants = dpumap_comch_session_wants,
	.fd = dpumap_comch_session_fd,
	.shutdown = dpumap_comch_session_shutdown,
	.close = dpumap_comch_session_close,
	.accept = accept_session,
	.remote_create = dpumap_comch_remote_create,
	.remote_poll = dpumap_comch_remote_poll,
	.remote_retry = dpumap_comch_remote_retry,
	.remote_fd = dpumap_comch_remote_fd,
	.remote_destroy = dpumap_comch_remote_destroy,
	.check_user = check_user,
};
