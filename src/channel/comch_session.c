/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/comch_session.h"

#include <stdlib.h>
#include <unistd.h>

#include "channel/stream.h"
#include "secret/secret.h"

struct dpumap_comch_session {
	struct dpumap_stream stream;
};

doca_error_t dpumap_comch_session_create(int fd, const unsigned char *key, bool is_server,
					 struct dpumap_comch_session **session,
					 struct dpumap_error *error)
{
	struct dpumap_comch_session *s = calloc(1, sizeof(*s));
	struct dpumap_tls *tls;
	doca_error_t result;

	if (!s) {
		close(fd);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a session");
	}
	result = dpumap_tls_create_with_key(key, DPUMAP_COMCH_KEY_LEN, is_server, &tls, error);
	if (result != DOCA_SUCCESS) {
		close(fd);
		free(s);
		return result;
	}
	dpumap_stream_watch_peer(fd);
	result = dpumap_stream_open(&s->stream, fd, tls, "", error);
	dpumap_tls_destroy(tls);
	if (result != DOCA_SUCCESS) {
		free(s);
		return result;
	}
	*session = s;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_session_handshake(struct dpumap_comch_session *session,
					    struct dpumap_error *error)
{
	doca_error_t result = dpumap_stream_handshake(&session->stream, error);

	dpumap_secret_wipe_stack();
	return result;
}

doca_error_t dpumap_comch_session_read(struct dpumap_comch_session *session, void *buf, size_t len,
				       size_t *done, struct dpumap_error *error)
{
	return dpumap_stream_read(&session->stream, buf, len, done, error);
}

doca_error_t dpumap_comch_session_write(struct dpumap_comch_session *session, const void *buf,
					size_t len, size_t *done, struct dpumap_error *error)
{
	return dpumap_stream_write(&session->stream, buf, len, done, error);
}

bool dpumap_comch_session_has_more(const struct dpumap_comch_session *session)
{
	return dpumap_stream_has_more(&session->stream);
}

short dpumap_comch_session_wants(const struct dpumap_comch_session *session)
{
	return session->stream.wants;
}

int dpumap_comch_session_fd(const struct dpumap_comch_session *session)
{
	return session->stream.fd;
}

void dpumap_comch_session_shutdown(struct dpumap_comch_session *session)
{
	dpumap_stream_finish(&session->stream);
}

void dpumap_comch_session_close(struct dpumap_comch_session *session)
{
	dpumap_stream_close(&session->stream);
	free(session);
}
