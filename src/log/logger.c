/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loggers: names of sources. A logger holds a name and no source, so it never refers to a source
 * that was unregistered.
 */
#include <doca_log.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/backend.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/source.h"

#define SEPARATOR "::"

struct doca_logger {
	size_t len; /* of the name */
	char name[];
};

static unsigned int count_separators(const char *name)
{
	unsigned int n = 0;

	while ((name = strstr(name, SEPARATOR))) {
		name += strlen(SEPARATOR);
		n++;
	}
	return n;
}

static bool is_below(const char *name, const struct doca_logger *parent)
{
	return !parent || (!strncmp(name, parent->name, parent->len) &&
			   !strncmp(name + parent->len, SEPARATOR, strlen(SEPARATOR)));
}

/* How many levels a name is below the parent, or below no parent. */
static unsigned int level_below(const char *name, const struct doca_logger *parent)
{
	return parent ? count_separators(name + parent->len) : count_separators(name) + 1;
}

static struct doca_logger *logger_new(const char *name)
{
	size_t len = strlen(name);
	struct doca_logger *logger = malloc(sizeof(*logger) + len + 1);

	if (!logger)
		return NULL;
	logger->len = len;
	memcpy(logger->name, name, len + 1);
	return logger;
}

static struct doca_logger *find(struct doca_logger **list, const char *name)
{
	for (; *list; list++)
		if (!strcmp((*list)->name, name))
			return *list;
	return NULL;
}

static void free_list(struct doca_logger **list)
{
	for (struct doca_logger **logger = list; *logger; logger++)
		free(*logger);
	free(list);
}

/* With room for the NULL after the last logger. Requires the lock, as does all that follows. */
static struct doca_logger **list_new(void)
{
	size_t room = (size_t)dpumap_log_source_last() + 1;
	struct doca_logger **list = reallocarray(NULL, room, sizeof(struct doca_logger *));

	if (list)
		list[0] = NULL;
	return list;
}

/* Returns the number of loggers; -1 without memory. */
static int fill(struct doca_logger **list, const struct doca_logger *parent, uint8_t depth)
{
	int n = 0;

	for (int source = 1; source <= dpumap_log_source_last(); source++) {
		const char *name = dpumap_log_source_name(source);

		if (!name || !is_below(name, parent) || find(list, name))
			continue;
		if (depth && level_below(name, parent) > depth)
			continue;
		list[n] = logger_new(name);
		if (!list[n])
			return -1;
		list[++n] = NULL;
	}
	return n;
}

static struct doca_logger **list_sources(const struct doca_logger *parent, uint8_t depth,
					 uint32_t *count)
{
	struct doca_logger **list = list_new();
	int n = list ? fill(list, parent, depth) : 0;

	if (n < 0) {
		free_list(list);
		return NULL;
	}
	*count = (uint32_t)n;
	return list;
}

doca_error_t doca_logger_create_list(const struct doca_logger *parent, uint8_t depth,
				     struct doca_logger ***list, uint32_t *count)
{
	struct dpumap_log_lock_state state;
	struct doca_logger **created;
	uint32_t n = 0;

	if (!list || !count)
		return dpumap_fail_null(__func__);
	dpumap_log_lock(&state);
	created = list_sources(parent, depth, &n);
	dpumap_log_unlock(&state);
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a list of loggers");
	*list = created;
	*count = n;
	return DOCA_SUCCESS;
}

doca_error_t doca_logger_destroy_list(struct doca_logger **list)
{
	if (!list)
		return dpumap_fail_null(__func__);
	free_list(list);
	return DOCA_SUCCESS;
}

struct doca_logger *doca_logger_find_by_name(struct doca_logger **list, const char *name)
{
	return list && name ? find(list, name) : NULL;
}

static doca_error_t fail_unregistered(const char *function, const struct doca_logger *logger)
{
	return dpumap_fail(DOCA_ERROR_NOT_FOUND,
			   "%s: no log source has the name \"%s\" any more; create the list again",
			   function, logger->name);
}

static bool set_level(const struct doca_logger *logger, uint32_t level, bool propagate)
{
	bool found = false;

	for (int source = 1; source <= dpumap_log_source_last(); source++) {
		const char *name = dpumap_log_source_name(source);

		if (!name)
			continue;
		if (!strcmp(name, logger->name) || (propagate && is_below(name, logger))) {
			dpumap_log_source_set_level(source, level);
			found = true;
		}
	}
	return found;
}

doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate)
{
	struct dpumap_log_lock_state state;
	bool found;

	if (!logger)
		return dpumap_fail_null(__func__);
	if (!dpumap_log_is_level((uint32_t)level))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: invalid log level %d: use one of DOCA_LOG_LEVEL_*",
				   __func__, level);
	dpumap_log_lock(&state);
	found = set_level(logger, (uint32_t)level, propagate);
	dpumap_log_unlock(&state);
	return found ? DOCA_SUCCESS : fail_unregistered(__func__, logger);
}

/* The number of a source with that name; 0 if there is none. */
static int source_of(const struct doca_logger *logger)
{
	for (int source = 1; source <= dpumap_log_source_last(); source++) {
		const char *name = dpumap_log_source_name(source);

		if (name && !strcmp(name, logger->name))
			return source;
	}
	return 0;
}

doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level)
{
	struct dpumap_log_lock_state state;
	uint32_t found;
	int source;

	if (!logger || !level)
		return dpumap_fail_null(__func__);
	dpumap_log_lock(&state);
	source = source_of(logger);
	found = dpumap_log_source_level(source);
	dpumap_log_unlock(&state);
	if (!source)
		return fail_unregistered(__func__, logger);
	*level = (int)found;
	return DOCA_SUCCESS;
}

doca_error_t doca_logger_get_name(const struct doca_logger *logger,
				  char name[DOCA_LOGGER_NAME_SIZE])
{
	size_t len;

	if (!logger || !name)
		return dpumap_fail_null(__func__);
	len = logger->len < DOCA_LOGGER_NAME_SIZE ? logger->len : DOCA_LOGGER_NAME_SIZE - 1;
	memcpy(name, logger->name, len);
	name[len] = '\0';
	return DOCA_SUCCESS;
}
