/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names, base64, records and the view of a fleet: pure code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_types.h>

#include "base/array.h"
#include "fleet/etcd/base64.h"
#include "fleet/record/names.h"
#include "fleet/record/record.h"
#include "fleet/record/records.h"
#include "fleet/view/entry.h"
#include "fleet/view/view.h"

/* --- names ------------------------------------------------------------------------------------ */

static void names_have_the_characters_of_a_key(void **state)
{
	static const char *const good[] = {"a", "0", "dpu-1", "a.b_c-D9"};
	static const char *const bad[] = {"",	 "-a",	".",   "..",	   "_",
					  "a/b", "a b", "a:b", "\xc3\xa9", "a\n"};
	char long_name[DPUMAP_FLEET_NAME_MAX + 2];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(dpumap_fleet_name_valid(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(dpumap_fleet_name_valid(bad[i]));
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_false(dpumap_fleet_name_valid(long_name));
	long_name[DPUMAP_FLEET_NAME_MAX] = '\0';
	assert_true(dpumap_fleet_name_valid(long_name));
}

static void malformed_urls_and_addresses_are_refused(void **state)
{
	static const char *const good[] = {"http://h:1", "https://[::1]:65535",
					   "https://a.b-c:2379"};
	static const char *const bad[] = {"",
					  "h:1",
					  "ftp://h:1",
					  "http://h",
					  "http://h:",
					  "http://h:0",
					  "http://h:65536",
					  "http://:1",
					  "http://a:b:1",
					  "http://[::1:1",
					  "http://h:1/x",
					  "http://u@h:1",
					  "http://h:+1",
					  "http://h:1 "};
	struct dpumap_error error;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(dpumap_fleet_url_check(good[i], &error), DOCA_SUCCESS);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(dpumap_fleet_url_check(bad[i], &error), DOCA_ERROR_INVALID_VALUE);
	assert_true(dpumap_fleet_address_valid("tls:10.0.0.1:7470"));
	assert_true(dpumap_fleet_address_valid("tls:[fe80::1%eth0]:7470"));
	assert_false(dpumap_fleet_address_valid("unix:/run/x"));
	assert_false(dpumap_fleet_address_valid("tls:/run/x:1"));
}

static void keys_are_parsed_as_they_are_made(void **state)
{
	char key[DPUMAP_FLEET_KEY_SIZE], end[DPUMAP_FLEET_KEY_SIZE];
	struct dpumap_fleet_key parsed;

	dpumap_fleet_key_dpu("f", "dpu1", key);
	assert_string_equal(key, "/dpumap/v1/f/dpus/dpu1");
	assert_true(dpumap_fleet_key_parse("f", key, strlen(key), &parsed));
	assert_string_equal(parsed.dpu, "dpu1");
	assert_string_equal(parsed.name, "");
	assert_false(dpumap_fleet_key_parse("g", key, strlen(key), &parsed));
	dpumap_fleet_key_export("f", "dpu1", "bulk", key);
	assert_string_equal(key, "/dpumap/v1/f/exports/dpu1/bulk");
	assert_true(dpumap_fleet_key_parse("f", key, strlen(key), &parsed));
	assert_string_equal(parsed.name, "bulk");
	assert_false(dpumap_fleet_key_parse("f", key, strlen(key) + 1, &parsed)); /* a NUL */
	assert_false(dpumap_fleet_key_parse("f", key, strlen(key) - 5, &parsed));
	dpumap_fleet_key_export("f", NULL, NULL, key);
	dpumap_fleet_key_end(key, end);
	assert_string_equal(end, "/dpumap/v1/f/exports0");
}

static void foreign_bytes_are_shown_without_control_characters(void **state)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE], text[1000];

	assert_string_equal(dpumap_fleet_shown("a\x1b[2J\0b", 7, shown), "a\\x1b[2J\\x00b");
	memset(text, '\n', sizeof(text));
	assert_true(strlen(dpumap_fleet_shown(text, sizeof(text), shown)) <
		    DPUMAP_FLEET_SHOWN_SIZE);
	assert_non_null(strstr(shown, "..."));
}

/* --- base64 ----------------------------------------------------------------------------------- */

static void base64_is_that_of_the_rfc(void **state)
{
	static const char *const pairs[][2] = {{"", ""},
					       {"f", "Zg=="},
					       {"ab", "YWI="},
					       {"foo", "Zm9v"},
					       {"foob", "Zm9vYg=="},
					       {"fooba", "Zm9vYmE="},
					       {"foobar", "Zm9vYmFy"}};
	static const char *const bad[] = {"Z", "Zg=", "Zg==Zg==", "Z===", "Zm9*", "===="};
	char text[32], bytes[32];
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		dpumap_base64_encode(pairs[i][0], strlen(pairs[i][0]), text);
		assert_string_equal(text, pairs[i][1]);
		assert_true(dpumap_base64_decode(text, strlen(text), bytes, &len));
		assert_int_equal(len, strlen(pairs[i][0]));
		assert_memory_equal(bytes, pairs[i][0], len);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(dpumap_base64_decode(bad[i], strlen(bad[i]), bytes, &len));
}

/* --- records ---------------------------------------------------------------------------------- */

static const char *const addresses[] = {"tls:10.0.0.1:7470", "tls:[::1]:7470"};
static const char *const labels[] = {"gpu=yes", "row=a=b", "z="};

static struct dpumap_fleet_dpu make_dpu(void)
{
	return (struct dpumap_fleet_dpu){.name = "dpu1",
					 .addresses = addresses,
					 .num_addresses = 2,
					 .certificate_name = "dpu1",
					 .version = "0.1.0 \"quoted\"",
					 .card_guid = UINT64_C(0xfedcba9876543210),
					 .generation = INT64_MAX};
}

static struct dpumap_fleet_export make_export(void)
{
	return (struct dpumap_fleet_export){.dpu = "dpu1",
					    .name = "bulk",
					    .kind = "dmabuf",
					    .via = "rdma",
					    .size = UINT64_C(1) << 40,
					    .access = DOCA_ACCESS_FLAG_RDMA_READ |
						      DOCA_ACCESS_FLAG_RDMA_WRITE,
					    .generation = 7,
					    .labels = labels,
					    .num_labels = 3};
}

static void dpu_survives_encoding(void **state)
{
	struct dpumap_fleet_dpu dpu = make_dpu(), *read;
	struct dpumap_error error;
	char *text;

	assert_int_equal(dpumap_record_encode_dpu(&dpu, &text, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_record_decode_dpu("dpu1", text, strlen(text), &read, &error),
			 DOCA_SUCCESS);
	assert_string_equal(read->name, "dpu1");
	assert_int_equal(read->num_addresses, 2);
	assert_string_equal(read->addresses[1], addresses[1]);
	assert_string_equal(read->version, dpu.version);
	assert_true(read->card_guid == dpu.card_guid && read->generation == dpu.generation);
	free(read);
	/* The record of one DPU under the name of another. */
	assert_int_equal(dpumap_record_decode_dpu("dpu2", text, strlen(text), &read, &error),
			 DOCA_ERROR_INVALID_VALUE);
	free(text);
}

static void export_survives_encoding(void **state)
{
	struct dpumap_fleet_export e = make_export(), *read;
	struct dpumap_error error;
	char *text;

	assert_int_equal(dpumap_record_encode_export(&e, &text, &error), DOCA_SUCCESS);
	assert_int_equal(
		dpumap_record_decode_export("dpu1", "bulk", text, strlen(text), &read, &error),
		DOCA_SUCCESS);
	assert_string_equal(read->kind, "dmabuf");
	assert_string_equal(read->via, "rdma");
	assert_true(read->size == e.size && read->access == e.access && read->generation == 7);
	assert_int_equal(read->num_labels, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(read->labels[i], labels[i]);
	free(read);
	free(text);
}

static void every_truncation_is_refused(void **state)
{
	struct dpumap_fleet_export e = make_export(), *read;
	struct dpumap_error error;
	char *text;

	assert_int_equal(dpumap_record_encode_export(&e, &text, &error), DOCA_SUCCESS);
	for (size_t len = 0; len < strlen(text); len++)
		assert_int_not_equal(
			dpumap_record_decode_export("dpu1", "bulk", text, len, &read, &error),
			DOCA_SUCCESS);
	free(text);
}

static void newer_record_is_known_as_such(void **state)
{
	static const char text[] = "{\"format\":2,\"kind\":{\"new\":[]}}";
	struct dpumap_fleet_export *e;
	struct dpumap_fleet_dpu *dpu;
	struct dpumap_error error;

	assert_int_equal(dpumap_record_decode_dpu("d", text, strlen(text), &dpu, &error),
			 DOCA_SUCCESS);
	assert_true(dpu->needs_newer);
	assert_int_equal(dpu->num_addresses, 0);
	free(dpu);
	assert_int_equal(dpumap_record_decode_export("d", "e", text, strlen(text), &e, &error),
			 DOCA_SUCCESS);
	assert_true(e->needs_newer);
	assert_string_equal(e->kind, "");
	free(e);
}

static void unknown_properties_are_ignored(void **state)
{
	static const char text[] =
		"{\"format\":1,\"kind\":\"dm\",\"size\":1,\"access\":[],\"via\":\"pci\","
		"\"generation\":0,\"later\":{\"a\":[1,2]}}";
	struct dpumap_fleet_export *e;
	struct dpumap_error error;

	assert_int_equal(dpumap_record_decode_export("d", "e", text, strlen(text), &e, &error),
			 DOCA_SUCCESS);
	assert_false(e->needs_newer);
	free(e);
}

/* --- sorted texts ----------------------------------------------------------------------------- */

static void texts_stay_sorted(void **state)
{
	struct dpumap_records a = {0}, b = {0};
	char key[16];

	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%02d", i * 37 % 100);
		assert_int_equal(dpumap_records_set(&a, key, "x"), DOCA_SUCCESS);
		snprintf(key, sizeof(key), "k%02d", i);
		assert_int_equal(dpumap_records_set(&b, key, "x"), DOCA_SUCCESS);
	}
	assert_true(dpumap_records_equal(&a, &b));
	assert_int_equal(dpumap_records_set(&a, "k50", "y"), DOCA_SUCCESS);
	assert_int_equal(a.num, 100);
	assert_false(dpumap_records_equal(&a, &b));
	dpumap_records_remove(&a, "k50");
	dpumap_records_remove(&a, "none");
	assert_int_equal(a.num, 99);
	assert_null(dpumap_records_find(&a, "k50"));
	assert_string_equal(dpumap_records_find(&a, "k51")->text, "x");
	dpumap_records_clear(&a);
	dpumap_records_clear(&b);
}

/* --- the view --------------------------------------------------------------------------------- */

struct seen {
	char text[4096];
};

static void changed(void *context, enum dpumap_fleet_event event,
		    const struct dpumap_fleet_dpu *dpu, const struct dpumap_fleet_export *e)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	snprintf(seen->text + used, sizeof(seen->text) - used, "%c%s%s%s ", "+*-"[event],
		 dpu ? dpu->name : e->dpu, dpu ? "" : ":", dpu ? "" : e->name);
}

static doca_error_t put(struct dpumap_view *view, const char *dpu, const char *name, int64_t lease,
			int64_t revision)
{
	static const char text[] =
		"{\"format\":1,\"kind\":\"dm\",\"size\":1,\"access\":[],\"via\":\"pci\","
		"\"generation\":0}";
	struct dpumap_view_record record = {.lease = lease, .revision = revision};
	struct dpumap_fleet_dpu self = make_dpu();
	struct dpumap_error error;
	doca_error_t result;
	char *made;

	snprintf(record.key.dpu, sizeof(record.key.dpu), "%s", dpu);
	snprintf(record.key.name, sizeof(record.key.name), "%s", name);
	self.name = self.certificate_name = dpu;
	assert_int_equal(dpumap_record_encode_dpu(&self, &made, &error), DOCA_SUCCESS);
	record.value = *name ? text : made;
	record.len = strlen(record.value);
	result = dpumap_view_put(view, &record, &error);
	free(made);
	return result;
}

static void exports_live_with_their_dpu(void **state)
{
	const struct dpumap_fleet_key dpu = {.dpu = "a"};
	struct seen seen = {{0}};
	struct dpumap_view *view = dpumap_view_create(changed, &seen);

	assert_non_null(view);
	assert_int_equal(put(view, "a", "e", 1, 1), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(put(view, "a", "", 0, 1), DOCA_ERROR_INVALID_VALUE); /* no lease */
	assert_int_equal(put(view, "a", "", 1, 1), DOCA_SUCCESS);
	assert_int_equal(put(view, "a", "e", 2, 1), DOCA_ERROR_NOT_FOUND); /* another lease */
	assert_int_equal(put(view, "a", "e", 1, 1), DOCA_SUCCESS);
	assert_int_equal(put(view, "a", "e", 1, 1), DOCA_SUCCESS); /* nothing new */
	assert_int_equal(put(view, "a", "e", 1, 2), DOCA_SUCCESS);
	assert_int_equal(dpumap_view_find_dpu(view, "a")->num_exports, 1);
	assert_int_equal(put(view, "a", "", 5, 3), DOCA_SUCCESS); /* it has started again */
	assert_int_equal(dpumap_view_find_dpu(view, "a")->num_exports, 0);
	assert_int_equal(put(view, "a", "f", 5, 3), DOCA_SUCCESS);
	dpumap_view_remove(view, &dpu);
	assert_string_equal(seen.text, "+a +a:e *a:e -a:e *a +a:f -a:f -a ");
	assert_int_equal(dpumap_view_num_dpus(view) + dpumap_view_num_exports(view), 0);
	dpumap_view_destroy(view);
}

static void sync_removes_what_it_does_not_see(void **state)
{
	struct seen seen = {{0}};
	struct dpumap_view *view = dpumap_view_create(changed, &seen);
	char name[16];

	put(view, "a", "", 1, 1);
	put(view, "b", "", 2, 1);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		put(view, i % 2 ? "a" : "b", name, i % 2 ? 1 : 2, 1);
	}
	seen.text[0] = '\0';
	dpumap_view_sync_begin(view);
	put(view, "a", "", 1, 1);
	put(view, "a", "e1", 1, 1);
	put(view, "a", "e3", 1, 9);
	dpumap_view_sync_end(view);
	assert_int_equal(dpumap_view_num_dpus(view), 1);
	assert_int_equal(dpumap_view_num_exports(view), 2);
	assert_non_null(strstr(seen.text, "*a:e3 "));
	assert_null(strstr(seen.text, "a:e1 "));
	dpumap_view_destroy(view);
}

static void put_labels(struct dpumap_view *view, const char *name, const char *text,
		       int64_t revision)
{
	struct dpumap_view_record record = {
		.value = text, .len = strlen(text), .lease = 1, .revision = revision};
	struct dpumap_error error;

	snprintf(record.key.dpu, sizeof(record.key.dpu), "a");
	snprintf(record.key.name, sizeof(record.key.name), "%s", name);
	assert_int_equal(dpumap_view_put(view, &record, &error), DOCA_SUCCESS);
}

static const struct dpumap_fleet_export *find_export(struct dpumap_view *view, const char *name)
{
	const struct dpumap_fleet_export *e = NULL;
	struct dpumap_fleet_key key = {.dpu = "a"};

	snprintf(key.name, sizeof(key.name), "%s", name);
	return dpumap_view_find_export(view, &key, &e) == DOCA_SUCCESS ? e : NULL;
}

static void name_export(void *context, const struct dpumap_fleet_export *e)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	snprintf(seen->text + used, sizeof(seen->text) - used, "%s:%s/%s/%s/%zu ", e->dpu, e->name,
		 e->kind, e->via, e->num_labels);
}

/* The view keeps an export in another form. */
static void exports_found_are_as_published(void **state)
{
	static const char with_labels[] =
		"{\"format\":1,\"kind\":\"dmabuf\",\"size\":12345678901,\"access\":[\"rdma-read\"],"
		"\"via\":\"rdma\",\"generation\":77,\"labels\":{\"zone\":\"1\",\"app\":\"cache\"}}";
	static const char changed_text[] =
		"{\"format\":1,\"kind\":\"file\",\"size\":1,\"access\":[],\"via\":\"pci\","
		"\"generation\":78}";
	const struct dpumap_fleet_export *e, *newer;
	struct seen seen = {{0}}, listed = {{0}};
	struct dpumap_view *view = dpumap_view_create(changed, &seen);

	put(view, "a", "", 1, 1);
	put_labels(view, "labelled", with_labels, 2);
	put_labels(view, "future", "{\"format\":2}", 3);
	e = find_export(view, "labelled");
	newer = find_export(view, "future");
	assert_non_null(e);
	assert_non_null(newer);
	assert_null(find_export(view, "none"));
	assert_null(find_export(view, "")); /* a DPU */
	assert_string_equal(e->dpu, "a");
	assert_string_equal(e->name, "labelled");
	assert_string_equal(e->kind, "dmabuf");
	assert_string_equal(e->via, "rdma");
	assert_int_equal(e->size, 12345678901);
	assert_int_equal(e->access, DOCA_ACCESS_FLAG_RDMA_READ);
	assert_int_equal(e->generation, 77);
	assert_int_equal(e->num_labels, 2);
	assert_string_equal(e->labels[0], "app=cache");
	assert_string_equal(e->labels[1], "zone=1");
	assert_true(newer->needs_newer);
	assert_string_equal(newer->kind, "");
	assert_ptr_equal(find_export(view, "labelled"), e);
	assert_int_equal(dpumap_view_num_newer(view), 1);
	/* What is found later is the new one, also at the same place in memory. */
	put_labels(view, "labelled", changed_text, 4);
	assert_string_equal(find_export(view, "labelled")->kind, "file");
	assert_int_equal(find_export(view, "labelled")->num_labels, 0);
	dpumap_view_forget_found(view);
	assert_int_equal(find_export(view, "labelled")->generation, 78);
	assert_int_equal(dpumap_view_each_export(view, name_export, &listed), DOCA_SUCCESS);
	assert_string_equal(listed.text, "a:future///0 a:labelled/file/pci/0 ");
	assert_int_equal(dpumap_view_find_dpu(view, "a")->num_exports, 2);
	dpumap_view_destroy(view);
}

/* A million exports have to find room below the limit, and a host memory for them. */
static void exports_are_small(void **state)
{
	static const char text[] = "{\"format\":1,\"kind\":\"dm\",\"size\":1,\"access\":[],\"via\":"
				   "\"pci\",\"generation\":0,\"unknown\":\"of a later version\"}";
	const struct dpumap_view_record record = {
		.key = {.dpu = "a", .name = "export000"}, .value = text, .len = strlen(text)};
	struct view_dpu owner = {0};
	struct view_entry *entry;
	struct dpumap_error error;
	struct dpumap_fleet_dpu dpu = make_dpu();

	owner.dpu = &dpu;
	assert_int_equal(dpumap_view_entry_make(&record, &owner, &entry, &error), DOCA_SUCCESS);
	assert_true(dpumap_view_entry_bytes(entry) * 1000000 < DPUMAP_VIEW_BYTES_MAX);
	assert_true(sizeof(struct view_export) <= 72);
	dpumap_view_entry_free(entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_the_characters_of_a_key),
		cmocka_unit_test(malformed_urls_and_addresses_are_refused),
		cmocka_unit_test(keys_are_parsed_as_they_are_made),
		cmocka_unit_test(foreign_bytes_are_shown_without_control_characters),
		cmocka_unit_test(base64_is_that_of_the_rfc),
		cmocka_unit_test(dpu_survives_encoding),
		cmocka_unit_test(export_survives_encoding),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(newer_record_is_known_as_such),
		cmocka_unit_test(unknown_properties_are_ignored),
		cmocka_unit_test(texts_stay_sorted),
		cmocka_unit_test(exports_live_with_their_dpu),
		cmocka_unit_test(sync_removes_what_it_does_not_see),
		cmocka_unit_test(exports_found_are_as_published),
		cmocka_unit_test(exports_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
