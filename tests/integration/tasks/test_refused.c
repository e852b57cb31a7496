/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Libraries for engines that no device has: capability functions say so for each device and write
 * no output, and no object can be created. So programs find no device, and do not fail later.
 */
#include <string.h>

#include <doca_erasure_coding.h>
#include <doca_log.h>
#include <doca_sha.h>

#include "base/array.h"
#include "fixture.h"

#define UNTOUCHED 0x5a

typedef doca_error_t is_supported(const struct doca_devinfo *devinfo);
typedef doca_error_t get_u32(const struct doca_devinfo *devinfo, uint32_t *out);
typedef doca_error_t get_u64(const struct doca_devinfo *devinfo, uint64_t *out);
typedef doca_error_t is_algorithm_supported(const struct doca_devinfo *devinfo,
					    enum doca_sha_algorithm algorithm);
typedef doca_error_t get_of_algorithm(const struct doca_devinfo *devinfo,
				      enum doca_sha_algorithm algorithm, uint32_t *out);

static struct doca_dev *dev;
static const union doca_data no_data = {.u64 = 0};
static char not_an_object; /* its address is not NULL, and nothing reads it */

static struct {
	char text[512]; /* the last one */
	unsigned int num;
} lines;

static void count_line(char *text)
{
	(void)text;
	lines.num++;
}

static int open_log(void **state)
{
	struct doca_log_backend *backend;

	return doca_log_backend_create_with_buf_sdk(lines.text, sizeof(lines.text), count_line,
						    &backend) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

static int open_device(void **state)
{
	return fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ? -1 : 0;
}

static int close_device(void **state)
{
	return doca_dev_close(dev) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

#define device_test(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)

/* --- capabilities ----------------------------------------------------------------------------- */

/* One line, at level info, with the name of the device and what to do. */
static void assert_one_line(const struct doca_devinfo *info)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	assert_int_equal(lines.num, 1);
	assert_ok(doca_devinfo_get_ibdev_name(info, name, sizeof(name)));
	assert_non_null(strstr(lines.text, "[INF]"));
	assert_non_null(strstr(lines.text, name));
	assert_non_null(strstr(lines.text, "use the CPU"));
	lines.num = 0;
}

#define assert_not_supported(info, call)                      \
	do {                                                  \
		lines.num = 0;                                \
		assert_error(call, DOCA_ERROR_NOT_SUPPORTED); \
		assert_one_line(info);                        \
	} while (0)

static is_supported *const questions[] = {
	doca_ec_cap_task_galois_mul_is_supported,
	doca_ec_cap_task_create_is_supported,
	doca_ec_cap_task_update_is_supported,
	doca_ec_cap_task_recover_is_supported,
};

static get_u32 *const limits_u32[] = {
	doca_sha_cap_get_max_list_buf_num_elem,
	doca_ec_cap_get_max_buf_list_len,
};

static get_u64 *const limits_u64[] = {
	doca_sha_cap_get_max_src_buf_size,
	doca_ec_cap_get_max_block_size,
};

static is_algorithm_supported *const algorithm_questions[] = {
	doca_sha_cap_task_hash_get_supported,
	doca_sha_cap_task_partial_hash_get_supported,
};

static get_of_algorithm *const algorithm_limits[] = {
	doca_sha_cap_get_min_dst_buf_size,
	doca_sha_cap_get_partial_hash_block_size,
};

static void ask_for_algorithm(const struct doca_devinfo *info, enum doca_sha_algorithm algorithm)
{
	uint32_t value = UNTOUCHED;

	for (size_t i = 0; i < ARRAY_SIZE(algorithm_questions); i++)
		assert_not_supported(info, algorithm_questions[i](info, algorithm));
	for (size_t i = 0; i < ARRAY_SIZE(algorithm_limits); i++)
		assert_not_supported(info, algorithm_limits[i](info, algorithm, &value));
	assert_int_equal(value, UNTOUCHED);
}

static void ask(const struct doca_devinfo *info)
{
	uint32_t u32 = UNTOUCHED;
	uint64_t u64 = UNTOUCHED;

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		assert_not_supported(info, questions[i](info));
	for (size_t i = 0; i < ARRAY_SIZE(limits_u32); i++)
		assert_not_supported(info, limits_u32[i](info, &u32));
	for (size_t i = 0; i < ARRAY_SIZE(limits_u64); i++)
		assert_not_supported(info, limits_u64[i](info, &u64));
	assert_int_equal(u32, UNTOUCHED);
	assert_int_equal(u64, UNTOUCHED);
	ask_for_algorithm(info, DOCA_SHA_ALGORITHM_SHA1);
	ask_for_algorithm(info, DOCA_SHA_ALGORITHM_SHA512);
}

/* Each device of the list, and the open one. */
static void no_device_is_capable(void **state)
{
	struct doca_devinfo **list;
	uint32_t n = 0;

	ask(doca_dev_as_devinfo(dev));
	assert_ok(doca_devinfo_create_list(&list, &n));
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++)
		ask(list[i]);
	assert_ok(doca_devinfo_destroy_list(list));
}

static void capabilities_of_null_are_invalid(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t u32 = UNTOUCHED;
	uint64_t u64 = UNTOUCHED;

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		assert_error(questions[i](NULL), DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < ARRAY_SIZE(limits_u32); i++) {
		assert_error(limits_u32[i](NULL, &u32), DOCA_ERROR_INVALID_VALUE);
		assert_error(limits_u32[i](info, NULL), DOCA_ERROR_INVALID_VALUE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits_u64); i++) {
		assert_error(limits_u64[i](NULL, &u64), DOCA_ERROR_INVALID_VALUE);
		assert_error(limits_u64[i](info, NULL), DOCA_ERROR_INVALID_VALUE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(algorithm_questions); i++)
		assert_error(algorithm_questions[i](NULL, DOCA_SHA_ALGORITHM_SHA256),
			     DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < ARRAY_SIZE(algorithm_limits); i++) {
		assert_error(algorithm_limits[i](NULL, DOCA_SHA_ALGORITHM_SHA256, &u32),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(algorithm_limits[i](info, DOCA_SHA_ALGORITHM_SHA256, NULL),
			     DOCA_ERROR_INVALID_VALUE);
	}
	assert_int_equal(u32, UNTOUCHED);
	assert_int_equal(u64, UNTOUCHED);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* create() is refused, and what programs call after it, in their error paths too, does no harm. */
#define check_object(object)                                                             \
	do {                                                                             \
		struct object *created = (void *)&not_an_object;                         \
		assert_error(object##_create(NULL, &created), DOCA_ERROR_INVALID_VALUE); \
		assert_error(object##_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);      \
		lines.num = 0;                                                           \
		assert_error(object##_create(dev, &created), DOCA_ERROR_NOT_SUPPORTED);  \
		assert_ptr_equal(created, &not_an_object);                               \
		assert_int_equal(lines.num, 1);                                          \
		assert_non_null(strstr(lines.text, "[ERR]"));                            \
		assert_non_null(strstr(lines.text, #object "_create"));                  \
		assert_error(object##_destroy(NULL), DOCA_ERROR_INVALID_VALUE);          \
		assert_error(object##_destroy(created), DOCA_ERROR_NOT_SUPPORTED);       \
		assert_null(object##_as_ctx(NULL));                                      \
		assert_null(object##_as_ctx(created));                                   \
	} while (0)

#define check_task(object, task)                                                              \
	do {                                                                                  \
		assert_error(task##_set_conf(NULL, NULL, NULL, 1), DOCA_ERROR_INVALID_VALUE); \
		assert_error(task##_set_conf((object *)&not_an_object, NULL, NULL, 1),        \
			     DOCA_ERROR_NOT_SUPPORTED);                                       \
		assert_null(task##_as_task(NULL));                                            \
	} while (0)

static void no_hashes(void **state)
{
	struct doca_sha *sha = (void *)&not_an_object;
	struct doca_sha_task_hash *hash = NULL;
	struct doca_sha_task_partial_hash *part = NULL;
	uint32_t num = UNTOUCHED;

	check_object(doca_sha);
	check_task(struct doca_sha, doca_sha_task_hash);
	check_task(struct doca_sha, doca_sha_task_partial_hash);
	assert_error(doca_sha_cap_get_max_num_tasks(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sha_cap_get_max_num_tasks(sha, &num), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(num, UNTOUCHED);
	assert_error(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL,
						   no_data, &hash),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL,
							   no_data, &part),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(hash);
	assert_null(part);
	assert_error(doca_sha_task_hash_set_src(hash, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sha_task_hash_set_dst(hash, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sha_task_hash_set_algorithm(hash, DOCA_SHA_ALGORITHM_SHA1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sha_task_partial_hash_reset(part), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sha_task_partial_hash_set_is_final_buf(part), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_sha_task_hash_get_src(hash));
	assert_null(doca_sha_task_partial_hash_get_dst(part));
	assert_int_equal(doca_sha_task_partial_hash_get_is_final(part), 0);
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(part), 0);
}

static void no_erasure_coding(void **state)
{
	struct doca_ec *ec = (void *)&not_an_object;
	struct doca_ec_matrix *matrix = NULL;
	struct doca_ec_task_recover *task = NULL;
	uint32_t missing = 0;
	uint8_t raw = 1;

	check_object(doca_ec);
	check_task(struct doca_ec, doca_ec_task_galois_mul);
	check_task(struct doca_ec, doca_ec_task_create);
	check_task(struct doca_ec, doca_ec_task_update);
	check_task(struct doca_ec, doca_ec_task_recover);
	assert_error(doca_ec_matrix_create(NULL, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, &matrix),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, &matrix),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_ec_matrix_create_from_raw(ec, &raw, 1, 1, &matrix),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_ec_matrix_create_update(ec, matrix, &missing, 1, &matrix),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_ec_matrix_create_recover(ec, matrix, &missing, 1, &matrix),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_ec_matrix_destroy(matrix), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ec_task_recover_allocate_init(ec, matrix, NULL, NULL, no_data, &task),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(matrix);
	assert_null(task);
	doca_ec_task_recover_set_recovered_data_blocks(task, NULL);
	assert_null(doca_ec_task_recover_get_recovered_data(task));
	assert_null(doca_ec_task_recover_get_recover_matrix(task));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		device_test(no_device_is_capable),
		device_test(capabilities_of_null_are_invalid),
		device_test(no_hashes),
		device_test(no_erasure_coding),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, open_log, NULL);
}
