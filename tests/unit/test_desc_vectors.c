/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every vector of the file named on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vectors/vectors.h"

#define MAX_FILE (1 << 20)

static const char *path;
static char *text;

static int load(void **state)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	(void)state;
	if (!file) {
		perror(path);
		return -1;
	}
	text = malloc(MAX_FILE);
	size = text ? fread(text, 1, MAX_FILE - 1, file) : 0;
	if (text)
		text[size] = '\0';
	(void)fclose(file);
	return size ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	free(text);
	return 0;
}

static void test_vectors(void **state)
{
	enum desc_vector_result result;
	const char *at = text;
	struct desc_vector v;
	unsigned int n = 0, wrong = 0;

	(void)state;
	while ((result = desc_vector_next(&at, &v)) == DESC_VECTOR_READ) {
		n++;
		if (desc_vector_holds(&v))
			continue;
		wrong++;
		print_error("%s: \"%s\" does not hold\n", path, v.title);
	}
	if (result == DESC_VECTOR_MALFORMED)
		print_error("%s: malformed: %.40s\n", path, at);
	assert_int_equal(result, DESC_VECTOR_END);
	assert_int_equal(wrong, 0);
	assert_true(n > 0);
	print_message("%u vectors\n", n);
}

/* Whoever adds a status adds a vector; NULL and buffer arguments cannot be put in one. */
static void test_every_status_has_a_vector(void **state)
{
	(void)state;
	for (dpumap_desc_status_t s = 0; s >= DPUMAP_DESC_ERR_UMEM_UNUSED; s--) {
		char line[64];

		if (s == DPUMAP_DESC_ERR_NULL || s == DPUMAP_DESC_ERR_BUFFER)
			continue;
		assert_true(snprintf(line, sizeof(line), "\nstatus: %s\n",
				     dpumap_desc_status_name(s)) < (int)sizeof(line));
		if (!strstr(text, line))
			fail_msg("no vector for %s", dpumap_desc_status_name(s));
	}
}

static void test_reader_refuses_nonsense(void **state)
{
	static const char *const nonsense[] = {
		"title: x\n",			    /* no status */
		"status: x\n",			    /* no title */
		"title: x\nstatus: y\nno colon\n",  /* no key */
		"title: x\nstatus: y\nkeey: 1\n",   /* unknown key */
		"title: x\nstatus: y\nhex: 1\n",    /* half a byte */
		"title: x\nstatus: y\nhex: 00 g0",  /* no hex */
		"title: x\nstatus: y\nkind: 10000", /* too wide */
		"title: x\nstatus: y\naccess_key: 00 01",
		"title: x\nstatus: y\ncanonical: no",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		const char *at = nonsense[i];
		struct desc_vector v;

		assert_int_equal(desc_vector_next(&at, &v), DESC_VECTOR_MALFORMED);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_every_status_has_a_vector),
		cmocka_unit_test(test_reader_refuses_nonsense),
	};

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s VECTORS\n", argv[0]);
		return 2;
	}
	path = argv[1];
	return cmocka_run_group_tests_name("desc vectors", tests, load, unload);
}
