/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Errors of the calls of dpumap/fleet.h that need no etcd: arguments, a fleet that is not started, files.
 * The tests of a started fleet are in tests/fleet/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dpumap/channel.h>
#include <dpumap/fleet.h>

#include "base/array.h"

static const union doca_data none;

static int create(void **state)
{
	return dpumap_fleet_create("lab", (struct dpumap_fleet **)state) == DOCA_SUCCESS ? 0 : -1;
}

static int destroy(void **state)
{
	return dpumap_fleet_destroy(*state) == DOCA_SUCCESS ? 0 : -1;
}

static void an_export(union doca_data user_data, const struct dpumap_fleet_export *e)
{
	fail_msg("there is an export %s", e->name);
}

static void a_dpu(union doca_data user_data, const struct dpumap_fleet_dpu *dpu)
{
	fail_msg("there is a DPU %s", dpu->name);
}

static void a_member(union doca_data user_data, const struct dpumap_fleet_member *member)
{
	fail_msg("there is a member %s", member->name);
}

static void a_lease(union doca_data user_data, const struct dpumap_fleet_dpu *dpu,
		    int64_t remaining_s, int64_t granted_s)
{
	fail_msg("there is a lease of %s", dpu->name);
}

static void invalid_names_of_fleets_are_refused(void **state)
{
	const char *const wrong[] = {"", "a/b", "a b", "-a", ".", "a:b"};
	struct dpumap_fleet *fleet = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(dpumap_fleet_create(wrong[i], &fleet), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_fleet_create(NULL, &fleet), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_fleet_create("lab", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(fleet);
	assert_int_equal(dpumap_fleet_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void null_is_an_invalid_value(void **state)
{
	const struct dpumap_fleet_export *e;
	const struct dpumap_fleet_status *status;
	const struct dpumap_fleet_dpu *dpu;
	struct dpumap_fleet *f = *state;
	doca_notification_handle_t handle;
	const doca_error_t results[] = {
		dpumap_fleet_add_endpoint(NULL, "http://h:1"),
		dpumap_fleet_add_endpoint(f, NULL),
		dpumap_fleet_set_tls(NULL, "/ca", NULL, NULL),
		dpumap_fleet_set_tls(f, NULL, NULL, NULL),
		dpumap_fleet_set_tls(f, "/ca", "/cert", NULL),
		dpumap_fleet_set_tls(f, "/ca", NULL, "/key"),
		dpumap_fleet_set_user(NULL, "user", "/file"),
		dpumap_fleet_set_user(f, NULL, "/file"),
		dpumap_fleet_set_user(f, "user", NULL),
		dpumap_fleet_set_cache(NULL, "/file"),
		dpumap_fleet_set_cache(f, NULL),
		dpumap_fleet_set_dpu(NULL, "dpu1"),
		dpumap_fleet_set_dpu(f, NULL),
		dpumap_fleet_set_dpu(f, "a/b"),
		dpumap_fleet_set_timeout(NULL, 1000),
		dpumap_fleet_set_timeout(f, 99),
		dpumap_fleet_set_timeout(f, 600001),
		dpumap_fleet_set_log(NULL, NULL, none),
		dpumap_fleet_watch(NULL, NULL, none),
		dpumap_fleet_start(NULL),
		dpumap_fleet_list(NULL, NULL, NULL, 0, an_export, none),
		dpumap_fleet_list(f, NULL, NULL, 0, NULL, none),
		dpumap_fleet_list(f, NULL, NULL, 1, an_export, none),
		dpumap_fleet_list(f, NULL, (const char *const[]){NULL}, 1, an_export, none),
		dpumap_fleet_list_dpus(NULL, NULL, a_dpu, none),
		dpumap_fleet_list_dpus(f, NULL, NULL, none),
		dpumap_fleet_resolve(NULL, "d:e", &e),
		dpumap_fleet_resolve(f, NULL, &e),
		dpumap_fleet_resolve(f, "d:e", NULL),
		dpumap_fleet_resolve_dpu(NULL, "d", &dpu),
		dpumap_fleet_resolve_dpu(f, NULL, &dpu),
		dpumap_fleet_resolve_dpu(f, "d", NULL),
		dpumap_fleet_connect(NULL, "d", (struct dpumap_channel *)&handle),
		dpumap_fleet_connect(f, NULL, (struct dpumap_channel *)&handle),
		dpumap_fleet_connect(f, "d", NULL),
		dpumap_fleet_process(NULL),
		dpumap_fleet_get_notification_handle(NULL, &handle),
		dpumap_fleet_get_notification_handle(f, NULL),
		dpumap_fleet_get_next_time(NULL, &handle),
		dpumap_fleet_get_next_time(f, NULL),
		dpumap_fleet_get_status(NULL, &status),
		dpumap_fleet_get_status(f, NULL),
		dpumap_fleet_list_members(NULL, a_member, none),
		dpumap_fleet_list_members(f, NULL, none),
		dpumap_fleet_list_leases(NULL, NULL, a_lease, none),
		dpumap_fleet_list_leases(f, NULL, NULL, none),
	};

	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (results[i] != DOCA_ERROR_INVALID_VALUE)
			fail_msg("call %zu returned %s", i, doca_error_get_name(results[i]));
}

static void fleet_that_is_not_started_has_no_view(void **state)
{
	const struct dpumap_fleet_export *e;
	const struct dpumap_fleet_status *status;
	const struct dpumap_fleet_dpu *dpu;
	struct dpumap_fleet *f = *state;
	struct dpumap_channel *channel;
	doca_error_t results[9];

	assert_string_equal(dpumap_fleet_get_error(f), "");
	assert_int_equal(dpumap_channel_create(&channel), DOCA_SUCCESS);
	results[0] = dpumap_fleet_list(f, NULL, NULL, 0, an_export, none);
	results[1] = dpumap_fleet_list_dpus(f, NULL, a_dpu, none);
	results[2] = dpumap_fleet_resolve(f, "d:e", &e);
	results[3] = dpumap_fleet_resolve_dpu(f, "d", &dpu);
	results[4] = dpumap_fleet_connect(f, "d", channel);
	results[5] = dpumap_fleet_process(f);
	results[6] = dpumap_fleet_get_status(f, &status);
	results[7] = dpumap_fleet_list_members(f, a_member, none);
	results[8] = dpumap_fleet_list_leases(f, NULL, a_lease, none);
	dpumap_channel_destroy(channel);
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (results[i] != DOCA_ERROR_BAD_STATE)
			fail_msg("call %zu returned %s", i, doca_error_get_name(results[i]));
	assert_non_null(strstr(dpumap_fleet_get_error(f), "is not started"));
}

static void fleet_that_is_not_started_can_be_polled(void **state)
{
	doca_notification_handle_t handle = -1;
	int ms = 0;

	assert_int_equal(dpumap_fleet_get_notification_handle(*state, &handle), DOCA_SUCCESS);
	assert_true(handle >= 0);
	assert_int_equal(dpumap_fleet_get_next_time(*state, &ms), DOCA_SUCCESS);
	assert_int_equal(ms, -1);
	assert_int_equal(dpumap_fleet_set_log(*state, NULL, none), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_watch(*state, NULL, none), DOCA_SUCCESS);
}

static void endpoints_are_limited(void **state)
{
	char url[32];

	assert_int_equal(dpumap_fleet_add_endpoint(*state, "etcd:2379"), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 16; i++) {
		snprintf(url, sizeof(url), "http://127.0.0.1:%d", i + 1);
		assert_int_equal(dpumap_fleet_add_endpoint(*state, url), DOCA_SUCCESS);
	}
	assert_int_equal(dpumap_fleet_add_endpoint(*state, "http://h:1"), DOCA_ERROR_FULL);
}

static char place[] = "/tmp/dpumap-fleet-api.XXXXXX";

static const char *put(const char *name, const char *text, mode_t mode)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

/* Each start fails, and the fleet can be set up and started again. */
static void start_checks_its_files(void **state)
{
	struct dpumap_fleet *f = *state;

	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_BAD_STATE);
	/* Port 1 of this machine: nothing listens there. */
	assert_int_equal(dpumap_fleet_add_endpoint(f, "https://127.0.0.1:1"), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_set_tls(f, "/nonexistent/ca", NULL, NULL), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(dpumap_fleet_get_error(f), "/nonexistent"));
	assert_int_equal(dpumap_fleet_set_tls(f, put("ca", "text", 0666), NULL, NULL),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(dpumap_fleet_set_tls(f, put("ca", "text", 0600), NULL, NULL),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(dpumap_fleet_process(f), DOCA_ERROR_BAD_STATE);
}

static void password_is_read_from_a_secret_file(void **state)
{
	struct dpumap_fleet *f = *state;

	assert_int_equal(dpumap_fleet_add_endpoint(f, "http://127.0.0.1:1"), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_set_user(f, "u", put("password", "word\n", 0644)),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(dpumap_fleet_set_user(f, "u", put("password", "", 0600)), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(dpumap_fleet_set_user(f, "u", put("password", "word\n", 0600)),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_NOT_CONNECTED);
}

static void cache_that_is_not_one_does_not_help(void **state)
{
	struct dpumap_fleet *f = *state;

	assert_int_equal(dpumap_fleet_add_endpoint(f, "http://127.0.0.1:1"), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_set_cache(f, "/nonexistent/cache"), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(dpumap_fleet_set_cache(f, put("cache", "{}", 0600)), DOCA_SUCCESS);
	assert_int_equal(dpumap_fleet_start(f), DOCA_ERROR_NOT_CONNECTED);
	assert_non_null(strstr(dpumap_fleet_get_error(f), "127.0.0.1:1"));
}

static int make_place(void **state)
{
	return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
	const char *const names[] = {"ca", "password", "cache"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", place, names[i]);
		unlink(path);
	}
	return rmdir(place);
}

#define fleet_test(function) cmocka_unit_test_setup_teardown(function, create, destroy)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_names_of_fleets_are_refused),
		fleet_test(null_is_an_invalid_value),
		fleet_test(fleet_that_is_not_started_has_no_view),
		fleet_test(fleet_that_is_not_started_can_be_polled),
		fleet_test(endpoints_are_limited),
		fleet_test(start_checks_its_files),
		fleet_test(password_is_read_from_a_secret_file),
		fleet_test(cache_that_is_not_one_does_not_help),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
