/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Errors of the agents: the function that detects an error writes one line with the failed action,
 * the object and the cause; its callers pass the code on, and the program prints the line once.
 */
#ifndef DPUMAP_LOCAL_ERROR_H
#define DPUMAP_LOCAL_ERROR_H

#include <stdbool.h>

#include <doca_error.h>

struct dpumap_error {
	doca_error_t code;
	char text[320];
};

/* Exit codes of both programs. systemd and init scripts give 3 to 7, 64 to 78 and from 200 on other meanings. */
enum dpumap_exit {
	DPUMAP_EXIT_OK = 0,
	DPUMAP_EXIT_FAILED = 1,
	DPUMAP_EXIT_USAGE = 2,
	DPUMAP_EXIT_NOT_FOUND = 13,
	DPUMAP_EXIT_REFUSED = 14,
	DPUMAP_EXIT_DEVICE = 15,
};

/* Both record the line and return the code, so that a caller can return their result. */
doca_error_t dpumap_error_set(struct dpumap_error *error, doca_error_t code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The code follows from err, and its text is appended to the line. */
doca_error_t dpumap_error_errno(struct dpumap_error *error, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* For a failed call of the library: the code's name and description are appended to the line. */
doca_error_t dpumap_error_doca(struct dpumap_error *error, doca_error_t code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * If only a few file descriptors or little memory are left to the process: sets the line, and returns
 * true. Drivers do not report that: they find no device, or a device without capabilities.
 */
bool dpumap_error_is_limit(struct dpumap_error *error, const char *doing);

/* Appends the next step, "see PROGRAM doctor", to the line. Returns the code. */
doca_error_t dpumap_error_see_doctor(struct dpumap_error *error);

enum dpumap_exit dpumap_error_exit(doca_error_t code);

#endif
