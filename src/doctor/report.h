/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report of all findings, as text and as JSON (dpumap(1) has the schema). */
#ifndef DPUMAP_DOCTOR_REPORT_H
#define DPUMAP_DOCTOR_REPORT_H

#include <stdio.h>

#include "doctor/doctor.h"
#include "doctor/finding.h"

/*
 * The report as the JSON object of the schema, without the findings; *failed is the first failure
 * or NULL.
 */
struct json_object *doctor_verdict(const struct dpumap_doctor_options *options,
				   struct json_object *findings, struct json_object **failed);

/* The findings of one group: those up to this index that the sections before do not contain. */
struct doctor_section {
	const char *title;
	size_t end;
};

/* The section of the last findings is followed by one without a title. */
void doctor_print(FILE *out, const struct dpumap_doctor_options *options,
		  struct json_object *report, const struct doctor_section *sections);

#endif
