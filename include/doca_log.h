/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Logging: messages of the program, from sources that it registers, go to its backends; messages of
 * the library go to the SDK backends. A file logs after one line at file scope:
 *
 *     DOCA_LOG_REGISTER(MY_PROGRAM);
 *     ... DOCA_LOG_ERR("cannot open %s: %s", path, doca_error_get_descr(result));
 *
 * A message is one line, "[HH:MM:SS:uuuuuu][thread][DOCA][ERR][file:line][function] text", with the
 * local time, the kernel's number of the thread and the last component of the file's name. A line
 * feed at the end of the text is not repeated.
 *
 * What a backend of the program shows lies between two limits: the lower limit is the most
 * talkative level that is shown, the upper limit the least talkative one. Setting a global limit
 * sets it in all backends of the program, those made later included; a limit that was set with one
 * of the strict functions is left alone, until it is set by the other. SDK backends have one limit,
 * in the same way. Defaults: INFO, CRIT and, for the SDK, INFO. DOCA_LOG_LEVEL_DISABLE as lower or
 * as SDK limit shows nothing.
 *
 * Without a backend of its own a program prints nothing. The library's messages, without an SDK
 * backend, go to standard error, so that no error gets lost: from warnings up, or up to the global
 * SDK limit once that is set. The environment variable DPUMAP_LOG_LEVEL (off, error, warning, info
 * or debug) decides what goes to standard error whatever else is set, and sends it there besides
 * the SDK backends too, but none twice.
 *
 * Backends stay until the process ends. Thread safety: any function from any thread, at any time,
 * before main() too, and after fork(); a message is written in one piece, and in the same order to
 * all backends. A signal handler that interrupts the writing of a message does not reach the
 * backend that is being written to. errno is preserved by doca_log(). Semantics: DOCA 3.0,
 * doca_log.h.
 */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_log_backend;

/** How urgent a message is; a higher number is more talkative. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< No message has it: a limit that shows nothing. */
	DOCA_LOG_LEVEL_CRIT = 20,    /**< The program cannot go on. */
	DOCA_LOG_LEVEL_ERROR = 30,   /**< Something failed. */
	DOCA_LOG_LEVEL_WARNING = 40, /**< Something is odd. */
	DOCA_LOG_LEVEL_INFO = 50,    /**< What an operator wants to know. */
	DOCA_LOG_LEVEL_DEBUG = 60,   /**< What a developer wants to know. */
	DOCA_LOG_LEVEL_TRACE = 70,   /**< Each step. */
};

/**
 * Takes what is in the buffer of a backend: one line with its line feed, cut to the buffer, with a
 * NUL behind it. Called in the thread that logs. What it logs itself does not come back to it; but
 * for doca_log() and the macros over it, it must call no function of the library.
 */
typedef void (*log_flush_callback)(char *buffer);

/**
 * Register a source of messages. DOCA_LOG_REGISTER() does it for a file.
 *
 * @param source_name its name, which is copied; several sources may have the same
 * @param source out: its number, 1 or more, until doca_log_unregister_source()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Forget a source; its number may be given to another one.
 *
 * @param source its number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a number that no source has
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_unregister_source(int source);

/**
 * Log a message of the program. It is formatted only if a backend shows its level.
 *
 * @param level its level
 * @param source its source; a message of an unknown one is logged as well
 * @param file name of the source file, of which the last component is shown; may be NULL
 * @param line line in that file
 * @param func name of the function; may be NULL
 * @param format as of printf(); with NULL nothing is logged
 */
DOCA_EXPERIMENTAL void doca_log(uint32_t level, int source, const char *file, int line,
				const char *func, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/**
 * Show the program's messages on standard output up to INFO, and WARNING and what is more urgent
 * on standard error. A second call changes nothing.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_standard(void);

/**
 * Write the program's messages to a stream, which is flushed after each.
 *
 * @param fptr the stream; the caller's, open as long as anything logs
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_file(FILE *fptr,
								 struct doca_log_backend **backend);

/**
 * Write the program's messages to a file descriptor. A descriptor that does not block loses what
 * it has no room for.
 *
 * @param fd the descriptor; the caller's, open as long as anything logs
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a descriptor that is not open for
 *         writing, DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_fd(int fd,
							       struct doca_log_backend **backend);

/**
 * Put each of the program's messages into a buffer and call a function with it.
 *
 * @param buf the buffer; the caller's, valid as long as anything logs
 * @param capacity size of the buffer in bytes, 2 or more
 * @param handler the function
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or too small a buffer,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
								log_flush_callback handler,
								struct doca_log_backend **backend);

/**
 * Send the program's messages to syslog, facility "user". There is one identity in a process: what
 * the program itself sends to syslog may get this one.
 *
 * @param name the identity, which is copied
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_file() for the library's messages.
 *
 * @param fptr the stream; the caller's, open as long as the library is used
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_file()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_fd() for the library's messages.
 *
 * @param fd the descriptor; the caller's, open as long as the library is used
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_fd()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_buf() for the library's messages.
 *
 * @param buf the buffer; the caller's, valid as long as the library is used
 * @param capacity size of the buffer in bytes, 2 or more
 * @param handler the function
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_buf()
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buf_sdk(
	char *buf, size_t capacity, log_flush_callback handler, struct doca_log_backend **backend);

/**
 * doca_log_backend_create_with_syslog() for the library's messages.
 *
 * @param name the identity, which is copied
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_syslog()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend);

/**
 * Set the limit of an SDK backend, until the global one is set.
 *
 * @param backend a backend of the library's messages
 * @param level the limit, 10 to 70
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL, a backend of the program's messages or
 *         a level that does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend,
							      uint32_t level);

/**
 * Set the limit of all SDK backends, those made later included.
 *
 * @param level the limit, 10 to 70
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a level that does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/**
 * The global limit of SDK backends.
 *
 * @return the limit
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * Set the most talkative level that backends of the program show, those made later included.
 *
 * @param level the limit, 10 to 70
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a level that does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * The global lower limit.
 *
 * @return the limit
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_lower_limit(void);

/**
 * Set the least talkative level that backends of the program show, those made later included.
 *
 * @param level the limit, 10 to 70
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a level that does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_upper_limit(uint32_t level);

/**
 * The global upper limit.
 *
 * @return the limit
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * Set the lower limit of one backend, until the global one is set.
 *
 * @param backend a backend of the program's messages
 * @param level the limit, 10 to 70
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL, an SDK backend or a level that does not
 *         exist
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Set the upper limit of one backend, until the global one is set.
 *
 * @param backend a backend of the program's messages
 * @param level the limit, 10 to 70
 * @return as doca_log_backend_set_level_lower_limit()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Set the lower limit of one backend, whatever becomes of the global one.
 *
 * @param backend a backend of the program's messages
 * @param level the limit, 10 to 70
 * @return as doca_log_backend_set_level_lower_limit()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend, uint32_t level);

/**
 * Set the upper limit of one backend, whatever becomes of the global one.
 *
 * @param backend a backend of the program's messages
 * @param level the limit, 10 to 70
 * @return as doca_log_backend_set_level_lower_limit()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend, uint32_t level);

#ifdef __cplusplus
}
#endif

/**
 * At file scope, once in a file, with or without a semicolon: define log_source, and register it
 * under the name @p source, which is any text, before main().
 */
#define DOCA_LOG_REGISTER(source)                                                 \
	static int log_source;                                                    \
	static void __attribute__((constructor(101))) doca_log_register_own(void) \
	{                                                                         \
		(void)doca_log_register_source(#source, &log_source);             \
	}

/** Log a message at @p level: a format and its arguments follow. */
#define DOCA_LOG(level, ...) doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

/** Log a message after which the program cannot go on: a format and its arguments. */
#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
/** Log a failure: a format and its arguments. */
#define DOCA_LOG_ERR(...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
/** Log what is odd: a format and its arguments. */
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
/** Log what an operator wants to know: a format and its arguments. */
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
/** Log what a developer wants to know: a format and its arguments. */
#define DOCA_LOG_DBG(...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/** Log a step: a format and its arguments; nothing unless DOCA_LOGGING_ALLOW_TRACE is defined. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) ((void)0)
#endif

#endif /* DOCA_LOG_H_ */
