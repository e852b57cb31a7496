/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every vector of the files on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "vectors/vectors.h"

#define MAX_FILE (1 << 20)

struct file {
	const char *path;
	char *text;
};

static struct file *files;
static int num_files;

static int load_file(struct file *f)
{
	FILE *file = fopen(f->path, "rb");
	size_t size;

	if (!file) {
		perror(f->path);
		return -1;
	}
	f->text = malloc(MAX_FILE);
	size = f->text ? fread(f->text, 1, MAX_FILE - 1, file) : 0;
	if (f->text)
		f->text[size] = '\0';
	(void)fclose(file);
	return size ? 0 : -1;
}

static int load(void **state)
{
	for (int i = 0; i < num_files; i++)
		if (load_file(&files[i]))
			return -1;
	return 0;
}

static int unload(void **state)
{
	for (int i = 0; i < num_files; i++)
		free(files[i].text);
	return 0;
}

struct count {
	unsigned int all;
	unsigned int good;
	unsigned int bad;
	unsigned int wrong;
};

static void check(const struct file *f, const struct desc_vector *v, struct count *count)
{
	count->all++;
	if (v->what == DESC_VECTOR_DECODE && !strcmp(v->status, "OK"))
		count->good++;
	else if (strcmp(v->status, "OK") != 0)
		count->bad++;
	if (desc_vector_holds(v) && desc_vector_is_fragile(v))
		return;
	count->wrong++;
	print_error("%s: \"%s\" does not hold\n", f->path, v->title);
}

static void check_file(const struct file *f)
{
	enum desc_vector_result result;
	struct count count = {0};
	const char *at = f->text;
	struct desc_vector v;

	while ((result = desc_vector_next(&at, &v)) == DESC_VECTOR_READ)
		check(f, &v, &count);
	if (result == DESC_VECTOR_MALFORMED)
		print_error("%s: malformed: %.40s\n", f->path, at);
	assert_int_equal(result, DESC_VECTOR_END);
	assert_int_equal(count.wrong, 0);
	assert_true(count.good > 0 && count.bad > 0);
	print_message("%s: %u vectors, %u of them good descriptors, %u refused\n", f->path,
		      count.all, count.good, count.bad);
}

static void every_vector_decodes_as_it_says(void **state)
{
	for (int i = 0; i < num_files; i++)
		check_file(&files[i]);
}

static bool any_file_has(const char *line)
{
	int i = 0;

	while (i < num_files && !strstr(files[i].text, line))
		i++;
	return i < num_files;
}

/* A new status needs a vector; a NULL or buffer argument cannot be put in one. */
static void every_status_has_a_vector(void **state)
{
	for (dpumap_desc_status_t s = 0; s >= DPUMAP_DESC_ERR_OUTSIDE; s--) {
		char line[64];

		if (s == DPUMAP_DESC_ERR_NULL || s == DPUMAP_DESC_ERR_BUFFER)
			continue;
		assert_true(snprintf(line, sizeof(line), "\nstatus: %s\n",
				     dpumap_desc_status_name(s)) < (int)sizeof(line));
		if (!any_file_has(line))
			fail_msg("no vector for %s", dpumap_desc_status_name(s));
	}
}

static void reader_refuses_nonsense(void **state)
{
	static const char *const nonsense[] = {
		"title: x\n",			    /* no status */
		"status: x\n",			    /* no title */
		"title: x\nstatus: y\nno colon\n",  /* no key */
		"title: x\nstatus: y\nkeey: 1\n",   /* unknown key */
		"title: x\nstatus: y\nhex: 1\n",    /* half a byte */
		"title: x\nstatus: y\nhex: 00 g0",  /* not hexadecimal */
		"title: x\nstatus: y\nkind: 10000", /* too wide */
		"title: x\nstatus: y\naccess_key: 00 01",
		"title: x\nstatus: y\ncanonical: no",
		"title: x\nstatus: y\ngid: 00",
		"title: x\nstatus: y\nbyte: 201",
	};

	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		const char *at = nonsense[i];
		struct desc_vector v;

		assert_int_equal(desc_vector_next(&at, &v), DESC_VECTOR_MALFORMED);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vector_decodes_as_it_says),
		cmocka_unit_test(every_status_has_a_vector),
		cmocka_unit_test(reader_refuses_nonsense),
	};
	int failed;

	if (argc < 2) {
		(void)fprintf(stderr, "usage: %s VECTORS...\n", argv[0]);
		return 2;
	}
	num_files = argc - 1;
	files = calloc((size_t)num_files, sizeof(*files));
	for (int i = 0; files && i < num_files; i++)
		files[i].path = argv[i + 1];
	failed = files ? cmocka_run_group_tests_name("desc vectors", tests, load, unload) : 1;
	free(files);
	return failed;
}
