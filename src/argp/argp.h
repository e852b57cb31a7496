/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The parser's objects: the program and its commands are levels, a level has parameters and
 * commands. The names are matched by our own few lines, because nothing at hand does it exactly:
 * getopt_long_only() and argp take abbreviations, so that "-n" would mean a "-ns" or a "--num", and
 * keep their place in globals that belong to the program. JSON is read by json-c, whose objects the
 * interface shows.
 */
#ifndef DPUMAP_ARGP_H
#define DPUMAP_ARGP_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_argp.h>

struct json_object;

enum dpumap_argp_builtin {
	DPUMAP_ARGP_OWN, /* none of the following: a parameter of the program */
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
	DPUMAP_ARGP_REFUSED, /* ours as well, to be freed by doca_argp_destroy() */
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
	bool lost_text; /* a setter could not copy, and has no result to say so */
	unsigned int on_line;
	unsigned int in_file;
	struct doca_argp_param *next;
};

struct dpumap_argp_level {
	struct doca_argp_param *params;
	struct doca_argp_cmd *cmds;
	struct dpumap_argp_level
		*up; /* NULL of the program, and of a command that is not registered */
	struct doca_argp_cmd *cmd; /* whose level it is, NULL of the program */
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

/* A flag with its value, checked. */
struct dpumap_argp_given {
	struct doca_argp_param *param;
	union {
		char *text;
		int number;
		bool on;
		struct json_object *json;
	} value;
};

struct dpumap_argp {
	char *program_name; /* NULL: the one that it was started by */
	void *config;
	struct dpumap_argp_level program;
	struct doca_argp_param builtins[DPUMAP_ARGP_NUM_BUILTINS];
	struct doca_argp_param *refused_params;
	struct doca_argp_cmd *refused_cmds;
	doca_argp_param_cb_t version_cb;
	doca_argp_param_cb_t logger_cb;
	doca_argp_validation_cb_t validation_cb;
	doca_argp_dpdk_cb_t dpdk_cb;
	bool logger_disabled;

	/* What one doca_argp_start() found. */
	bool running;
	bool started;
	bool destroyed;	  /* by a callback; freed when doca_argp_start() returns */
	const char *path; /* argv[0] */
	struct dpumap_argp_level *level;
	struct dpumap_argp_given *given;
	size_t num_given;
	size_t max_given;
	size_t num_on_line; /* of them; those of the file follow */
	int log_level;	    /* 0: not given */
	int sdk_log_level;
	const char *json_path;
	struct json_object *json;
	char **dpdk_argv; /* NULL terminated */
	size_t dpdk_argc;
	char **dpdk_texts; /* what of it is ours: DPDK sorts its argv */
	size_t num_dpdk_texts;
};

/* NULL when not initialised. */
extern struct dpumap_argp *dpumap_argp_current;

/* NULL, after saying so in the name of function, when nothing can be registered now. */
struct dpumap_argp *dpumap_argp_configurable(const char *function);
/* A name that can be typed, and be told from a value. */
bool dpumap_argp_is_name(const char *name);
/* Copies text over *copy, which is freed; false when that fails, and *copy is NULL then. */
bool dpumap_argp_set_text(const char **copy, const char *text);
void dpumap_argp_free_params(struct doca_argp_param *params);
void dpumap_argp_free_cmds(struct doca_argp_cmd *cmds);
/* What the user gave away is ours, though we do not want it; nothing happens to one that is ours.
 */
void dpumap_argp_refuse_param(struct doca_argp_param *param);
/* To a command, or with NULL to the program. */
doca_error_t dpumap_argp_add_param(const char *function, struct doca_argp_cmd *cmd,
				   struct doca_argp_param *param);

/* How users call the flag, "--long" or "-short". */
struct dpumap_argp_name {
	const char *dashes;
	const char *text;
};
struct dpumap_argp_name dpumap_argp_name(const struct doca_argp_param *param);

/* Forgets what an earlier doca_argp_start() found. */
void dpumap_argp_reset(struct dpumap_argp *argp);
doca_error_t dpumap_argp_add_given(struct dpumap_argp *argp, struct dpumap_argp_given given);
doca_error_t dpumap_argp_add_dpdk(struct dpumap_argp *argp, char *argument);
doca_error_t dpumap_argp_read_line(struct dpumap_argp *argp, int argc, char **argv);
doca_error_t dpumap_argp_read_file(struct dpumap_argp *argp);

/* The value of key, or an error that says what it should have been. */
doca_error_t dpumap_argp_json_wrong_type(const char *key, struct json_object *value,
					 const char *wanted);
/* The text is the JSON object's, and lives as long. */
doca_error_t dpumap_argp_json_string(const char *key, struct json_object *value, char **text);
doca_error_t dpumap_argp_json_boolean(const char *key, struct json_object *value, bool *on);
/* One of the flags for DPDK. */
doca_error_t dpumap_argp_read_json_dpdk(struct dpumap_argp *argp, const char *key,
					struct json_object *value);

/* level is one of DOCA_LOG_LEVEL_*. */
bool dpumap_argp_is_log_level(int level);
void dpumap_argp_print_usage(const struct dpumap_argp *argp, const struct dpumap_argp_level *level);
const char *dpumap_argp_program_name(const struct dpumap_argp *argp);

#endif
