/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The translation of errno, for callers that return all errors and for those that return a few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "device/errno.h"

static void errno_is_translated_to_its_error(void **state)
{
	static const struct {
		int err;
		doca_error_t error;
	} cases[] = {
		{0, DOCA_SUCCESS},
		{EINVAL, DOCA_ERROR_INVALID_VALUE},
		{ENOMEM, DOCA_ERROR_NO_MEMORY},
		{EOPNOTSUPP, DOCA_ERROR_NOT_SUPPORTED},
		{ENOSYS, DOCA_ERROR_NOT_SUPPORTED},
		{EPROTONOSUPPORT, DOCA_ERROR_NOT_SUPPORTED},
		{EPERM, DOCA_ERROR_NOT_PERMITTED},
		{EACCES, DOCA_ERROR_NOT_PERMITTED},
		{EAGAIN, DOCA_ERROR_AGAIN},
		{EBUSY, DOCA_ERROR_IN_USE},
		{EIO, DOCA_ERROR_DRIVER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(dpumap_errno_to_error(cases[i].err), cases[i].error);
}

static void listed_error_is_kept(void **state)
{
	assert_int_equal(dpumap_errno_to_one_of(ENOMEM, DOCA_ERROR_IN_USE, DOCA_ERROR_NO_MEMORY),
			 DOCA_ERROR_NO_MEMORY);
}

static void other_error_is_driver(void **state)
{
	assert_int_equal(dpumap_errno_to_one_of(EPERM, DOCA_ERROR_NO_MEMORY), DOCA_ERROR_DRIVER);
}

/* A failed call that leaves errno at 0 must not pass for a successful one. */
static void zero_is_driver(void **state)
{
	assert_int_equal(dpumap_errno_to_one_of(0, DOCA_ERROR_NO_MEMORY), DOCA_ERROR_DRIVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errno_is_translated_to_its_error),
		cmocka_unit_test(listed_error_is_kept),
		cmocka_unit_test(other_error_is_driver),
		cmocka_unit_test(zero_is_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
