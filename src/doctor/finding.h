/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a check finds, and findings of earlier checks. */
#ifndef DPUMAP_DOCTOR_FINDING_H
#define DPUMAP_DOCTOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "local/error.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARN, /* works with restrictions */
	DOCTOR_FAIL, /* prevents the agent from working */
	DOCTOR_UNKNOWN,
};

struct finding {
	enum doctor_state state;
	enum dpumap_exit exit; /* of a failure */
	bool follows;	       /* skipped because of another finding */
	char text[480];
	char advice[480];
	struct json_object *facts;
};

/* Sets the state and text of a finding. Every state but ok needs advice. */
void doctor_report(struct finding *finding, enum doctor_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_fail(struct finding *finding, enum dpumap_exit exit, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_advise(struct finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Skipped because of the check id. */
void doctor_skip(struct finding *finding, const char *id);
void doctor_fact(struct finding *finding, const char *name, const char *text);
void doctor_fact_number(struct finding *finding, const char *name, uint64_t number);
void doctor_fact_bool(struct finding *finding, const char *name, bool value);
/* Takes over the value. */
void doctor_fact_object(struct finding *finding, const char *name, struct json_object *value);

const char *doctor_state_name(enum doctor_state state);
/* The finding of the check as the JSON object of the schema; takes over its facts. */
struct json_object *doctor_finding_json(const char *id, const char *title, struct finding *finding);

/* Reads the first line of a file, without the newline; false on failure. */
bool doctor_read_line(const char *path, char *line, size_t size);

/* --- findings of earlier checks --------------------------------------------------------------- */

struct json_object *doctor_found(struct json_object *findings, const char *id);
bool doctor_is_ok(struct json_object *findings, const char *id);
struct json_object *doctor_found_fact(struct json_object *findings, const char *id,
				      const char *fact);
const char *doctor_json_text(struct json_object *object, const char *name);

#endif
