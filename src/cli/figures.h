/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The figures that "top" shows: two JSON objects of a server, and how much its counters rose between them. */
#ifndef DPUMAP_CLI_FIGURES_H
#define DPUMAP_CLI_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#define CLI_FIGURES_COUNTERS 4

struct cli_sample {
	uint64_t ns; /* 0: there is none */
	struct json_object *object;
};

struct cli_figures {
	struct cli_sample before, after;
};

/* Takes over the object of now. */
void cli_figures_add(struct cli_figures *figures, struct json_object *object);
void cli_figures_free(struct cli_figures *figures);

/* A member of any object; 0 or "" if it has none. */
uint64_t cli_figures_number(struct json_object *from, const char *key);
const char *cli_figures_text(struct json_object *from, const char *key);
/* A counter of the object, a second; 0 after one sample alone. */
double cli_figures_rate(const struct cli_figures *figures, const char *counter);

/* A list in the object. A row that is new has begun at 0. */
struct cli_figures_list {
	const char *list;
	const char *id; /* a number that finds a row again */
	const char *counters[CLI_FIGURES_COUNTERS + 1];
};

struct cli_figures_row {
	struct json_object *object;
	double rate[CLI_FIGURES_COUNTERS]; /* of each counter, a second */
};

/* The caller frees them. The busiest is the first, by the first counter, then by the next. NULL: there are none. */
struct cli_figures_row *cli_figures_rows(const struct cli_figures *figures,
					 const struct cli_figures_list *list, size_t *count);

/* Adds "seconds", the length of the interval. */
void cli_figures_put_seconds(struct json_object *to, const struct cli_figures *figures);
/* Adds "COUNTER_per_second". */
void cli_figures_put_rate(struct json_object *to, const char *counter, double rate);
/* The same for counters of the object, until NULL. */
void cli_figures_put_rates(struct json_object *to, const struct cli_figures *figures,
			   const char *const *counters);
/* The same for each row, with its other members that are named until NULL. */
struct json_object *cli_figures_describe(const struct cli_figures *figures,
					 const struct cli_figures_list *list,
					 const char *const *others);
/* Copies members, until NULL. */
void cli_figures_copy(struct json_object *to, struct json_object *from, const char *const *keys);

#endif
