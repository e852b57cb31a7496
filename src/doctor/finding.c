/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names and errors of peers may contain any bytes: only printable text goes to a terminal. */
static void make_printable(char *text)
{
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
}

static __attribute__((format(printf, 3, 0))) void set_text(char *text, size_t size, const char *fmt,
							   va_list args)
{
	vsnprintf(text, size, fmt, args);
	make_printable(text);
}

void doctor_report(struct finding *finding, enum doctor_state state, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(finding->text, sizeof(finding->text), fmt, args);
	va_end(args);
	finding->state = state;
}

void doctor_fail(struct finding *finding, enum dpumap_exit exit, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(finding->text, sizeof(finding->text), fmt, args);
	va_end(args);
	finding->state = DOCTOR_FAIL;
	finding->exit = exit;
}

void doctor_advise(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(finding->advice, sizeof(finding->advice), fmt, args);
	va_end(args);
}

void doctor_skip(struct finding *finding, const char *id)
{
	doctor_report(finding, DOCTOR_UNKNOWN, "skipped");
	doctor_advise(finding, "see %s", id);
	finding->follows = true;
}

void doctor_fact_object(struct finding *finding, const char *name, struct json_object *value)
{
	if (!finding->facts)
		finding->facts = json_object_new_object();
	json_object_object_add(finding->facts, name, value);
}

void doctor_fact(struct finding *finding, const char *name, const char *text)
{
	doctor_fact_object(finding, name, json_object_new_string(text));
}

void doctor_fact_number(struct finding *finding, const char *name, uint64_t number)
{
	doctor_fact_object(finding, name, json_object_new_uint64(number));
}

void doctor_fact_bool(struct finding *finding, const char *name, bool value)
{
	doctor_fact_object(finding, name, json_object_new_boolean(value));
}

const char *doctor_state_name(enum doctor_state state)
{
	static const char *const names[] = {[DOCTOR_OK] = "ok",
					    [DOCTOR_WARN] = "warn",
					    [DOCTOR_FAIL] = "fail",
					    [DOCTOR_UNKNOWN] = "unknown"};

	return names[state];
}

struct json_object *doctor_finding_json(const char *id, const char *title, struct finding *finding)
{
	struct json_object *object = json_object_new_object();
	struct json_object *facts = finding->facts ? finding->facts : json_object_new_object();

	json_object_object_add(object, "id", json_object_new_string(id));
	json_object_object_add(object, "title", json_object_new_string(title));
	json_object_object_add(object, "state",
			       json_object_new_string(doctor_state_name(finding->state)));
	json_object_object_add(object, "text", json_object_new_string(finding->text));
	json_object_object_add(object, "advice", json_object_new_string(finding->advice));
	json_object_object_add(object, "follows", json_object_new_boolean(finding->follows));
	json_object_object_add(
		object, "exit",
		json_object_new_int(finding->state == DOCTOR_FAIL ? (int)finding->exit : 0));
	json_object_object_add(object, "facts", facts);
	finding->facts = NULL;
	return object;
}

bool doctor_read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(line, (int)size, f) != NULL;
	fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

const char *doctor_json_text(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;
	const char *text = NULL;

	if (object && json_object_object_get_ex(object, name, &value))
		text = json_object_get_string(value);
	return text ? text : "";
}

struct json_object *doctor_found(struct json_object *findings, const char *id)
{
	for (size_t i = 0; i < json_object_array_length(findings); i++) {
		struct json_object *finding = json_object_array_get_idx(findings, i);

		if (strcmp(doctor_json_text(finding, "id"), id) == 0)
			return finding;
	}
	return NULL;
}

bool doctor_is_ok(struct json_object *findings, const char *id)
{
	return strcmp(doctor_json_text(doctor_found(findings, id), "state"), "ok") == 0;
}

struct json_object *doctor_found_fact(struct json_object *findings, const char *id,
				      const char *fact)
{
	struct json_object *finding = doctor_found(findings, id), *facts = NULL, *value = NULL;

	if (finding && json_object_object_get_ex(finding, "facts", &facts))
		json_object_object_get_ex(facts, fact, &value);
	return value;
}
