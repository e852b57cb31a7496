/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "unit/log_process.h"

#include <regex.h>
#include <string.h>
#include <sys/wait.h>

static char *slurp(FILE *file)
{
	long len;
	char *text;

	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	len = ftell(file);
	assert_true(len >= 0);
	rewind(file);
	text = calloc(1, (size_t)len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)len, file), len);
	assert_int_equal(fclose(file), 0);
	return text;
}

static FILE *open_scratch(void)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	return file;
}

void log_process_run(struct log_output *output, void (*experiment)(void))
{
	FILE *out = open_scratch(), *err = open_scratch();
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		experiment();
		fflush(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	output->out = slurp(out);
	output->err = slurp(err);
	if (status)
		print_error("status 0x%x\n%s%s", (unsigned int)status, output->out, output->err);
	assert_int_equal(status, 0);
}

void log_output_clear(struct log_output *output)
{
	free(output->out);
	free(output->err);
}

void assert_like(const char *text, const char *pattern)
{
	char whole[1024];
	regex_t regex;
	int result;

	snprintf(whole, sizeof(whole), "^%s$", pattern);
	assert_int_equal(regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB), 0);
	result = regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	if (result)
		print_error("not like %s:\n%s\n", whole, text);
	assert_int_equal(result, 0);
}

size_t occurrences(const char *text, const char *word)
{
	size_t n = 0, len = strlen(word);

	/* AddressSanitizer's strstr() measures the whole text at each call. */
	for (text = strchr(text, *word); text; text = strchr(text + 1, *word))
		n += !strncmp(text, word, len);
	return n;
}

void assert_lines(const char *text, size_t wanted)
{
	size_t len = strlen(text);

	if (occurrences(text, "\n") != wanted)
		print_error("not %zu lines:\n%s", wanted, text);
	assert_int_equal(occurrences(text, "\n"), wanted);
	assert_true(!len || text[len - 1] == '\n');
}

struct doca_log_backend *log_to_stdout(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_file(stdout, &backend));
	return backend;
}
