/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/doctor.h"

#include <string.h>

#include "base/array.h"
#include "doctor/checks.h"
#include "doctor/report.h"
#include "doctor/run_group.h"

static const struct group *const groups[] = {
	&doctor_group_system,
	&doctor_group_device,
	&doctor_group_trial,
	&doctor_group_link,
};

/* An error that leads to the exit status of the finding. */
static doca_error_t error_of(struct json_object *failed)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(failed, "exit", &value);
	switch (json_object_get_int(value)) {
	case DPUMAP_EXIT_NOT_FOUND:
		return DOCA_ERROR_NOT_FOUND;
	case DPUMAP_EXIT_REFUSED:
		return DOCA_ERROR_NOT_PERMITTED;
	case DPUMAP_EXIT_DEVICE:
		return DOCA_ERROR_NOT_SUPPORTED;
	default:
		return DOCA_ERROR_UNKNOWN;
	}
}

#define NUM_GROUPS ARRAY_SIZE(groups)

static doca_error_t run_groups(const struct dpumap_doctor_options *options,
			       struct json_object *findings,
			       struct doctor_section sections[static NUM_GROUPS],
			       struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < NUM_GROUPS && result == DOCA_SUCCESS; i++) {
		result = doctor_run_group(groups[i], options, findings, error);
		sections[i] = (struct doctor_section){groups[i]->title,
						      json_object_array_length(findings)};
	}
	return result;
}

doca_error_t dpumap_doctor_run(const struct dpumap_doctor_options *options, FILE *out,
			       struct dpumap_error *error)
{
	struct json_object *findings = json_object_new_array();
	struct doctor_section sections[NUM_GROUPS + 1] = {0};
	struct json_object *report, *failed;
	doca_error_t result;

	if (!findings)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for findings");
	result = run_groups(options, findings, sections, error);
	if (result != DOCA_SUCCESS) {
		json_object_put(findings);
		return result;
	}
	report = doctor_verdict(options, findings, &failed);
	json_object_object_add(report, "checks", findings);
	doctor_print(out, options, report, sections);
	if (failed)
		result = dpumap_error_set(error, error_of(failed), "%s: %s",
					  doctor_json_text(failed, "id"),
					  doctor_json_text(failed, "text"));
	json_object_put(report);
	return result;
}
