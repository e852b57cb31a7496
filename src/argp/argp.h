/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The objects of the parser. The program and its commands are levels; a level has parameters and
 * commands. Names are matched here because getopt_long_only() and argp accept abbreviations, so
 * that "-n" would mean "-ns" or "--num", and keep their state in globals that belong to the program.
 * JSON is read by json-c, whose objects are part of the interface.
 */
#ifndef DPUMAP_ARGP_H
#define DPUMAP_ARGP_H

#include <doca_argp.h>
#include <stdbool.h>
#include <stddef.h>

struct json_object;

enum dpumap_argp_builtin {
	DPUMAP_ARGP_OWN, /* not built in: a parameter of the program */
	DPUMAP_ARGP_HELP,
	DPUMAP_ARGP_VERSION,
	DPUMAP_ARGP_LOG_LEVEL,
	DPUMAP_ARGP_SDK_LOG_LEVEL,
	DPUMAP_ARGP_JSON,
};

#define DPUMAP_ARGP_NUM_BUILTINS 5

enum dpumap_argp_owner {
	DPUMAP_ARGP_USERS,
	DPUMAP_ARGP_REGISTERED,
	DPUMAP_ARGP_REFUSED, /* freed by doca_argp_destroy() as well */
};

struct doca_argp_param {
	const char *short_name;
	const char *long_name;
	const char *arguments;
	const char *description;
	doca_argp_param_cb_t callback;
	enum doca_argp_type type;
	enum dpumap_argp_builtin builtin;
	enum dpumap_argp_owner owner;
	bool mandatory;
	bool cli_only;
	bool multiplicity;
	bool singular;
	bool inherited;
	bool hidden;
	bool lost_text; /* a setter, which returns nothing, could not copy */
	unsigned int on_line;
	unsigned int in_file;
	struct doca_argp_param *next;
};

struct dpumap_argp_level {
	struct doca_argp_param *params;
	struct doca_argp_cmd *cmds;
	struct dpumap_argp_level *up; /* NULL for the program and for an unregistered command */
	struct doca_argp_cmd *cmd;    /* NULL for the program */
};

struct doca_argp_cmd {
	const char *name;
	const char *description;
	doca_argp_cmd_cb_t callback;
	enum dpumap_argp_owner owner;
	bool hidden;
	bool lost_text;
	struct dpumap_argp_level level;
	struct doca_argp_cmd *next;
};

/* A flag that was given, with its checked value. Callbacks receive the address of the member. */
struct dpumap_argp_given {
	struct doca_argp_param *param;
	bool owns_device; /* the device in value is open, and not yet the program's */
	union {
		char *text; /* also of a device that is not open */
		int number;
		bool on;
		double real;
		struct json_object *json;
		struct doca_argp_device_rep_ctx device; /* of a device, dev_ctx alone */
	} value;
};

struct dpumap_argp {
	char *program_name; /* NULL: from argv[0] */
	void *config;
	struct dpumap_argp_level program;
	struct doca_argp_param builtins[DPUMAP_ARGP_NUM_BUILTINS];
	struct doca_argp_param *refused_params;
	struct doca_argp_cmd *refused_cmds;
	doca_argp_param_cb_t version_cb;
	doca_argp_param_cb_t logger_cb;
	doca_argp_validation_cb_t validation_cb;
	doca_argp_dpdk_cb_t dpdk_cb;
	doca_argp_dev_open_cb_t dev_open_cb;
	void *dev_open_ctx;
	bool logger_disabled;
	bool ignores_unknown; /* in a JSON file */

	/* Results of one doca_argp_start(). */
	bool running;
	bool started;
	bool destroyed;	  /* by a callback: doca_argp_start() frees the parser when it returns */
	const char *path; /* argv[0] */
	struct dpumap_argp_level *level;
	struct dpumap_argp_given *given;
	size_t num_given;
	size_t max_given;
	size_t num_on_line; /* of num_given; those of the JSON file follow */
	int log_level;	    /* 0: not given */
	int sdk_log_level;
	const char *json_path;
	struct json_object *json;
	char **dpdk_argv; /* NULL terminated */
	size_t dpdk_argc;
	char **dpdk_texts; /* the allocated ones of dpdk_argv, which DPDK sorts */
	size_t num_dpdk_texts;
};

/* NULL before doca_argp_init(). */
extern struct dpumap_argp *dpumap_argp_current;

/* The parser, if flags may be registered now; else NULL, logged in the name of function. */
struct dpumap_argp *dpumap_argp_configurable(const char *function);

/* Commands of a program (doca_argp_cmd_*). */
void dpumap_argp_free_cmds(struct doca_argp_cmd *cmds);

/* What one doca_argp_start() was given. */

/* Append a flag that was given. */
doca_error_t dpumap_argp_add_given(struct dpumap_argp *argp, struct dpumap_argp_given given);
/* Append an argument for DPDK. */
doca_error_t dpumap_argp_add_dpdk(struct dpumap_argp *argp, char *argument);

/* Devices of flags. */

/* Open the devices of all flags that were given. */
doca_error_t dpumap_argp_open_devices(struct dpumap_argp *argp);
/* Close the devices that the program has not taken over. */
void dpumap_argp_close_devices(struct dpumap_argp *argp);

/* Parameters from a JSON file. */

/* Read the JSON file at argp->json_path. */
doca_error_t dpumap_argp_read_file(struct dpumap_argp *argp);

/* Log that value is not `wanted`, such as "a string". */
doca_error_t dpumap_argp_json_wrong_type(const char *key, struct json_object *value,
					 const char *wanted);
/* The text belongs to the JSON object and lives as long. */
doca_error_t dpumap_argp_json_string(const char *key, struct json_object *value, char **text);
doca_error_t dpumap_argp_json_boolean(const char *key, struct json_object *value, bool *on);
/* A name that does not exist, such as "flag": an error unless the program ignores them. */
doca_error_t dpumap_argp_json_unknown(const struct dpumap_argp *argp, const char *what,
				      const char *name);

/* The flags for DPDK in a JSON file. */

/* Read one of the flags for DPDK. */
doca_error_t dpumap_argp_read_json_dpdk(struct dpumap_argp *argp, const char *key,
					struct json_object *value);

/* Parameters from the command line. */

/* Read the command line. */
doca_error_t dpumap_argp_read_line(struct dpumap_argp *argp, int argc, char **argv);

/* The text of --help. */
void dpumap_argp_print_usage(const struct dpumap_argp *argp, const struct dpumap_argp_level *level);
const char *dpumap_argp_program_name(const struct dpumap_argp *argp);

#endif
