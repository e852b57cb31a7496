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

/** The result of every call that can fail. */
typedef enum doca_error {
	DOCA_SUCCESS = 0,		       /**< Success. */
	DOCA_ERROR_UNKNOWN = 1,		       /**< An error without a better code. */
	DOCA_ERROR_NOT_PERMITTED = 2,	       /**< The object or the peer does not allow it. */
	DOCA_ERROR_IN_USE = 3,		       /**< Others still use the resource. */
	DOCA_ERROR_NOT_SUPPORTED = 4,	       /**< The device or the library cannot do it. */
	DOCA_ERROR_AGAIN = 5,		       /**< Not now; the same call may succeed later. */
	DOCA_ERROR_INVALID_VALUE = 6,	       /**< An argument or a configuration is wrong. */
	DOCA_ERROR_NO_MEMORY = 7,	       /**< Out of memory or out of pooled objects. */
	DOCA_ERROR_INITIALIZATION = 8,	       /**< A resource could not be set up. */
	DOCA_ERROR_TIME_OUT = 9,	       /**< A timer expired. */
	DOCA_ERROR_SHUTDOWN = 10,	       /**< The object is shutting down or shut down. */
	DOCA_ERROR_CONNECTION_RESET = 11,      /**< The peer reset the connection. */
	DOCA_ERROR_CONNECTION_ABORTED = 12,    /**< The connection was aborted. */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< The connection is being made. */
	DOCA_ERROR_NOT_CONNECTED = 14,	       /**< There is no connection. */
	DOCA_ERROR_NO_LOCK = 15,	       /**< A lock could not be taken. */
	DOCA_ERROR_NOT_FOUND = 16,	       /**< No such resource. */
	DOCA_ERROR_IO_FAILED = 17,	       /**< Input or output failed. */
	DOCA_ERROR_BAD_STATE = 18,	       /**< Not in this state of the object. */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19,   /**< That version is not supported. */
	DOCA_ERROR_OPERATING_SYSTEM = 20,      /**< A call to the operating system failed. */
	DOCA_ERROR_DRIVER = 21,		       /**< A call to the device's driver failed. */
	DOCA_ERROR_UNEXPECTED = 22,	       /**< Something that should not happen did. */
	DOCA_ERROR_ALREADY_EXIST = 23,	       /**< It is there already. */
	DOCA_ERROR_FULL = 24,		       /**< No more room in the resource. */
	DOCA_ERROR_EMPTY = 25,		       /**< No entry left. */
	DOCA_ERROR_IN_PROGRESS = 26,	       /**< The operation has started and goes on. */
	DOCA_ERROR_TOO_BIG = 27,	       /**< It does not fit. */
	DOCA_ERROR_AUTHENTICATION = 28,	       /**< The peer is not who it should be. */
	DOCA_ERROR_BAD_CONFIG = 29,	       /**< The configuration is not valid. */
	DOCA_ERROR_SKIPPED = 30,	       /**< Valid, but earlier output was dropped. */
} doca_error_t;

/** Keep the first error: store @p t in the lvalue @p r while @p r is DOCA_SUCCESS. */
#define DOCA_ERROR_PROPAGATE(r, t)       \
	do {                             \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t);       \
	} while (0)

/** True when @p r is an error. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/**
 * The name of a result code, for example "DOCA_ERROR_INVALID_VALUE".
 *
 * @param error any number
 * @return a static string, never NULL: "unrecognized error code" for a number that is no code.
 *         Callable from any thread.
 *
 * Semantics: DOCA 3.0, doca_error.h.
 */
DOCA_STABLE const char *doca_error_get_name(doca_error_t error);

/**
 * A short description of a result code for people. The wording is not an interface.
 *
 * @param error any number
 * @return a static string, never NULL: "unrecognized error code" for a number that is no code.
 *         Callable from any thread.
 *
 * Semantics: DOCA 3.0, doca_error.h.
 */
DOCA_STABLE const char *doca_error_get_descr(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H_ */
