/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/figures.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/live.h"

/* --- samples ---------------------------------------------------------------------------------- */

void cli_figures_add(struct cli_figures *figures, struct json_object *object)
{
	json_object_put(figures->before.object);
	figures->before = figures->after;
	figures->after = (struct cli_sample){monotonic_ns(), object};
}

void cli_figures_free(struct cli_figures *figures)
{
	json_object_put(figures->before.object);
	json_object_put(figures->after.object);
	*figures = (struct cli_figures){0};
}

uint64_t cli_figures_number(struct json_object *from, const char *key)
{
	return json_object_get_uint64(json_object_object_get(from, key));
}

const char *cli_figures_text(struct json_object *from, const char *key)
{
	const char *value = json_object_get_string(json_object_object_get(from, key));

	return value ? value : "";
}

/* --- rates ------------------------------------------------------------------------------------ */

static double rate(const struct cli_figures *f, struct json_object *before,
		   struct json_object *after, const char *counter)
{
	if (!f->before.ns)
		return 0;
	return cli_live_rate(cli_figures_number(before, counter),
			     cli_figures_number(after, counter), f->after.ns - f->before.ns);
}

double cli_figures_rate(const struct cli_figures *figures, const char *counter)
{
	return rate(figures, figures->before.object, figures->after.object, counter);
}

static struct json_object *find(struct json_object *object, const struct cli_figures_list *list,
				uint64_t id)
{
	struct json_object *rows = json_object_object_get(object, list->list), *one;

	for (size_t i = 0; rows && i < json_object_array_length(rows); i++) {
		one = json_object_array_get_idx(rows, i);
		if (cli_figures_number(one, list->id) == id)
			return one;
	}
	return NULL;
}

static struct cli_figures_row
row_of(const struct cli_figures *f, const struct cli_figures_list *list, struct json_object *object)
{
	struct json_object *before =
		find(f->before.object, list, cli_figures_number(object, list->id));
	struct cli_figures_row row = {.object = object};

	for (size_t i = 0; list->counters[i]; i++)
		row.rate[i] = rate(f, before, object, list->counters[i]);
	return row;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct cli_figures_row *p = a, *q = b;
	const struct cli_figures_list *list = arg;
	uint64_t x = cli_figures_number(p->object, list->id);
	uint64_t y = cli_figures_number(q->object, list->id);

	for (size_t i = 0; list->counters[i]; i++)
		if (p->rate[i] != q->rate[i])
			return p->rate[i] < q->rate[i] ? 1 : -1;
	return (x > y) - (x < y);
}

struct cli_figures_row *cli_figures_rows(const struct cli_figures *figures,
					 const struct cli_figures_list *list, size_t *count)
{
	struct json_object *rows = json_object_object_get(figures->after.object, list->list);
	struct cli_figures_list sorted_by = *list;
	struct cli_figures_row *made;

	*count = rows ? json_object_array_length(rows) : 0;
	made = *count ? calloc(*count, sizeof(*made)) : NULL;
	if (!made) {
		*count = 0;
		return NULL;
	}
	for (size_t i = 0; i < *count; i++)
		made[i] = row_of(figures, list, json_object_array_get_idx(rows, i));
	qsort_r(made, *count, sizeof(*made), compare, &sorted_by);
	return made;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put(struct json_object *to, const char *key, double value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.3f", value);
	json_object_object_add(to, key, json_object_new_double_s(value, digits));
}

void cli_figures_put_seconds(struct json_object *to, const struct cli_figures *figures)
{
	put(to, "seconds", (double)(figures->after.ns - figures->before.ns) / (double)NSEC_PER_SEC);
}

void cli_figures_put_rate(struct json_object *to, const char *counter, double value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_per_second", counter);
	put(to, key, value);
}

void cli_figures_put_rates(struct json_object *to, const struct cli_figures *figures,
			   const char *const *counters)
{
	for (; *counters; counters++)
		cli_figures_put_rate(to, *counters, cli_figures_rate(figures, *counters));
}

void cli_figures_copy(struct json_object *to, struct json_object *from, const char *const *keys)
{
	for (; *keys; keys++)
		json_object_object_add(to, *keys,
				       json_object_get(json_object_object_get(from, *keys)));
}

struct json_object *cli_figures_describe(const struct cli_figures *figures,
					 const struct cli_figures_list *list,
					 const char *const *others)
{
	struct json_object *described = json_object_new_array(), *one;
	size_t count;
	struct cli_figures_row *rows = cli_figures_rows(figures, list, &count);

	for (size_t i = 0; i < count; i++) {
		one = json_object_new_object();
		cli_figures_copy(one, rows[i].object, others);
		for (size_t k = 0; list->counters[k]; k++)
			cli_figures_put_rate(one, list->counters[k], rows[i].rate[k]);
		json_object_array_add(described, one);
	}
	free(rows);
	return described;
}
