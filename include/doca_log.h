/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Logging. Messages of the program come from registered sources and go to the backends of the
 * program. Messages of the library go to the SDK backends. A file that logs needs one line at file
 * scope:
 *
 *     DOCA_LOG_REGISTER(MY_PROGRAM);
 *     ... DOCA_LOG_ERR("cannot open %s: %s", path, doca_error_get_descr(result));
 *
 * A message is one line: "[HH:MM:SS:uuuuuu][thread][DOCA][ERR][file:line][function] text". It has
 * the local time, the kernel's id of the thread and the last component of the file name. If the
 * text already ends with a line feed, no second one is added. The time zone is that of the process
 * when it loaded the library, or when it last called tzset().
 *
 * A backend of the program shows the levels between its two limits. The lower limit is the least
 * severe level, and the upper limit is the most severe level. Setting a global limit sets the
 * limit of all backends of the program, existing and future. A limit that was set with a strict
 * function is not affected, until it is set with the other function. SDK backends have one limit,
 * with the same rules. The defaults are INFO for the lower limit, CRIT for the upper limit, and
 * INFO for the SDK limit. A backend with DOCA_LOG_LEVEL_DISABLE as its lower limit or SDK limit
 * shows nothing.
 *
 * Loggers set levels for sources by name, where "A::B" is below "A": a source logs a message if its
 * level is at most that of the source, and backends show it within their limits. A source that is
 * registered later has its own level, DOCA_LOG_LEVEL_TRACE. DOCA has loggers since 3.4. Their
 * arguments and errors are those of DOCA; what names, depth and propagation mean is our reading.
 *
 * A program without a backend logs nothing. Messages of the library without an SDK backend go to
 * standard error, so that errors are not lost: warnings and more severe messages, or the levels of
 * the global SDK limit if it was set. The environment variable DPUMAP_LOG_LEVEL (off, error,
 * warning, info or debug) overrides the level for standard error. With this variable, messages go
 * to standard error in addition to the SDK backends, but never twice.
 *
 * Backends exist until the process ends. Thread safety: all functions may be called from any
 * thread, at any time, also before main() and after fork(). Each message is written at once, and
 * all backends get the messages in the same order. If a signal handler interrupts the writing of a
 * message, its own messages are not written to that backend. doca_log() preserves errno.
 * Semantics: DOCA 3.0, doca_log.h; loggers: DOCA 3.4.
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
struct doca_logger;

/** Size of the name of a logger in bytes, with its NUL. */
#define DOCA_LOGGER_NAME_SIZE 256

/** Severity of a message; a higher number is less severe. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< No message; used as a limit. */
	DOCA_LOG_LEVEL_CRIT = 20,    /**< The program cannot continue. */
	DOCA_LOG_LEVEL_ERROR = 30,   /**< An operation failed. */
	DOCA_LOG_LEVEL_WARNING = 40, /**< A possible problem. */
	DOCA_LOG_LEVEL_INFO = 50,    /**< Information for operators. */
	DOCA_LOG_LEVEL_DEBUG = 60,   /**< Information for developers. */
	DOCA_LOG_LEVEL_TRACE = 70,   /**< Every step. */
};

/**
 * Receive the buffer of a backend. It contains one line with a line feed and a terminating NUL,
 * truncated to the size of the buffer. The function is called in the thread that logs. The only
 * functions of the library that it may call are doca_log() and its macros; its own messages do not
 * go to this backend.
 */
typedef void (*log_flush_callback)(char *buffer);

/**
 * Register a log source. DOCA_LOG_REGISTER() does this for a file.
 *
 * @param source_name name of the source, which is copied; several sources may have the same name
 * @param source out: number of the source, 1 or more, valid until doca_log_unregister_source()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Unregister a log source. Its number may be reused for another source.
 *
 * @param source number of the source
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: no source has this number
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_unregister_source(int source);

/**
 * Log a message of the program. The message is formatted only if a backend shows its level.
 *
 * @param level level of the message
 * @param source number of the source; a message of an unknown source is logged as well
 * @param file name of the source file, of which the last component is printed; may be NULL
 * @param line line number in the source file
 * @param func name of the function; may be NULL
 * @param format format of printf(); NULL logs nothing
 */
DOCA_EXPERIMENTAL void doca_log(uint32_t level, int source, const char *file, int line,
				const char *func, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/**
 * Create the standard backend. It writes messages of the program up to INFO to standard output,
 * and WARNING and more severe messages to standard error. A second call has no effect.
 *
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_standard(void);

/**
 * Create a backend that writes the messages of the program to a stream. It flushes the stream
 * after each message.
 *
 * @param fptr the stream; owned by the caller, must stay open while messages are logged
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_file(FILE *fptr,
								 struct doca_log_backend **backend);

/**
 * Create a backend that writes the messages of the program to a file descriptor. A non-blocking
 * file descriptor loses messages when it is full.
 *
 * @param fd the file descriptor; owned by the caller, must stay open while messages are logged
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: @p backend is NULL, or the file descriptor is not open for writing
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_fd(int fd,
							       struct doca_log_backend **backend);

/**
 * Create a backend that writes each message of the program to a buffer and then calls a function.
 *
 * @param buf the buffer; owned by the caller, must stay valid while messages are logged
 * @param capacity size of the buffer in bytes, at least 2
 * @param handler the function
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the buffer is too small
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
								log_flush_callback handler,
								struct doca_log_backend **backend);

/**
 * Create a backend that sends the messages of the program to syslog with the facility "user". A
 * process has only one syslog identity, so the program's own syslog messages may get this identity
 * too.
 *
 * @param name the identity; copied
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/**
 * Create a backend like doca_log_backend_create_with_file() for the messages of the library.
 *
 * @param fptr the stream; owned by the caller, must stay open while the library is in use
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_file()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * Create a backend like doca_log_backend_create_with_fd() for the messages of the library.
 *
 * @param fd the file descriptor; owned by the caller, must stay open while the library is in use
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_fd()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/**
 * Create a backend like doca_log_backend_create_with_buf() for the messages of the library.
 *
 * @param buf the buffer; owned by the caller, must stay valid while the library is in use
 * @param capacity size of the buffer in bytes, at least 2
 * @param handler the function
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_buf()
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buf_sdk(
	char *buf, size_t capacity, log_flush_callback handler, struct doca_log_backend **backend);

/**
 * Create a backend like doca_log_backend_create_with_syslog() for the messages of the library.
 *
 * @param name the identity; copied
 * @param backend out: the backend, owned by the library, valid until the process ends
 * @return as doca_log_backend_create_with_syslog()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend);

/**
 * Set the limit of an SDK backend. It applies until the global SDK limit is set.
 *
 * @param backend a backend for messages of the library
 * @param level the limit, from 10 to 70
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the backend is NULL or is not an SDK backend, or the level does not
 *   exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend,
							      uint32_t level);

/**
 * Set the limit of all SDK backends, existing and future.
 *
 * @param level the limit, from 10 to 70
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the level does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/**
 * Get the global limit of SDK backends.
 *
 * @return the limit
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * Set the least severe level that the backends of the program show, existing and future.
 *
 * @param level the limit, from 10 to 70
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the level does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * Get the global lower limit.
 *
 * @return the limit
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_lower_limit(void);

/**
 * Set the most severe level that the backends of the program show, existing and future.
 *
 * @param level the limit, from 10 to 70
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the level does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_upper_limit(uint32_t level);

/**
 * Get the global upper limit.
 *
 * @return the limit
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * Set the lower limit of one backend. It applies until the global lower limit is set.
 *
 * @param backend a backend for messages of the program
 * @param level the limit, from 10 to 70
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the backend is NULL or is an SDK backend, or the level does not
 *   exist
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Set the upper limit of one backend. It applies until the global upper limit is set.
 *
 * @param backend a backend for messages of the program
 * @param level the limit, from 10 to 70
 * @return as doca_log_backend_set_level_lower_limit()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Set the lower limit of one backend, independent of the global lower limit.
 *
 * @param backend a backend for messages of the program
 * @param level the limit, from 10 to 70
 * @return as doca_log_backend_set_level_lower_limit()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend, uint32_t level);

/**
 * Set the upper limit of one backend, independent of the global upper limit.
 *
 * @param backend a backend for messages of the program
 * @param level the limit, from 10 to 70
 * @return as doca_log_backend_set_level_lower_limit()
 */
DOCA_EXPERIMENTAL doca_error_t
doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend, uint32_t level);

/**
 * Get the maximum number of backends of the program.
 *
 * @return UINT32_MAX: only memory limits it
 */
DOCA_EXPERIMENTAL uint32_t doca_log_get_max_num_backends(void);

/**
 * Get the maximum number of SDK backends.
 *
 * @return UINT32_MAX: only memory limits it
 */
DOCA_EXPERIMENTAL uint32_t doca_log_get_max_num_backends_sdk(void);

/**
 * List the names of the sources that are registered now, each once.
 *
 * @param parent list names below the name of this logger; NULL for all names
 * @param depth how many levels below the parent, of which the first are names without a further
 *         "::"; 0 for all levels
 * @param list out: the loggers and a NULL behind them, owned by the caller until
 *         doca_logger_destroy_list()
 * @param count out: number of loggers
 * @return
 * - DOCA_SUCCESS, also for an empty list
 * - DOCA_ERROR_INVALID_VALUE: an output is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_logger_create_list(const struct doca_logger *parent,
						       uint8_t depth, struct doca_logger ***list,
						       uint32_t *count);

/**
 * Destroy a list of loggers. Levels that were set stay.
 *
 * @param list the list; it and its loggers are invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_logger_destroy_list(struct doca_logger **list);

/**
 * Set the most verbose level that all sources with the name of a logger log.
 *
 * @param logger the logger
 * @param level the level, from 10 to 70; with 10 the sources log nothing
 * @param propagate 1 to set it for all sources below this name too; 0 otherwise
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the logger is NULL, or the level does not exist
 * - DOCA_ERROR_NOT_FOUND: the sources were unregistered
 */
DOCA_EXPERIMENTAL doca_error_t doca_logger_set_level(struct doca_logger *logger, int level,
						     uint8_t propagate);

/**
 * Get the most verbose level that sources with the name of a logger log.
 *
 * @param logger the logger
 * @param level out: the level; if sources with this name have several, that of one of them
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the sources were unregistered
 */
DOCA_EXPERIMENTAL doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level);

/**
 * Get the name of a logger.
 *
 * @param logger the logger
 * @param name out: the name, which is cut if it is too long, and a NUL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_logger_get_name(const struct doca_logger *logger,
						    char name[DOCA_LOGGER_NAME_SIZE]);

/**
 * Find a logger in a list.
 *
 * @param list the list
 * @param name the whole name
 * @return the logger, owned by the list; NULL if the list does not have it, or an argument is NULL
 */
DOCA_EXPERIMENTAL struct doca_logger *doca_logger_find_by_name(struct doca_logger **list,
							       const char *name);

#ifdef __cplusplus
}
#endif

/**
 * Define log_source and register it before main() under the name @p source, which may be any text.
 * Use this macro once in a file, at file scope, with or without a semicolon.
 */
#define DOCA_LOG_REGISTER(source)                                                 \
	static int log_source;                                                    \
	static void __attribute__((constructor(101))) doca_log_register_own(void) \
	{                                                                         \
		(void)doca_log_register_source(#source, &log_source);             \
	}

/** Log a message at @p level. Arguments: a format of printf() and its arguments. */
#define DOCA_LOG(level, ...) doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

/** Log an error after which the program cannot continue. */
#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
/** Log an error. */
#define DOCA_LOG_ERR(...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
/** Log a possible problem. */
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
/** Log information for operators. */
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
/** Log information for developers. */
#define DOCA_LOG_DBG(...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/** Log a step. The macro does nothing unless DOCA_LOGGING_ALLOW_TRACE is defined. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) ((void)0)
#endif

#endif /* DOCA_LOG_H_ */
