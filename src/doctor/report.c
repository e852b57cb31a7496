/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/json.h"

#define SCHEMA "dpumap-doctor-1"

static const char *side_name(enum dpumap_doctor_side side)
{
	return side == DPUMAP_DOCTOR_HOST ? "host" : "dpu";
}

static struct json_object *count_states(struct json_object *findings)
{
	struct json_object *counts = json_object_new_object();
	int n[DOCTOR_UNKNOWN + 1] = {0};

	for (size_t i = 0; i < json_object_array_length(findings); i++) {
		const char *state =
			doctor_json_text(json_object_array_get_idx(findings, i), "state");

		for (int s = DOCTOR_OK; s <= DOCTOR_UNKNOWN; s++)
			n[s] += strcmp(state, doctor_state_name((enum doctor_state)s)) == 0;
	}
	for (int s = DOCTOR_OK; s <= DOCTOR_UNKNOWN; s++)
		json_object_object_add(counts, doctor_state_name((enum doctor_state)s),
				       json_object_new_int(n[s]));
	return counts;
}

static struct json_object *first_failed(struct json_object *findings)
{
	for (size_t i = 0; i < json_object_array_length(findings); i++) {
		struct json_object *finding = json_object_array_get_idx(findings, i);

		if (strcmp(doctor_json_text(finding, "state"), "fail") == 0)
			return finding;
	}
	return NULL;
}

static bool has_fact(struct json_object *findings, const char *id, const char *fact)
{
	struct json_object *value = doctor_found_fact(findings, id, fact);

	return value && json_object_get_boolean(value);
}

/* What works here, according to trials or else to capabilities. */
static struct json_object *list_works(struct json_object *findings)
{
	struct json_object *works = json_object_new_object();
	bool is_up = doctor_is_ok(findings, "port.state") && doctor_is_ok(findings, "port.gid");
	const struct {
		const char *what;
		bool works;
	} all[] = {
		{"pci_export", doctor_is_ok(findings, "try.export")},
		{"pci_import", has_fact(findings, "cap.pci-import", "supported") &&
				       doctor_is_ok(findings, "try.copy")},
		{"rdma", has_fact(findings, "cap.rdma", "supported") && is_up},
		{"device_memory", doctor_is_ok(findings, "try.device-memory")},
		{"copies", doctor_is_ok(findings, "try.copy")},
		{"dpumapd", doctor_is_ok(findings, "link.version")},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		json_object_object_add(works, all[i].what, json_object_new_boolean(all[i].works));
	return works;
}

static bool does_work(struct json_object *works, const char *what)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(works, what, &value) && json_object_get_boolean(value);
}

static void write_verdict(const struct dpumap_doctor_options *options, struct json_object *failed,
			  struct json_object *works, char *text, size_t size)
{
	const char *job = options->side == DPUMAP_DOCTOR_HOST ? "import memory over PCI"
							      : "export memory over PCI";
	bool linked = does_work(works, "dpumapd");
	const char *rdma = "";

	/* Importing needs both the device and dpumapd. */
	if (does_work(works, "rdma"))
		rdma = linked ? "; exports over RDMA work"
			      : "; the device supports exports over RDMA";
	if (!failed)
		snprintf(text, size, "ready to %s%s%s%s", job,
			 linked ? "; connected to dpumapd" : "", rdma,
			 linked && rdma[0] ? " too" : "");
	else
		snprintf(text, size, "not ready to %s: see %s%s", job,
			 doctor_json_text(failed, "id"), rdma);
}

struct json_object *doctor_verdict(const struct dpumap_doctor_options *options,
				   struct json_object *findings, struct json_object **failed)
{
	struct json_object *report = json_object_new_object();
	struct json_object *works = list_works(findings), *exit = NULL;
	char verdict[240];

	*failed = first_failed(findings);
	if (*failed)
		json_object_object_get_ex(*failed, "exit", &exit);
	write_verdict(options, *failed, works, verdict, sizeof(verdict));
	json_object_object_add(report, "schema", json_object_new_string(SCHEMA));
	json_object_object_add(report, "dpumap", json_object_new_string(options->version));
	json_object_object_add(report, "side", json_object_new_string(side_name(options->side)));
	json_object_object_add(report, "ready", json_object_new_boolean(!*failed));
	json_object_object_add(report, "verdict", json_object_new_string(verdict));
	json_object_object_add(report, "exit", json_object_new_int(json_object_get_int(exit)));
	json_object_object_add(report, "works", works);
	json_object_object_add(report, "counts", count_states(findings));
	return report;
}

/* --- text output ------------------------------------------------------------------------------ */

static const char *colour_of(const char *state)
{
	if (strcmp(state, "ok") == 0)
		return "\033[32m";
	if (strcmp(state, "warn") == 0)
		return "\033[33m";
	return strcmp(state, "fail") == 0 ? "\033[31m" : "\033[36m";
}

static bool wants_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR");

	return isatty(fileno(out)) && !(no && no[0]);
}

static bool is_shown(const struct dpumap_doctor_options *options, struct json_object *finding)
{
	struct json_object *follows = NULL;

	json_object_object_get_ex(finding, "follows", &follows);
	return options->all || !json_object_get_boolean(follows);
}

static void print_finding(FILE *out, bool colour, struct json_object *finding)
{
	const char *state = doctor_json_text(finding, "state");
	const char *advice = doctor_json_text(finding, "advice");

	fprintf(out, "%s%-8s%s %-18s %s\n", colour ? colour_of(state) : "", state,
		colour ? "\033[0m" : "", doctor_json_text(finding, "id"),
		doctor_json_text(finding, "text"));
	if (advice[0])
		fprintf(out, "%8s %-18s -> %s\n", "", "", advice);
}

/* What is wrong, the worst first. The sections omit it. */
static const char *const bad_states[] = {"fail", "warn"};

#define NUM_BAD ARRAY_SIZE(bad_states)

static bool is_bad(struct json_object *finding)
{
	for (size_t i = 0; i < NUM_BAD; i++)
		if (strcmp(doctor_json_text(finding, "state"), bad_states[i]) == 0)
			return true;
	return false;
}

static void print_title(FILE *out, bool colour, const char *title)
{
	fprintf(out, "%s%s%s\n", colour ? "\033[1m" : "", title, colour ? "\033[0m" : "");
}

static void print_bad(FILE *out, bool colour, struct json_object *checks)
{
	bool any = false;

	for (size_t state = 0; state < NUM_BAD; state++) {
		for (size_t i = 0; i < json_object_array_length(checks); i++) {
			struct json_object *finding = json_object_array_get_idx(checks, i);

			if (strcmp(doctor_json_text(finding, "state"), bad_states[state]) != 0)
				continue;
			if (!any)
				print_title(out, colour, "Problems");
			any = true;
			print_finding(out, colour, finding);
		}
	}
	if (any)
		fputc('\n', out);
}

/* Returns how many findings are hidden. */
static size_t print_section(FILE *out, bool colour, const struct dpumap_doctor_options *options,
			    struct json_object *checks, const struct doctor_section *section,
			    size_t begin)
{
	size_t hidden = 0;
	bool any = false;

	for (size_t i = begin; i < section->end; i++) {
		struct json_object *finding = json_object_array_get_idx(checks, i);

		if (!is_shown(options, finding)) {
			hidden++;
			continue;
		}
		if (is_bad(finding))
			continue;
		if (!any)
			print_title(out, colour, section->title);
		any = true;
		print_finding(out, colour, finding);
	}
	if (any)
		fputc('\n', out);
	return hidden;
}

static void print_text(FILE *out, const struct dpumap_doctor_options *options,
		       struct json_object *report, const struct doctor_section *sections)
{
	struct json_object *checks = NULL, *counts = NULL;
	bool colour = wants_colour(out);
	size_t hidden = 0, begin = 0;

	json_object_object_get_ex(report, "checks", &checks);
	json_object_object_get_ex(report, "counts", &counts);
	print_bad(out, colour, checks);
	for (const struct doctor_section *section = sections; section->title; section++) {
		hidden += print_section(out, colour, options, checks, section, begin);
		begin = section->end;
	}
	fprintf(out, "%s ok, %s warn, %s fail, %s unknown", doctor_json_text(counts, "ok"),
		doctor_json_text(counts, "warn"), doctor_json_text(counts, "fail"),
		doctor_json_text(counts, "unknown"));
	if (hidden)
		fprintf(out, " (%zu skipped checks not shown; use --verbose)", hidden);
	fprintf(out, "\nverdict: %s\n", doctor_json_text(report, "verdict"));
}

void doctor_print(FILE *out, const struct dpumap_doctor_options *options,
		  struct json_object *report, const struct doctor_section *sections)
{
	if (options->json)
		cli_json_print(out, report);
	else
		print_text(out, options, report, sections);
}
