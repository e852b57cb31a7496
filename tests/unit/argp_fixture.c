/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "argp_fixture.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

#define MAX_ARGS 64

struct config config;

static void *kept[MAX_ARGS];

int argp_setup(void **state)
{
	memset(&config, 0, sizeof(config));
	return doca_argp_init("prog", &config) != DOCA_SUCCESS;
}

int argp_teardown(void **state)
{
	(void)doca_argp_destroy();
	return 0;
}

void record(const char *fmt, ...)
{
	size_t len = strlen(config.recorded);
	va_list args;

	va_start(args, fmt);
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	vsnprintf(config.recorded + len, sizeof(config.recorded) - len, fmt, args);
	va_end(args);
	config.calls++;
}

doca_error_t record_text(void *param, void *conf)
{
	assert_ptr_equal(conf, &config);
	record("text=%s ", (char *)param);
	return config.answer;
}

doca_error_t record_number(void *param, void *conf)
{
	assert_ptr_equal(conf, &config);
	record("number=%d ", *(int *)param);
	return config.answer;
}

doca_error_t record_on(void *param, void *conf)
{
	assert_ptr_equal(conf, &config);
	record("on=%d ", *(bool *)param);
	return config.answer;
}

doca_error_t record_real(void *param, void *conf)
{
	assert_ptr_equal(conf, &config);
	record("real=%.17g ", *(double *)param);
	return config.answer;
}

doca_error_t record_json(void *param, void *conf)
{
	assert_ptr_equal(conf, &config);
	record("json=%s ", json_object_to_json_string_ext(param, JSON_C_TO_STRING_PLAIN));
	return config.answer;
}

/* The tests that have a device are tests/integration/device/test_argp_device.c. */
static doca_error_t record_device(void *param, void *conf)
{
	fail();
	return DOCA_ERROR_UNEXPECTED;
}

static void set_flags(struct doca_argp_param *param, unsigned int flags)
{
	static void (*const setters[])(struct doca_argp_param * param) = {
		doca_argp_param_set_mandatory,	  doca_argp_param_set_cli_only,
		doca_argp_param_set_multiplicity, doca_argp_param_set_singular,
		doca_argp_param_set_inherited,	  doca_argp_param_set_hidden,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(setters); i++)
		if (flags & (1u << i))
			setters[i](param);
}

struct doca_argp_param *make_param(const char *short_name, const char *long_name,
				   enum doca_argp_type type, unsigned int flags)
{
	static const doca_argp_param_cb_t callbacks[] = {
		[DOCA_ARGP_TYPE_STRING] = record_text,
		[DOCA_ARGP_TYPE_INT] = record_number,
		[DOCA_ARGP_TYPE_BOOLEAN] = record_on,
		[DOCA_ARGP_TYPE_DEVICE] = record_device,
		[DOCA_ARGP_TYPE_DEVICE_REP] = record_device,
		[DOCA_ARGP_TYPE_DOUBLE] = record_real,
		[DOCA_ARGP_TYPE_JSON_OBJ] = record_json,
	};
	struct doca_argp_param *param;
	char text[32] = "what it is for";

	assert_ok(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, text);
	memset(text, 'x', sizeof(text)); /* texts are copied */
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callbacks[type]);
	set_flags(param, flags);
	return param;
}

doca_error_t add(const char *short_name, const char *long_name, enum doca_argp_type type,
		 unsigned int flags)
{
	return doca_argp_register_param(make_param(short_name, long_name, type, flags));
}

doca_error_t add_to(struct doca_argp_cmd *cmd, const char *short_name, const char *long_name,
		    enum doca_argp_type type, unsigned int flags)
{
	return doca_argp_cmd_register_param(cmd, make_param(short_name, long_name, type, flags));
}

struct doca_argp_cmd *make_cmd(const char *name)
{
	struct doca_argp_cmd *cmd;

	assert_ok(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, name);
	doca_argp_cmd_set_description(cmd, "what it does");
	return cmd;
}

/* The texts live until the next call: the parser keeps references to them. */
static void forget_args(void)
{
	for (size_t i = 0; i < MAX_ARGS; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

doca_error_t start_args(const char *const *args)
{
	static char *argv[MAX_ARGS + 2];
	static bool registered;
	int argc = 1;

	if (!registered)
		(void)atexit(forget_args);
	registered = true;
	forget_args();
	argv[0] = kept[0] = strdup("/usr/bin/prog");
	for (; *args && argc < MAX_ARGS; args++, argc++) {
		kept[argc] = strdup(*args);
		argv[argc] = kept[argc];
	}
	argv[argc] = NULL;
	return doca_argp_start(argc, argv);
}

static void collect(int fd, char *out, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < size - 1) {
		n = read(fd, out + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	out[len] = '\0';
	close(fd);
}

int run_apart(void (*play)(void), char *out, size_t size)
{
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		play();
		fflush(stdout);
		_exit(99);
	}
	close(ends[1]);
	assert_true(pid > 0);
	collect(ends[0], out, size);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

const char *write_file(const char *bytes, size_t len)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("argp", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, len, 0), (ssize_t)len);
	return path;
}

doca_error_t start_json(const char *text)
{
	return start("--json", write_text(text));
}
