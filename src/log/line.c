/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/array.h"

#define SECONDS_OF_DAY 86400

/* Output that is counted beyond its room, as by snprintf(). */
struct out {
	char *text;
	size_t room, len;
};

__attribute__((format(printf, 2, 0))) static void vprint(struct out *out, const char *fmt,
							 va_list ap)
{
	size_t used = out->len < out->room ? out->len : out->room;
	int n = vsnprintf(out->text + used, out->room - used, fmt, ap);

	if (n > 0)
		out->len += (size_t)n;
}

__attribute__((format(printf, 2, 3))) static void print(struct out *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint(out, fmt, ap);
	va_end(ap);
}

/* A level between two has the tag of the more severe one. */
static const char *tag(uint32_t level)
{
	static const char *const tags[] = {"CRT", "ERR", "WRN", "INF", "DBG", "TRC"};
	uint32_t i = (level - DOCA_LOG_LEVEL_CRIT) / 10;
	uint32_t last = ARRAY_SIZE(tags) - 1;

	return tags[i < last ? i : last];
}

static const char *last_component(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static void print_head(struct out *out, const struct dpumap_log_message *message,
		       const struct timespec *now, long utc_offset)
{
	long second = (long)(((long long)now->tv_sec + utc_offset) % SECONDS_OF_DAY);

	second = (second + SECONDS_OF_DAY) % SECONDS_OF_DAY;
	print(out, "[%02ld:%02ld:%02ld:%06ld][%ld][DOCA][%s][%s:%d][%s] ", second / 3600,
	      second / 60 % 60, second % 60, now->tv_nsec / 1000, (long)gettid(),
	      tag(message->level), last_component(message->file), message->line, message->func);
}

/* Returns the length of the whole line without its line feed. */
__attribute__((format(printf, 6, 0))) static size_t
print_all(char *text, size_t room, const struct dpumap_log_message *message,
	  const struct timespec *now, long utc_offset, const char *fmt, va_list ap)
{
	struct out out = {.text = text, .room = room};
	size_t start;
	va_list again;

	print_head(&out, message, now, utc_offset);
	start = out.len;
	va_copy(again, ap);
	vprint(&out, fmt, again);
	va_end(again);
	if (out.len > start && out.len < room && text[out.len - 1] == '\n')
		out.len--;
	print(&out, "%s", message->suffix);
	return out.len;
}

void dpumap_log_text_make(struct dpumap_log_text *line, const struct dpumap_log_message *message,
			  const struct timespec *now, long utc_offset, const char *fmt, va_list ap)
{
	size_t room = sizeof(line->small);
	int saved_errno = errno; /* for %m */
	char *more;

	line->text = line->small;
	line->len = print_all(line->text, room, message, now, utc_offset, fmt, ap);
	if (line->len + 2 > room) {
		more = malloc(line->len + 2);
		errno = saved_errno;
		if (more) {
			line->text = more;
			room = line->len + 2;
			line->len = print_all(more, room, message, now, utc_offset, fmt, ap);
		}
	}
	/* A text that an argument points to may have grown since. */
	if (line->len > room - 2)
		line->len = room - 2;
	line->text[line->len++] = '\n';
	line->text[line->len] = '\0';
}

void dpumap_log_text_release(struct dpumap_log_text *line)
{
	if (line->text != line->small)
		free(line->text);
}
