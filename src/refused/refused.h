/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DOCA's libraries for engines to which rdma-core has no interface. Capability functions say so, and
 * no object can be created, so the other functions have nothing to work on. The macros define these
 * functions, with the arguments of their headers.
 */
#ifndef DPUMAP_REFUSED_H
#define DPUMAP_REFUSED_H

#include <doca_error.h>

struct doca_dev;
struct doca_devinfo;

/* Results of the function with this name. out is where it would write. */
doca_error_t dpumap_refuse_cap(const char *function, const struct doca_devinfo *devinfo,
			       const void *out);
doca_error_t dpumap_refuse_create(const char *function, const struct doca_dev *dev,
				  const void *out);
doca_error_t dpumap_refuse_call(const char *function, const void *object);

/* Most of these functions use none of their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* The arguments include a pointer "devinfo", and for the second macro a pointer "out". */
#define REFUSED_CAP(name, ...)                                        \
	doca_error_t name(__VA_ARGS__)                                \
	{                                                             \
		return dpumap_refuse_cap(__func__, devinfo, devinfo); \
	}
#define REFUSED_CAP_GET(name, ...)                                \
	doca_error_t name(__VA_ARGS__)                            \
	{                                                         \
		return dpumap_refuse_cap(__func__, devinfo, out); \
	}
/* The first argument is a pointer "object". */
#define REFUSED_CALL(name, ...)                              \
	doca_error_t name(__VA_ARGS__)                       \
	{                                                    \
		return dpumap_refuse_call(__func__, object); \
	}
#define REFUSED_GET(type, name, ...) \
	type name(__VA_ARGS__)       \
	{                            \
		return 0;            \
	}
#define REFUSED_SET(name, ...) \
	void name(__VA_ARGS__) \
	{                      \
	}

#define REFUSED_OBJECT(object_type)                                                       \
	doca_error_t object_type##_create(struct doca_dev *dev, struct object_type **out) \
	{                                                                                 \
		return dpumap_refuse_create(__func__, dev, out);                          \
	}                                                                                 \
	REFUSED_CALL(object_type##_destroy, struct object_type *object)                   \
	REFUSED_GET(struct doca_ctx *, object_type##_as_ctx, struct object_type *object)

#define REFUSED_TASK(object_type, task_type, count_type)                                           \
	REFUSED_CALL(task_type##_set_conf, struct object_type *object,                             \
		     task_type##_completion_cb_t success_cb, task_type##_completion_cb_t error_cb, \
		     count_type num_tasks)                                                         \
	REFUSED_GET(struct doca_task *, task_type##_as_task, struct task_type *task)

#endif
