/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/metrics.h"

#include <string.h>
#include <strings.h>

/* A part of the request line. */
struct word {
	const char *at;
	size_t len;
};

static bool equals(struct word word, const char *text)
{
	return word.len == strlen(text) && memcmp(word.at, text, word.len) == 0;
}

/* Up to the next space or the end of the line, which it skips. */
static struct word take_word(const char **at)
{
	struct word word = {*at, strcspn(*at, " \r\n")};

	*at += word.len + ((*at)[word.len] == ' ');
	return word;
}

/* "http://HOST/PATH?QUERY" is the form for proxies; servers must accept it too. */
static struct word path_of(struct word target)
{
	static const char scheme[] = "http://";
	const size_t len = sizeof(scheme) - 1;
	size_t host;

	if (target.len >= len && strncasecmp(target.at, scheme, len) == 0) {
		host = len + strcspn(target.at + len, "/? \r\n");
		target = (struct word){target.at + host, target.len - host};
	}
	for (size_t i = 0; i < target.len; i++)
		if (target.at[i] == '?')
			target.len = i;
	return target;
}

unsigned int http_status(const char *request, const char *path, bool *is_head)
{
	struct word method = take_word(&request);
	struct word target = take_word(&request);
	struct word version = take_word(&request);

	*is_head = equals(method, "HEAD");
	if (!method.len || !target.len || version.len < 8 || strncmp(version.at, "HTTP/1.", 7) != 0)
		return 400;
	if (!equals(path_of(target), path))
		return 404;
	return *is_head || equals(method, "GET") ? 200 : 405;
}

static const char *reason_of(unsigned int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	default:
		return "Bad Request";
	}
}

void http_reply(FILE *out, unsigned int status, const char *body, bool is_head)
{
	fprintf(out, "HTTP/1.0 %u %s\r\n", status, reason_of(status));
	if (status == 200)
		fputs("Content-Type: text/plain; version=0.0.4\r\n", out);
	if (status == 405)
		fputs("Allow: GET, HEAD\r\n", out);
	fprintf(out, "Content-Length: %zu\r\n\r\n%s", strlen(body), is_head ? "" : body);
}
