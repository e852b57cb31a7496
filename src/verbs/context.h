/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts and protection domains: how they are created, also those that the program brings, and destroyed. */
#ifndef DPUMAP_VERBS_CONTEXT_H
#define DPUMAP_VERBS_CONTEXT_H

#include "verbs/verbs.h"

/* An object without its driver's; function is that of the user. */
doca_error_t dpumap_verbs_new_context(uint32_t flags, const char *function,
				      struct doca_verbs_context **context);
doca_error_t dpumap_verbs_new_pd(struct doca_verbs_context *context, const char *function,
				 struct doca_verbs_pd **pd);
/* With the result of opening it: write it to *context, or free it. */
doca_error_t dpumap_verbs_take_context(struct doca_verbs_context *created, doca_error_t result,
				       struct doca_verbs_context **context);

/*
 * Allocate an object of a context, for the function of a user, and open it with its attributes. *object is written
 * on success. NULL arguments of the user are errors.
 */
typedef doca_error_t dpumap_verbs_opener(void *object, struct doca_verbs_context *context,
					 const void *attr);
struct dpumap_verbs_creation {
	size_t size;
	dpumap_verbs_opener *open;
	struct doca_verbs_context *context;
	const void *attr;
	const char *function;
};
doca_error_t dpumap_verbs_create(const struct dpumap_verbs_creation *creation, void **object);

/* BAD_STATE, logged, if an object is in use. kind is what it is. */
doca_error_t dpumap_verbs_check_unused(const atomic_uint *users, const char *kind,
				       const void *object);

#endif
