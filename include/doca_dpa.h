/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The data path accelerator (DPA). This library does not support it. The header declares types and
 * no functions, so programs that only name them compile and link. Source of the types: DOCA 3.0,
 * doca_dpa.h.
 */
#ifndef DOCA_DPA_H_
#define DOCA_DPA_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_dpa_app;
struct doca_dpa_async_ops;
struct doca_dpa_completion;
struct doca_dpa_eu_affinity;
struct doca_dpa_hash_table;
struct doca_dpa_notification_completion;
struct doca_dpa_tg;
struct doca_dpa_thread;
struct doca_sync_event;

/** Number of bits of user data in a completion. */
#define DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA (24)

/** Most verbose level of the messages of DPA code. */
enum doca_dpa_dev_log_level {
	DOCA_DPA_DEV_LOG_LEVEL_DISABLE = 10, /**< No messages. */
	DOCA_DPA_DEV_LOG_LEVEL_ERROR = 30,   /**< Errors. */
	DOCA_DPA_DEV_LOG_LEVEL_WARNING = 40, /**< Warnings. */
	DOCA_DPA_DEV_LOG_LEVEL_INFO = 50,    /**< Information. */
	DOCA_DPA_DEV_LOG_LEVEL_DEBUG = 60,   /**< Details. */
};
typedef enum doca_dpa_dev_log_level doca_dpa_dev_log_level_t;

/** Handles of objects in the memory of the DPA, and addresses there. */
typedef uint64_t doca_dpa_dev_t;
typedef uint64_t doca_dpa_dev_uintptr_t;
typedef uint64_t doca_dpa_dev_hash_table_t;
typedef uint64_t doca_dpa_dev_completion_t;
typedef uint64_t doca_dpa_dev_async_ops_t;
typedef uint64_t doca_dpa_dev_notification_completion_t;

/** A function that the DPA executes. Its arguments are those that a launch passes. */
typedef void(doca_dpa_func_t)(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_H_ */
