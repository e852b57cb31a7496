/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A check and what it finds. A check that cannot be made because another one failed says so. */
#ifndef DPUMAP_DOCTOR_CHECK_H
#define DPUMAP_DOCTOR_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "doctor/doctor.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARN, /* works, but not as it could */
	DOCTOR_FAIL, /* keeps us from our work */
	DOCTOR_UNKNOWN,
};

struct finding {
	enum doctor_state state;
	enum dpumap_exit exit; /* of a failure */
	bool follows;	       /* from another finding, which says it all */
	char text[480];
	char advice[480];
	struct json_object *facts;
};

struct patient;

typedef void doctor_check_fn(struct patient *patient, struct finding *finding);

struct check {
	const char *id;
	const char *title;
	doctor_check_fn *run;
};

/* Checks that share what they have opened, and so a process. The last one has no id. */
struct group {
	const char *title;
	const struct check *checks;
	/* Gives back what is still open. */
	void (*end)(struct patient *patient);
};

extern const struct group doctor_group_system;
extern const struct group doctor_group_device;
extern const struct group doctor_group_trial;
extern const struct group doctor_group_link;

/* What a finding says. Advice goes with everything that is not ok. */
void doctor_say(struct finding *finding, enum doctor_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_fail(struct finding *finding, enum dpumap_exit exit, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_advise(struct finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Not looked at, because of what another check found. */
void doctor_follows(struct finding *finding, const char *id);
void doctor_fact(struct finding *finding, const char *name, const char *text);
void doctor_fact_number(struct finding *finding, const char *name, uint64_t number);
void doctor_fact_bool(struct finding *finding, const char *name, bool value);
/* Takes over the value. */
void doctor_fact_object(struct finding *finding, const char *name, struct json_object *value);

const char *doctor_state_name(enum doctor_state state);
/* The finding as the JSON object of the schema; takes over its facts. */
struct json_object *doctor_finding_json(const struct check *check, struct finding *finding);

/* A file of one line, without its newline; false if there is none. */
bool doctor_read_line(const char *path, char *line, size_t size);

/* -- among what was found before -- */

struct json_object *doctor_found(struct json_object *findings, const char *id);
bool doctor_is_ok(struct json_object *findings, const char *id);
struct json_object *doctor_found_fact(struct json_object *findings, const char *id,
				      const char *fact);
const char *doctor_json_text(struct json_object *object, const char *name);

/*
 * Runs the group in a process of its own and adds its findings, one for each check: if it crashed
 * or took too long, that it did. SHUTDOWN when it is told to stop.
 */
doca_error_t doctor_run_group(const struct group *group,
			      const struct dpumap_doctor_options *options,
			      struct json_object *findings, struct dpumap_fault *fault);

/* The whole as the JSON object of the schema, without the findings; *failed is the first that did,
 * or NULL. */
struct json_object *doctor_verdict(const struct dpumap_doctor_options *options,
				   struct json_object *findings, struct json_object **failed);
void doctor_print(FILE *out, const struct dpumap_doctor_options *options,
		  struct json_object *report);

#endif
