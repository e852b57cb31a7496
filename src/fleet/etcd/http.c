/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/http.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/clock.h"
#include "secret/secret.h"

#define ALIVE_S	   5L /* between probes of an idle connection */
#define EVENTS	   16
#define FIRST_ROOM 4096

struct dpumap_http_call {
	TAILQ_ENTRY(dpumap_http_call) link;
	struct dpumap_http *http;
	CURL *easy;
	struct curl_slist *headers;
	char *secret; /* the body if it is a secret; else libcurl has a copy */
	size_t secret_len;
	dpumap_http_done_fn *done;
	dpumap_http_line_fn *line;
	void *context;
	char *data;
	size_t len, room;
	bool too_big, no_memory;
	bool ended; /* cancelled or done; freed when no callback runs */
	char error[CURL_ERROR_SIZE];
};

struct dpumap_http {
	CURLM *multi;
	int epoll;
	uint64_t deadline; /* of libcurl's timer; UINT64_MAX: none */
	const struct dpumap_http_tls *tls;
	TAILQ_HEAD(http_calls, dpumap_http_call) calls;
	bool busy; /* in dpumap_http_process(): calls are only marked as ended */
};

/* --- libcurl's callbacks ---------------------------------------------------------------------- */

static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	struct dpumap_http *http = context;
	struct epoll_event event = {.data.fd = fd};

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(http->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events =
		(what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	if (epoll_ctl(http->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0 &&
	    epoll_ctl(http->epoll, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) != 0)
		return -1;
	curl_multi_assign(http->multi, fd, http);
	return 0;
}

static int timer_changed(CURLM *multi, long timeout_ms, void *context)
{
	struct dpumap_http *http = context;

	(void)multi;
	http->deadline =
		timeout_ms < 0 ? UINT64_MAX : monotonic_ns() + (uint64_t)timeout_ms * NSEC_PER_MSEC;
	return 0;
}

static bool grow(struct dpumap_http_call *call, size_t needed)
{
	size_t room = call->room ? call->room : FIRST_ROOM;
	char *data;

	while (room < needed)
		room *= 2;
	if (room == call->room)
		return true;
	data = realloc(call->data, room);
	if (!data)
		return false;
	call->data = data;
	call->room = room;
	return true;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
	struct dpumap_http_call *call = context;
	size_t len = size * count;

	if (len > DPUMAP_HTTP_ANSWER_MAX - call->len) {
		call->too_big = true;
		return 0;
	}
	if (!grow(call, call->len + len + 1)) {
		call->no_memory = true;
		return 0;
	}
	memcpy(call->data + call->len, bytes, len);
	call->len += len;
	call->data[call->len] = '\0';
	return len;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void release(struct dpumap_http_call *call)
{
	TAILQ_REMOVE(&call->http->calls, call, link);
	curl_multi_remove_handle(call->http->multi, call->easy);
	curl_easy_cleanup(call->easy);
	for (struct curl_slist *header = call->headers; header; header = header->next)
		explicit_bzero(header->data, strlen(header->data));
	curl_slist_free_all(call->headers);
	dpumap_secret_free(call->secret, call->secret_len);
	if (call->data)
		explicit_bzero(call->data, call->len);
	free(call->data);
	free(call);
}

void dpumap_http_cancel(struct dpumap_http_call *call)
{
	if (!call)
		return;
	call->ended = true;
	if (!call->http->busy)
		release(call);
}

static bool add_header(struct dpumap_http_call *call, const char *name, const char *value)
{
	struct curl_slist *longer;
	size_t size = strlen(name) + strlen(value) + 1;
	char *line = malloc(size);

	if (!line)
		return false;
	snprintf(line, size, "%s%s", name, value);
	longer = curl_slist_append(call->headers, line);
	explicit_bzero(line, size);
	free(line);
	if (longer)
		call->headers = longer;
	return longer != NULL;
}

static bool set_body(struct dpumap_http_call *call, const struct dpumap_http_request *request)
{
	size_t len = strlen(request->body);

	if (!request->is_secret)
		return curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, request->body) ==
		       CURLE_OK;
	call->secret = dpumap_secret_alloc(len + 1);
	if (!call->secret)
		return false;
	call->secret_len = len + 1;
	memcpy(call->secret, request->body, len);
	return curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, call->secret) == CURLE_OK;
}

static CURLcode set_blob(CURL *easy, CURLoption option, const char *bytes, size_t len)
{
	struct curl_blob blob = {.data = (void *)bytes, .len = len, .flags = CURL_BLOB_NOCOPY};

	return bytes ? curl_easy_setopt(easy, option, &blob) : CURLE_OK;
}

static bool set_tls(CURL *easy, const struct dpumap_http_tls *tls)
{
	CURLcode code = CURLE_OK;

	code |= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	code |= set_blob(easy, CURLOPT_CAINFO_BLOB, tls->ca, tls->ca_len);
	code |= set_blob(easy, CURLOPT_SSLCERT_BLOB, tls->cert, tls->cert_len);
	code |= set_blob(easy, CURLOPT_SSLKEY_BLOB, tls->key, tls->key_len);
	return code == CURLE_OK;
}

/* A connection whose peer has vanished ends after some seconds. */
static int set_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
	const int probes = 3, wait_ms = ALIVE_S * 3 * 1000;

	(void)context, (void)purpose;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &wait_ms, sizeof(wait_ms));
	return CURL_SOCKOPT_OK;
}

#if CURL_AT_LEAST_VERSION(7, 87, 0)
/* A request that ends does not wait for the thread that resolves its host's name. */
static CURLcode set_newer_limits(CURL *easy)
{
	return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) |
	       curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
}
#else
static CURLcode set_newer_limits(CURL *easy)
{
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
}
#endif

static bool set_limits(CURL *easy, const struct dpumap_http_request *request)
{
	long timeout = (long)request->timeout_ms;
	CURLcode code = CURLE_OK;

	code |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout);
	if (!request->line)
		code |= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout);
	code |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	code |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, ALIVE_S);
	code |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, ALIVE_S);
	code |= curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
	code |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	code |= set_newer_limits(easy);
	/* The endpoints are named in the configuration: no proxy of the environment, no redirection. */
	code |= curl_easy_setopt(easy, CURLOPT_PROXY, "");
	code |= curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	code |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	return code == CURLE_OK;
}

static bool set_up(struct dpumap_http_call *call, const struct dpumap_http_request *request)
{
	CURL *easy = call->easy;
	CURLcode code = CURLE_OK;

	if (!add_header(call, "Content-Type: ", "application/json") ||
	    !add_header(call, "Expect:", "") ||
	    (request->authorization &&
	     !add_header(call, "Authorization: ", request->authorization)) ||
	    (request->header && !add_header(call, request->header, "")))
		return false;
	code |= curl_easy_setopt(easy, CURLOPT_URL, request->url);
	code |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
	code |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
	code |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	code |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
	code |= curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	return code == CURLE_OK && set_limits(easy, request) && set_tls(easy, call->http->tls) &&
	       set_body(call, request);
}

doca_error_t dpumap_http_begin(struct dpumap_http *http, const struct dpumap_http_request *request,
			       struct dpumap_http_call **call, struct dpumap_error *error)
{
	struct dpumap_http_call *c = calloc(1, sizeof(*c));

	if (!c)
		goto no_memory;
	*c = (struct dpumap_http_call){.http = http,
				       .done = request->done,
				       .line = request->line,
				       .context = request->context};
	c->easy = curl_easy_init();
	if (!c->easy) {
		free(c);
		goto no_memory;
	}
	TAILQ_INSERT_TAIL(&http->calls, c, link);
	if (!set_up(c, request) || curl_multi_add_handle(http->multi, c->easy) != CURLM_OK) {
		release(c);
		goto no_memory;
	}
	*call = c;
	return DOCA_SUCCESS;
no_memory:
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a request to etcd");
}

/* --- progress --------------------------------------------------------------------------------- */

static doca_error_t code_of(const struct dpumap_http_call *call, CURLcode code)
{
	if (call->too_big)
		return DOCA_ERROR_TOO_BIG;
	if (call->no_memory)
		return DOCA_ERROR_NO_MEMORY;
	switch (code) {
	case CURLE_OK:
		return DOCA_SUCCESS;
	case CURLE_OPERATION_TIMEDOUT:
		return DOCA_ERROR_TIME_OUT;
	case CURLE_OUT_OF_MEMORY:
		return DOCA_ERROR_NO_MEMORY;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return DOCA_ERROR_AUTHENTICATION;
	default:
		/* With TLS 1.3 a server refuses the client after the handshake, when the client reads. */
		return strstr(call->error, "SSL routines") ? DOCA_ERROR_AUTHENTICATION
							   : DOCA_ERROR_NOT_CONNECTED;
	}
}

static const char *reason_of(const struct dpumap_http_call *call, CURLcode code)
{
	if (call->too_big)
		return "its answer is too long";
	if (call->error[0])
		return call->error;
	return curl_easy_strerror(code);
}

static void finish(struct dpumap_http_call *call, CURLcode code)
{
	struct dpumap_http_answer answer = {.body = call->data ? call->data : "", .len = call->len};
	doca_error_t result = code_of(call, code);

	if (result == DOCA_SUCCESS)
		curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &answer.status);
	else if (result == DOCA_ERROR_AUTHENTICATION)
		dpumap_error_set(&answer.error, result,
				 "TLS: %.200s; check ca, cert and key for etcd",
				 reason_of(call, code));
	else
		dpumap_error_set(&answer.error, result, "%.200s", reason_of(call, code));
	call->ended = true;
	call->done(call->context, &answer);
}

/* One long line does not keep its memory. */
static void shrink(struct dpumap_http_call *call)
{
	char *data = realloc(call->data, FIRST_ROOM);

	if (!data)
		return;
	call->data = data;
	call->room = FIRST_ROOM;
}

/* Reports the lines that are complete. */
static void report_lines(struct dpumap_http_call *call)
{
	size_t done = 0;
	char *end;

	while (!call->ended && (end = memchr(call->data + done, '\n', call->len - done)) != NULL) {
		*end = '\0';
		call->line(call->context, call->data + done, (size_t)(end - call->data) - done);
		done = (size_t)(end - call->data) + 1;
	}
	if (!done)
		return;
	call->len -= done;
	memmove(call->data, call->data + done, call->len);
	if (call->room > FIRST_ROOM * 16 && call->len < FIRST_ROOM && !call->ended)
		shrink(call);
}

static void report(struct dpumap_http *http)
{
	struct dpumap_http_call *call;
	CURLMsg *message;
	int left;

	TAILQ_FOREACH(call, &http->calls, link)
	if (call->line && call->len && !call->ended)
		report_lines(call);
	while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call) !=
			    CURLE_OK ||
		    call->ended)
			continue;
		if (call->line && call->len)
			report_lines(call);
		if (!call->ended)
			finish(call, message->data.result);
	}
}

static void sweep(struct dpumap_http *http)
{
	struct dpumap_http_call *next;

	for (struct dpumap_http_call *call = TAILQ_FIRST(&http->calls); call; call = next) {
		next = TAILQ_NEXT(call, link);
		if (call->ended)
			release(call);
	}
}

static int action_of(uint32_t events)
{
	int action = 0;

	if (events & EPOLLIN)
		action |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		action |= CURL_CSELECT_OUT;
	if (events & (EPOLLERR | EPOLLHUP))
		action |= CURL_CSELECT_ERR;
	return action;
}

void dpumap_http_process(struct dpumap_http *http)
{
	struct epoll_event events[EVENTS];
	int num, running;

	http->busy = true;
	num = epoll_wait(http->epoll, events, EVENTS, 0);
	for (int i = 0; i < num; i++)
		curl_multi_socket_action(http->multi, events[i].data.fd,
					 action_of(events[i].events), &running);
	if (monotonic_ns() >= http->deadline) {
		http->deadline = UINT64_MAX;
		curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	report(http);
	http->busy = false;
	sweep(http);
}

int dpumap_http_fd(const struct dpumap_http *http)
{
	return http->epoll;
}

uint64_t dpumap_http_next(const struct dpumap_http *http)
{
	return http->deadline;
}

/* --- life ------------------------------------------------------------------------------------- */

static CURLcode curl_state;

/* libcurl copies passwords and tokens into buffers of its own, and does not wipe them. */
static void wipe_and_free(void *memory)
{
	if (memory)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

static void *resize(void *memory, size_t size)
{
	size_t now = memory ? malloc_usable_size(memory) : 0;
	void *other;

	if (memory && size <= now && size > now / 2)
		return memory;
	other = malloc(size);
	if (!other)
		return NULL;
	if (memory)
		memcpy(other, memory, now < size ? now : size);
	wipe_and_free(memory);
	return other;
}

/* Without effect on the memory if the program has started libcurl itself. */
static void start_curl(void)
{
	curl_state = curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wipe_and_free, resize,
					  strdup, calloc);
}

static CURLM *new_multi(struct dpumap_http *http)
{
	CURLM *multi = curl_multi_init();

	if (!multi)
		return NULL;
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, http);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
	curl_multi_setopt(multi, CURLMOPT_TIMERDATA, http);
	curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	return multi;
}

doca_error_t dpumap_http_create(const struct dpumap_http_tls *tls, struct dpumap_http **http,
				struct dpumap_error *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct dpumap_http *h = calloc(1, sizeof(*h));

	if (!h)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a fleet");
	TAILQ_INIT(&h->calls);
	h->tls = tls;
	h->deadline = UINT64_MAX;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll < 0) {
		dpumap_error_errno(error, errno, "cannot create an epoll descriptor");
		free(h);
		return error->code;
	}
	pthread_once(&once, start_curl);
	h->multi = curl_state == CURLE_OK ? new_multi(h) : NULL;
	if (!h->multi) {
		close(h->epoll);
		free(h);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "cannot start libcurl");
	}
	*http = h;
	return DOCA_SUCCESS;
}

void dpumap_http_destroy(struct dpumap_http *http)
{
	if (!http)
		return;
	while (!TAILQ_EMPTY(&http->calls))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): release() takes it off the list */
		release(TAILQ_FIRST(&http->calls));
	curl_multi_cleanup(http->multi);
	close(http->epoll);
	free(http);
}
