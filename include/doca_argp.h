/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arguments of the program. Besides the flags that it registers, each program has these flags:
 *
 *     -h, --help                 print the usage and end the process with status 0
 *     -v, --version              call the version callback
 *     -l, --log-level LEVEL      doca_log_level_set_global_lower_limit()
 *     --sdk-log-level LEVEL      doca_log_level_set_global_sdk_limit()
 *     -j, --json FILE            read flags from a JSON file
 *
 * A program calls doca_argp_init(), registers parameters and commands, calls doca_argp_start() and
 * then doca_argp_destroy(). doca_argp_start() checks the whole command line before it calls a
 * callback.
 *
 * Command line. A short name follows one dash and may have several letters. A long name follows
 * two dashes. Names cannot be abbreviated. The value of a flag is the next argument, or follows
 * "=". A value that looks like a flag of the program needs "=". Integers are decimal, or
 * hexadecimal after "0x". Floating-point numbers are decimal, such as "0.5" or "1e-3". "--" ends
 * the flags. In a DPDK program, "--" separates the flags of DPDK from the flags of the program;
 * without "--", all flags belong to the program. In a program with commands, an argument that is
 * not a flag is the name of a command. The flags after it are flags of the command, or inherited
 * flags of the commands above it.
 *
 * Devices. A device is "pci/" and a PCI address, a PCI address alone, or the name of an RDMA device.
 * Text after a comma is for the program. A representor is its device, a comma, and one of the
 * following: the host's PCI address of the function, with or without "pci/"; the name of the
 * network interface; or "pf" and the number of the function. Text after a second comma is for the
 * program. doca_argp_start() opens all devices before it calls the callback of a parameter.
 *
 *     pci/0000:03:00.0,dv_flow_en=2      0000:03:00.0      03:00.0      mlx5_0
 *     pci/0000:03:00.0,pf0               mlx5_0,pci/0000:3b:00.0
 *
 * JSON file. The file contains one object. The member "doca_program_flags" is an object of flags
 * by their long name, or by their short name if a flag has no long name. Values are strings (also
 * for devices), numbers or booleans, and for DOCA_ARGP_TYPE_JSON_OBJ objects or arrays. A flag that
 * may be repeated can have an array of values. The member "doca_general_flags" may contain "log-level"
 * and "sdk-log-level". In a DPDK program, the member "doca_dpdk_flags" may contain "devices", an
 * array of objects with a "device" ("pf", "vf", "sf" or "gpu"), an "id" and optionally "hws" (true
 * or false); "core-mask"; and "flags" for all other flags. C and C++ comments are ignored. A flag
 * on the command line overrides the flag in the file.
 *
 * Callbacks receive the configuration of the program that was passed to doca_argp_init(). The
 * callbacks of parameters run in the order of the file, then in the order of the command line. A
 * callback may end the process or call doca_argp_destroy().
 *
 * A process has one parser. Thread safety of all functions: only one thread at a time may call
 * them. Semantics: DOCA 3.4, doca_argp.h, and DOCA 3.0 for DOCA_ARGP_TYPE_JSON_OBJ.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdarg.h>
#include <stdbool.h>

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_cmd;
struct doca_argp_param;

/** A device that was opened for a flag. The text is valid until doca_argp_destroy(). */
struct doca_argp_device_ctx {
	struct doca_dev *dev; /**< The open device. */
	const char *devargs;  /**< The text for the program, or NULL. */
};

/** A representor that was opened for a flag. */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx; /**< The device that has the representor. */
	struct doca_dev_rep *dev_rep;	     /**< The open representor. */
};

/**
 * Type of the value of a flag, and of the pointer that its callback receives. If the callback of a
 * device returns DOCA_SUCCESS, the program owns the device and closes it with doca_dev_close(), and
 * a representor before it with doca_dev_rep_close(). Otherwise doca_argp_start() closes both.
 */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,    /**< Not set. */
	DOCA_ARGP_TYPE_STRING = 1,     /**< A string: char *. */
	DOCA_ARGP_TYPE_INT = 2,	       /**< An integer: int *. */
	DOCA_ARGP_TYPE_BOOLEAN = 3,    /**< A flag without a value: bool *. */
	DOCA_ARGP_TYPE_DEVICE = 4,     /**< A device: struct doca_argp_device_ctx *. */
	DOCA_ARGP_TYPE_DEVICE_REP = 5, /**< A representor: struct doca_argp_device_rep_ctx *. */
	DOCA_ARGP_TYPE_DOUBLE = 6,     /**< A finite floating-point number: double *. */
	/** Only in JSON files: struct json_object * of json-c. The value was 4 in DOCA 3.0. */
	DOCA_ARGP_TYPE_JSON_OBJ = 256,
};

/**
 * Receive the value of a flag.
 *
 * @param param the value, with the type of the flag, valid during the call
 * @param config the configuration of the program
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() then returns
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *param, void *config);

/**
 * Report that a command is on the command line. Called after the callbacks of all parameters.
 *
 * @param config the configuration of the program
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() then returns
 */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *config);

/**
 * Validate the configuration. Called after all other callbacks.
 *
 * @param config the configuration of the program
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() then returns
 */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);

/**
 * Receive the arguments for DPDK. Called before the callbacks of parameters.
 *
 * @param argc number of arguments
 * @param argv the name of the program, the arguments and NULL; valid until doca_argp_destroy()
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() then returns
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/**
 * Open a device for a flag, in place of doca_dev_open(). The name of the type is by inference.
 *
 * @param devinfo the device, valid during the call
 * @param usr_ctx the pointer that was registered with the function
 * @param dev out: the open device, which doca_dev_close() can close
 * @return DOCA_SUCCESS, or an error, which doca_argp_start() then returns
 */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx,
						struct doca_dev **dev);

/**
 * Initialize the parser. Parameters can be registered afterwards.
 *
 * @param program_name name for the usage, which is copied; NULL for the name under which the
 *         program was started
 * @param program_config passed to all callbacks; may be NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is already initialized
 * - DOCA_ERROR_INVALID_VALUE: the name is empty
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Parse the command line. The callbacks run only if the whole command line is valid; those of
 * parameters run only if all devices were opened. The function may be called again after an error,
 * but not after success.
 *
 * @param argc number of arguments
 * @param argv arguments of main(); not changed, and kept by reference until doca_argp_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized; an earlier call succeeded; the caller is
 *   a callback; or a callback has called doca_argp_destroy()
 * - DOCA_ERROR_NOT_SUPPORTED: a flag or a command is unknown
 * - DOCA_ERROR_INVALID_VALUE: the arguments are not valid arguments of main(); a value is missing
 *   or wrong; a mandatory flag is missing; or a flag is repeated or combined with others although
 *   this is not allowed
 * - DOCA_ERROR_IO_FAILED: the JSON file cannot be read, or is not JSON
 * - DOCA_ERROR_NOT_FOUND: a device or a representor does not exist
 * - DOCA_ERROR_NOT_CONNECTED: a device cannot be opened or does not answer
 * - DOCA_ERROR_DRIVER: a device cannot be queried
 * - DOCA_ERROR_UNEXPECTED: the function that opens devices has succeeded without a device
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 *
 * If a callback fails, the function returns the error of the callback.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_start(int argc, char **argv);

/**
 * Destroy the parser and everything that is registered. The caller still owns parameters and
 * commands that were never registered.
 *
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_destroy(void);

/**
 * Print the usage of the program, or of the command that is being parsed, to standard output.
 *
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_usage(void);

/**
 * Create a parameter. It needs a description, a callback, a type, and a short or a long name.
 *
 * @param param out: the parameter, owned by the caller until it is registered
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/**
 * Destroy a parameter that was never registered.
 *
 * @param param the parameter
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the parameter was registered, or its registration was refused
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Set the short name of the flag, which follows one dash.
 *
 * @param param a parameter that is not registered
 * @param name one or more letters, without the dash; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_short_name(struct doca_argp_param *param,
						      const char *name);

/**
 * Set the long name of the flag, which follows two dashes and is also used in JSON files.
 *
 * @param param a parameter that is not registered
 * @param name the name without the dashes; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_long_name(struct doca_argp_param *param,
						     const char *name);

/**
 * Set the placeholder of the value in the usage.
 *
 * @param param a parameter that is not registered
 * @param arguments the text, for example "<path>"; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_arguments(struct doca_argp_param *param,
						     const char *arguments);

/**
 * Set the description of the flag in the usage.
 *
 * @param param a parameter that is not registered
 * @param description the text; copied
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_description(struct doca_argp_param *param,
						       const char *description);

/**
 * Set the function that receives the value.
 *
 * @param param a parameter that is not registered
 * @param callback the function
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_callback(struct doca_argp_param *param,
						    doca_argp_param_cb_t callback);

/**
 * Set the type of the value.
 *
 * @param param a parameter that is not registered
 * @param type the type
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_type(struct doca_argp_param *param,
						enum doca_argp_type type);

/**
 * Make the flag mandatory.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/**
 * Allow the flag only on the command line, not in JSON files.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/**
 * Allow the flag several times. The callback is called for each value.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * Allow the flag only alone. No other flag of the program may be given with it, and no flag is
 * then mandatory.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_singular(struct doca_argp_param *param);

/**
 * Allow the flag also after the names of commands, for all commands below the place where it is
 * registered.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_inherited(struct doca_argp_param *param);

/**
 * Hide the flag in the usage.
 *
 * @param param a parameter that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * Register a parameter with the program.
 *
 * @param param the parameter; the library owns it from now on until doca_argp_destroy(), also on
 *         failure
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized; doca_argp_start() has succeeded; or the
 *   parameter was registered before
 * - DOCA_ERROR_INITIALIZATION: the parameter has no description, callback, type or name
 * - DOCA_ERROR_INVALID_VALUE: the parameter is NULL; a name is in use or is not a valid option
 *   name; the type does not exist; or the type is for JSON only and the flag must be on the
 *   command line
 * - DOCA_ERROR_NO_MEMORY: a string cannot be copied
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_param(struct doca_argp_param *param);

/**
 * Create a command. It needs a name and a description.
 *
 * @param cmd out: the command, owned by the caller until it is registered
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/**
 * Destroy a command that was never registered, and everything that is registered in it.
 *
 * @param cmd the command
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the command was registered, or its registration was refused
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * Set the name of the command.
 *
 * @param cmd a command that is not registered
 * @param name the name; copied
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/**
 * Set the description of the command in the usage.
 *
 * @param cmd a command that is not registered
 * @param description the text; copied
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd,
						     const char *description);

/**
 * Set the function that is called if the command is on the command line.
 *
 * @param cmd a command that is not registered
 * @param callback the function; NULL (the default) for none
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd,
						  doca_argp_cmd_cb_t callback);

/**
 * Hide the command in the usage.
 *
 * @param cmd a command that is not registered
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Register a parameter with a command.
 *
 * @param cmd the command, registered or not
 * @param param the parameter; the library owns it from now on until doca_argp_destroy() or
 *         doca_argp_cmd_destroy(), also on failure
 * @return as doca_argp_register_param()
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
							    struct doca_argp_param *param);

/**
 * Register a command as a subcommand of another command.
 *
 * @param cmd the upper command, registered or not
 * @param subcmd the subcommand; the library owns it from now on until doca_argp_destroy() or
 *         doca_argp_cmd_destroy(), also on failure
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cmd is already part of subcmd; or see doca_argp_register_cmd()
 * - DOCA_ERROR_BAD_STATE: see doca_argp_register_cmd()
 * - DOCA_ERROR_INITIALIZATION: see doca_argp_register_cmd()
 * - DOCA_ERROR_NO_MEMORY: see doca_argp_register_cmd()
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd,
							  struct doca_argp_cmd *subcmd);

/**
 * Register a command with the program.
 *
 * @param cmd the command; the library owns it and everything that is registered in it from now on
 *         until doca_argp_destroy(), also on failure
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized; doca_argp_start() has succeeded; or the
 *   command was registered before
 * - DOCA_ERROR_INITIALIZATION: the command has no name or description
 * - DOCA_ERROR_INVALID_VALUE: the command is NULL, or its name is in use or is not a valid command
 *   name
 * - DOCA_ERROR_NO_MEMORY: a string cannot be copied
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd);

/**
 * Set the function that is called for --version during parsing. By default, the version of the
 * library is printed and the process exits with status 0.
 *
 * @param callback the callback, which replaces the previous one; it receives a bool * that is
 *         true, and normally ends the process. If it returns DOCA_SUCCESS, parsing continues
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Set the function that is called after all other callbacks.
 *
 * @param callback the callback, which replaces the previous one
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Set the function that is called for --log-level, instead of setting the global lower limit.
 *
 * @param callback the function; it receives an int * with a value from 10 to 70
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_ALREADY_EXIST: such a callback is already set
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_logger_callback(doca_argp_param_cb_t callback);

/**
 * Neither set a log level nor call a function for --log-level and --sdk-log-level. The program
 * then uses doca_argp_get_log_level() and doca_argp_get_sdk_log_level().
 *
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Set the function that opens the devices of flags, in place of doca_dev_open(). It is called after
 * the DPDK callback and before the callbacks of parameters.
 *
 * @param callback the function, which replaces the previous one
 * @param usr_ctx passed to the function; may be NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 * - DOCA_ERROR_INVALID_VALUE: callback is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx);

/**
 * Ignore unknown members of the JSON file and of its groups of flags, and flags for DPDK in a program
 * that does not use DPDK. By default, doca_argp_start() returns DOCA_ERROR_NOT_SUPPORTED for them.
 *
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_disable_pedantic_config_parsing(void);

/**
 * Declare that the program uses DPDK, and set the function that receives the arguments for DPDK.
 *
 * @param callback the callback, which replaces the previous one
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the parser is not initialized, or doca_argp_start() has succeeded
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * Get the log level of the program that the user requested.
 *
 * @param log_level out: the value of --log-level, or the global lower limit if the flag was not
 *         given
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * Get the log level of the library that the user requested.
 *
 * @param log_level out: the value of --sdk-log-level, or the global SDK limit if the flag was not
 *         given
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H_ */
