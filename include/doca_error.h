/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Result codes. The numbers are part of the interface and never change.
 */
#ifndef DOCA_ERROR_H_
#define DOCA_ERROR_H_

#include <doca_common_defines.h>
#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of every function that can fail. */
typedef enum doca_error {
	DOCA_SUCCESS = 0,		       /**< Success. */
	DOCA_ERROR_UNKNOWN = 1,		       /**< An error without a better code. */
	DOCA_ERROR_NOT_PERMITTED = 2,	       /**< The object or the peer does not allow it. */
	DOCA_ERROR_IN_USE = 3,		       /**< The resource is still in use. */
	DOCA_ERROR_NOT_SUPPORTED = 4,	       /**< The device or the library lacks the feature. */
	DOCA_ERROR_AGAIN = 5,		       /**< Try again later. */
	DOCA_ERROR_INVALID_VALUE = 6,	       /**< An argument or a setting is invalid. */
	DOCA_ERROR_NO_MEMORY = 7,	       /**< Out of memory or out of pooled objects. */
	DOCA_ERROR_INITIALIZATION = 8,	       /**< A resource could not be set up. */
	DOCA_ERROR_TIME_OUT = 9,	       /**< A timer expired. */
	DOCA_ERROR_SHUTDOWN = 10,	       /**< The object is shutting down or shut down. */
	DOCA_ERROR_CONNECTION_RESET = 11,      /**< The peer reset the connection. */
	DOCA_ERROR_CONNECTION_ABORTED = 12,    /**< The connection was aborted. */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< The connection is being established. */
	DOCA_ERROR_NOT_CONNECTED = 14,	       /**< There is no connection. */
	DOCA_ERROR_NO_LOCK = 15,	       /**< A lock could not be taken. */
	DOCA_ERROR_NOT_FOUND = 16,	       /**< The resource does not exist. */
	DOCA_ERROR_IO_FAILED = 17,	       /**< Input or output failed. */
	DOCA_ERROR_BAD_STATE = 18,	       /**< The object is in the wrong state. */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19,   /**< The version is not supported. */
	DOCA_ERROR_OPERATING_SYSTEM = 20,      /**< A call to the operating system failed. */
	DOCA_ERROR_DRIVER = 21,		       /**< The device or its driver failed. */
	DOCA_ERROR_UNEXPECTED = 22,	       /**< An internal error occurred. */
	DOCA_ERROR_ALREADY_EXIST = 23,	       /**< The object already exists. */
	DOCA_ERROR_FULL = 24,		       /**< The resource is full. */
	DOCA_ERROR_EMPTY = 25,		       /**< The resource is empty. */
	DOCA_ERROR_IN_PROGRESS = 26,	       /**< The operation has started. */
	DOCA_ERROR_TOO_BIG = 27,	       /**< The data does not fit. */
	DOCA_ERROR_AUTHENTICATION = 28,	       /**< Authentication failed. */
	DOCA_ERROR_BAD_CONFIG = 29,	       /**< The configuration is not valid. */
	DOCA_ERROR_SKIPPED = 30,	       /**< Valid, but earlier output was dropped. */
} doca_error_t;

/** Keep the first error: store @p t in the lvalue @p r only if @p r is DOCA_SUCCESS. */
#define DOCA_ERROR_PROPAGATE(r, t)       \
	do {                             \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t);       \
	} while (0)

/** True when @p r is an error. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/**
 * Get the name of a result code, for example "DOCA_ERROR_INVALID_VALUE".
 *
 * @param error any number
 * @return a static string, never NULL: "unrecognized error code" for an unknown number
 *
 * Callable from any thread. Semantics: DOCA 3.0, doca_error.h.
 */
DOCA_STABLE const char *doca_error_get_name(doca_error_t error);

/**
 * Get a short description of a result code. The wording may change between versions.
 *
 * @param error any number
 * @return a static string, never NULL: "unrecognized error code" for an unknown number
 *
 * Callable from any thread. Semantics: DOCA 3.0, doca_error.h.
 */
DOCA_STABLE const char *doca_error_get_descr(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H_ */
