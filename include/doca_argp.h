/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arguments of the program: flags that it registers, and those that every program has:
 *
 *     -h, --help                 print the usage and end the process with status 0
 *     -v, --version              call the version callback
 *     -l, --log-level LEVEL      doca_log_level_set_global_lower_limit()
 *     --sdk-log-level LEVEL      doca_log_level_set_global_sdk_limit()
 *     -j, --json FILE            read flags from a JSON file
 *
 * doca_argp_init(), then parameters and commands, then doca_argp_start(), which checks the whole
 * command line before it calls anybody, then doca_argp_destroy().
 *
 * A short name follows one dash and may have several letters, a long name follows two; names are
 * never abbreviated. A value is the next argument or follows a "="; one that looks like a flag of
 * the program needs the "=". "--" ends the flags; in a DPDK program it ends those of DPDK and the
 * program's own follow, and without it all flags are the program's. Integers are decimal, or
 * hexadecimal after "0x". In a program with commands, an argument that is no flag names one; flags
 * behind it are the command's, or those from before it that are inherited.
 *
 * A JSON file is one object. Its member "doca_program_flags" is an object of the flags by their
 * long name, or the short one where there is no other; values are strings, integers, booleans or,
 * for DOCA_ARGP_TYPE_JSON_OBJ, objects or arrays; a flag of which several may be given takes an
 * array of them too. "doca_general_flags" may hold "log-level" and "sdk-log-level";
 * "doca_dpdk_flags" of a DPDK program may hold "devices", an array of objects with a "device"
 * ("pf", "vf", "sf" or "gpu"), an "id" and perhaps "hws" (true or false), "core-mask", and "flags"
 * for anything else. C and C++ comments are skipped. A flag on the command line replaces the one in
 * the file.
 *
 * Callbacks get the program's configuration as it was given to doca_argp_init(). Those of
 * parameters are called in the order of the file, then in that of the command line. Any callback
 * may end the process, or call doca_argp_destroy().
 *
 * There is one parser in a process. Thread safety of all functions: one thread at a time.
 * Semantics: DOCA 3.0, doca_argp.h.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdbool.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_cmd;
struct doca_argp_device_ctx;
struct doca_argp_device_rep_ctx;
struct doca_argp_param;

/** What a flag's value is, and what its callback gets a pointer to. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,    /**< Not set. */
	DOCA_ARGP_TYPE_STRING = 1,     /**< A text: char *. */
	DOCA_ARGP_TYPE_INT = 2,	       /**< An integer: int *. */
	DOCA_ARGP_TYPE_BOOLEAN = 3,    /**< Given or not, without a value: bool *. */
	DOCA_ARGP_TYPE_JSON_OBJ = 4,   /**< In a JSON file only: struct json_object * of json-c. */
	DOCA_ARGP_TYPE_DEVICE = 5,     /**< A device; not supported. */
	DOCA_ARGP_TYPE_DEVICE_REP = 6, /**< A representor; not supported. */
};

/**
 * Takes the value of a flag.
 *
 * @param param the value, by the flag's type, valid during the call
 * @param config the program's configuration
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() ends with
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *param, void *config);

/**
 * Called when its command is on the command line, after the callbacks of all parameters.
 *
 * @param config the program's configuration
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() ends with
 */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *config);

/**
 * Called after all other callbacks, to judge them together.
 *
 * @param config the program's configuration
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() ends with
 */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);

/**
 * Takes the arguments that are DPDK's, before the callbacks of parameters.
 *
 * @param argc number of arguments
 * @param argv the program's name, the arguments and NULL, valid until doca_argp_destroy()
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() ends with
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/**
 * Begin: parameters can be registered afterwards.
 *
 * @param program_name name for the usage, which is copied; NULL for the one that it is started by
 * @param program_config passed to all callbacks; may be NULL
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when it has begun already,
 *         DOCA_ERROR_INVALID_VALUE for an empty name, DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Parse the command line, and call the callbacks when nothing is wrong with it. It may be called
 * again after an error, but not after a success.
 *
 * @param argc number of arguments
 * @param argv arguments of main(), not changed; kept by reference until doca_argp_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised, after an earlier success,
 *         when a callback calls it, or when one has called doca_argp_destroy(),
 *         DOCA_ERROR_NOT_SUPPORTED for an unknown flag or command,
 *         DOCA_ERROR_INVALID_VALUE for arguments that main() does not get, a value that is missing
 *         or wrong, a flag that is missing or may not be given again, here or with others,
 *         DOCA_ERROR_IO_FAILED when the JSON file cannot be read or is not JSON,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails, or the error of a callback
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_start(int argc, char **argv);

/**
 * End: forget all that was registered. Parameters and commands that never were stay the caller's.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when it has not begun
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_destroy(void);

/**
 * Print the usage of the program, or of the command that is being parsed, on standard output.
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_usage(void);

/**
 * Create a parameter. It needs a description, a callback, a type and a name or two.
 *
 * @param param out: the parameter, owned by the caller until it is registered
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when not initialised, DOCA_ERROR_NO_MEMORY when an allocation
 *         fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/**
 * Destroy a parameter that was never registered.
 *
 * @param param the parameter
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when it was registered, or was to be and was refused
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Set the name behind one dash.
 *
 * @param param a parameter that is not registered
 * @param name one letter or more, without the dash; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_short_name(struct doca_argp_param *param,
						      const char *name);

/**
 * Set the name behind two dashes, which is also the one in JSON files.
 *
 * @param param a parameter that is not registered
 * @param name the name without the dashes; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_long_name(struct doca_argp_param *param,
						     const char *name);

/**
 * Set what the usage shows in place of the value.
 *
 * @param param a parameter that is not registered
 * @param arguments the text, for example "<path>"; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_arguments(struct doca_argp_param *param,
						     const char *arguments);

/**
 * Set what the usage says about the flag.
 *
 * @param param a parameter that is not registered
 * @param description the text; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_description(struct doca_argp_param *param,
						       const char *description);

/**
 * Set the function that takes the value.
 *
 * @param param a parameter that is not registered
 * @param callback the function
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_callback(struct doca_argp_param *param,
						    doca_argp_param_cb_t callback);

/**
 * Set what the value is.
 *
 * @param param a parameter that is not registered
 * @param type the type
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_type(struct doca_argp_param *param,
						enum doca_argp_type type);

/**
 * Demand the flag: without it the command line is wrong.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/**
 * Refuse the flag in JSON files.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/**
 * Let the flag be given several times; the callback is called for each.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * Let the flag stand alone: no other of the program's may be given with it, and none is mandatory
 * then.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_singular(struct doca_argp_param *param);

/**
 * Let the flag be given behind the names of commands too, all those below where it is registered.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_inherited(struct doca_argp_param *param);

/**
 * Leave the flag out of the usage.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * Add a parameter to the program.
 *
 * @param param the parameter; whatever the result is, it is the library's from now on, until
 *        doca_argp_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised, after doca_argp_start() or
 *         when it was registered before,
 *         DOCA_ERROR_INITIALIZATION when it has no description, callback, type or name,
 *         DOCA_ERROR_INVALID_VALUE for NULL, a name that is taken or cannot be typed, or a type
 * that does not exist or that cannot be on the command line where it has to,
 *         DOCA_ERROR_NOT_SUPPORTED for a device or a representor,
 *         DOCA_ERROR_NO_MEMORY when a text that it was given could not be copied
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_param(struct doca_argp_param *param);

/**
 * Create a command. It needs a name and a description.
 *
 * @param cmd out: the command, owned by the caller until it is registered
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when not initialised, DOCA_ERROR_NO_MEMORY when an allocation
 *         fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/**
 * Destroy a command that was never registered, with all that is registered in it.
 *
 * @param cmd the command
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when it was registered, or was to be and was refused
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * Set the word that calls the command.
 *
 * @param cmd a command that is not registered
 * @param name the word, copied
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/**
 * Set what the usage says about the command.
 *
 * @param cmd a command that is not registered
 * @param description the text, copied
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd,
						     const char *description);

/**
 * Have it told that the command was called.
 *
 * @param cmd a command that is not registered
 * @param callback the function; NULL, as without this call, for none
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd,
						  doca_argp_cmd_cb_t callback);

/**
 * Leave the command out of the usage.
 *
 * @param cmd a command that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Add a parameter to a command.
 *
 * @param cmd the command, registered or not
 * @param param the parameter; whatever the result is, it is the library's from now on, until
 *        doca_argp_destroy() or doca_argp_cmd_destroy()
 * @return as doca_argp_register_param()
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
							    struct doca_argp_param *param);

/**
 * Add a command to a command.
 *
 * @param cmd the upper command, registered or not
 * @param subcmd the command below it; whatever the result is, it is the library's from now on,
 *        until doca_argp_destroy() or doca_argp_cmd_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a cmd that is in the subcmd already, or as
 *         doca_argp_register_cmd() else: DOCA_ERROR_BAD_STATE, DOCA_ERROR_INITIALIZATION and
 *         DOCA_ERROR_NO_MEMORY for the reasons there
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd,
							  struct doca_argp_cmd *subcmd);

/**
 * Add a command to the program.
 *
 * @param cmd the command; whatever the result is, it is the library's from now on, with all that is
 *        registered in it, until doca_argp_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised, after doca_argp_start() or
 *         when it was registered before,
 *         DOCA_ERROR_INITIALIZATION when it has no name or description,
 *         DOCA_ERROR_INVALID_VALUE for NULL or a name that is taken or cannot be typed,
 *         DOCA_ERROR_NO_MEMORY when a text that it was given could not be copied
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd);

/**
 * Have a function called for --version, in the midst of parsing. Without one the version of the
 * library is printed and the process ends with status 0.
 *
 * @param callback the function, in place of the one before; it gets a bool * that is true, and
 *        normally ends the process. If it returns DOCA_SUCCESS, parsing goes on
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised or after doca_argp_start(),
 *         DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Have a function called last.
 *
 * @param callback the function, in place of the one before
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised or after doca_argp_start(),
 *         DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Have a function called for --log-level, in place of setting the global lower limit.
 *
 * @param callback the function; it gets an int *, 10 to 70
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised or after doca_argp_start(),
 *         DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_ALREADY_EXIST when there is one
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_logger_callback(doca_argp_param_cb_t callback);

/**
 * Set no log level, and call nobody for it: the program asks doca_argp_get_log_level() and
 * doca_argp_get_sdk_log_level().
 *
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised or after doca_argp_start()
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Say that the program uses DPDK, and have its arguments told.
 *
 * @param callback the function, in place of the one before
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when not initialised or after doca_argp_start(),
 *         DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * The level that the user asked for.
 *
 * @param log_level out: the value of --log-level, else the global lower limit
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * The level of the library's messages that the user asked for.
 *
 * @param log_level out: the value of --sdk-log-level, else the global SDK limit
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H_ */
