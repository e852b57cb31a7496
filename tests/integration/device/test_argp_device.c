/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flags whose values are devices and representors. The tests run on a host with two cards, whose
 * devices have no representors, and on the DPU of one of them. The check for objects that outlive a test
 * counts open devices, too.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_argp.h>

#include "base/array.h"
#include "fixture.h"

#define MAX_ARGS 8

/* What the callbacks have received. */
static struct {
	struct doca_dev *first;
	struct doca_argp_device_rep_ctx last; /* for a device, dev_ctx alone */
	char devargs[64];
	unsigned int calls;
	unsigned int fail_at; /* 0: no callback fails */
	bool destroys;	      /* the parser */
} seen;

static doca_error_t take(const struct doca_argp_device_ctx *ctx)
{
	seen.last.dev_ctx = *ctx;
	if (!seen.calls)
		seen.first = ctx->dev;
	snprintf(seen.devargs, sizeof(seen.devargs), "%s", ctx->devargs ? ctx->devargs : "(none)");
	if (seen.destroys)
		assert_ok(doca_argp_destroy());
	return ++seen.calls == seen.fail_at ? DOCA_ERROR_TOO_BIG : DOCA_SUCCESS;
}

static doca_error_t take_device(void *param, void *config)
{
	seen.last.dev_rep = NULL;
	return take(param);
}

static doca_error_t take_rep(void *param, void *config)
{
	const struct doca_argp_device_rep_ctx *ctx = param;

	assert_non_null(ctx->dev_rep);
	seen.last.dev_rep = ctx->dev_rep;
	return take(&ctx->dev_ctx);
}

static void add(const char *name, enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param;

	assert_ok(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, name);
	doca_argp_param_set_description(param, "what it is for");
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_multiplicity(param);
	assert_ok(doca_argp_register_param(param));
}

static void open_parser(void)
{
	memset(&seen, 0, sizeof(seen));
	assert_ok(doca_argp_init("prog", NULL));
	add("d", DOCA_ARGP_TYPE_DEVICE, take_device);
	add("r", DOCA_ARGP_TYPE_DEVICE_REP, take_rep);
}

static int setup(void **state)
{
	if (fixture_count(state))
		return -1;
	open_parser();
	return 0;
}

static int teardown(void **state)
{
	(void)doca_argp_destroy();
	return fixture_recount(state);
}

#define argp_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static doca_error_t start_args(const char *const *args)
{
	char *argv[MAX_ARGS + 2] = {(char *)"prog"};
	int argc = 1;

	while (*args && argc <= MAX_ARGS)
		argv[argc++] = (char *)*args++;
	return doca_argp_start(argc, argv);
}

#define start(...) start_args((const char *const[]){__VA_ARGS__, NULL})

static void close_seen(void)
{
	if (seen.last.dev_rep)
		assert_ok(doca_dev_rep_close(seen.last.dev_rep));
	assert_ok(doca_dev_close(seen.last.dev_ctx.dev));
	memset(&seen, 0, sizeof(seen));
}

/* The devices of this machine by their addresses and names. */
static struct {
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char rep[DOCA_DEVINFO_REP_PCI_ADDR_SIZE]; /* empty on a host */
} devices[4];
static uint32_t num_devices;
static uint32_t last; /* of them */

static bool on_dpu(void)
{
	return !strcmp(test_options.peer_as, "host");
}

static void read_rep(struct doca_devinfo *info, char *address)
{
	struct doca_devinfo_rep **list;
	struct doca_dev *dev;
	uint32_t n;

	assert_ok(doca_dev_open(info, &dev));
	assert_ok(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n));
	assert_int_equal(n, 1);
	assert_ok(doca_devinfo_rep_get_pci_addr_str(list[0], address));
	assert_ok(doca_devinfo_rep_destroy_list(list));
	assert_ok(doca_dev_close(dev));
}

static int read_devices(void **state)
{
	struct doca_devinfo **list;

	assert_ok(doca_devinfo_create_list(&list, &num_devices));
	assert_in_range(num_devices, on_dpu() ? 1 : 2, ARRAY_SIZE(devices));
	last = num_devices - 1;
	for (uint32_t i = 0; i < num_devices; i++) {
		assert_ok(doca_devinfo_get_pci_addr_str(list[i], devices[i].address));
		assert_ok(doca_devinfo_get_ibdev_name(list[i], devices[i].name,
						      sizeof(devices[i].name)));
		if (on_dpu())
			read_rep(list[i], devices[i].rep);
	}
	assert_ok(doca_devinfo_destroy_list(list));
	return 0;
}

static void assert_seen(uint32_t device, const char *devargs)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	assert_int_equal(seen.calls, 1);
	assert_ok(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(seen.last.dev_ctx.dev), name,
					      sizeof(name)));
	assert_string_equal(name, devices[device].name);
	assert_string_equal(seen.devargs, devargs);
}

/* Begin again, as another program. */
static void restart(void)
{
	close_seen();
	assert_ok(doca_argp_destroy());
	open_parser();
}

static void each_name_of_a_device_opens_it(void **state)
{
	char text[128];

	for (uint32_t i = 0; i < num_devices; i++) {
		const char *const names[] = {devices[i].address, devices[i].address + 5,
					     devices[i].name};

		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			assert_ok(start("-d", names[k]));
			assert_seen(i, "(none)");
			restart();
			snprintf(text, sizeof(text), "%s,dv_flow_en=2,x=%zu", names[k], k);
			assert_ok(start("-d", text));
			assert_seen(i, strchr(text, ',') + 1);
			restart();
		}
		snprintf(text, sizeof(text), "pci/%s", devices[i].address);
		assert_ok(start("-d", text));
		assert_seen(i, "(none)");
		restart();
		snprintf(text, sizeof(text), "pci/%s,", devices[i].address + 5);
		assert_ok(start("-d", text));
		assert_seen(i, "");
		restart();
	}
}

static void devices_and_their_texts_come_from_a_file_too(void **state)
{
	char path[64], text[256];
	int fd = memfd_create("argp", MFD_CLOEXEC);
	int len =
		snprintf(text, sizeof(text), "{\"doca_program_flags\": {\"d\": [\"pci/%s,a=b\"]}}",
			 devices[last].address);

	assert_int_equal(write(fd, text, (size_t)len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_ok(start("-j", path));
	assert_seen(last, "a=b");
	close_seen();
	close(fd);
}

static void device_that_does_not_exist_calls_no_callback(void **state)
{
	assert_error(start("-d", devices[0].name, "-d", "pci/0000:ff:1f.7"), DOCA_ERROR_NOT_FOUND);
	assert_error(start("-d", devices[0].name, "-d", "ff:1f.7"), DOCA_ERROR_NOT_FOUND);
	assert_error(start("-d", devices[0].name, "-d", "nothing_0"), DOCA_ERROR_NOT_FOUND);
	/* The beginning of a name is not the name. */
	assert_error(start("-d", "mlx5_"), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(seen.calls, 0);
	/* The parser can be started again. */
	assert_ok(start("-d", devices[0].name));
	assert_seen(0, "(none)");
	close_seen();
}

static void invalid_address_is_refused(void **state)
{
	assert_error(start("-d", "pci/"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-d", "pci/mlx5_0"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-d", "0000:03:00"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-d", "PCI/0000:03:00.0"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(seen.calls, 0);
}

/* The first callback has succeeded, so its device is the program's; the others are closed. */
static void device_of_a_failing_callback_is_closed(void **state)
{
	seen.fail_at = 2;
	assert_error(start("-d", devices[0].name, "-d", devices[last].name, "-d", devices[0].name),
		     DOCA_ERROR_TOO_BIG);
	assert_int_equal(seen.calls, 2);
	assert_string_equal(seen.devargs, "(none)");
	/* Of three times open, two were closed. */
	assert_ok(doca_dev_close(seen.first));
}

static void device_is_the_programs_after_the_parser_was_destroyed(void **state)
{
	seen.destroys = true;
	assert_error(start("-d", devices[last].name, "-d", devices[0].name), DOCA_ERROR_BAD_STATE);
	assert_seen(last, "(none)");
	close_seen();
}

static struct {
	unsigned int calls;
	doca_error_t answer;
	bool opens;
} opener;

static doca_error_t open_own(struct doca_devinfo *devinfo, void *ctx, struct doca_dev **dev)
{
	assert_ptr_equal(ctx, &opener);
	opener.calls++;
	if (opener.answer != DOCA_SUCCESS || !opener.opens)
		return opener.answer;
	return doca_dev_open(devinfo, dev);
}

static void registered_function_opens_the_devices(void **state)
{
	memset(&opener, 0, sizeof(opener));
	assert_ok(doca_argp_register_dev_open_callback(open_own, &opener));
	assert_error(start("-d", "nothing_0"), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(opener.calls, 0);
	assert_error(start("-d", devices[last].name), DOCA_ERROR_UNEXPECTED);
	opener.answer = DOCA_ERROR_TOO_BIG;
	assert_error(start("-d", devices[last].name), DOCA_ERROR_TOO_BIG);
	assert_int_equal(opener.calls, 2);
	assert_int_equal(seen.calls, 0);
	opener.answer = DOCA_SUCCESS;
	opener.opens = true;
	assert_ok(start("-d", devices[last].name));
	assert_int_equal(opener.calls, 3);
	assert_seen(last, "(none)");
	close_seen();
}

static void assert_rep_seen(uint32_t device, const char *devargs)
{
	uint8_t is_equal = 0;

	assert_seen(device, devargs);
	assert_ok(doca_devinfo_rep_is_equal_pci_addr(doca_dev_rep_as_devinfo(seen.last.dev_rep),
						     devices[device].rep, &is_equal));
	assert_int_equal(is_equal, 1);
}

static void each_name_of_a_representor_opens_it(void **state)
{
	char text[160];

	if (!on_dpu())
		skip();
	for (uint32_t i = 0; i < num_devices; i++) {
		const char *rep = devices[i].rep;

		snprintf(text, sizeof(text), "pci/%s,pf%c", devices[i].address,
			 rep[strlen(rep) - 1]);
		assert_ok(start("-r", text));
		assert_rep_seen(i, "(none)");
		restart();
		snprintf(text, sizeof(text), "%s,pci/%s,a=b,c", devices[i].name, rep);
		assert_ok(start("-r", text));
		assert_rep_seen(i, "a=b,c");
		restart();
		snprintf(text, sizeof(text), "%s,%s", devices[i].address + 5, rep + 5);
		assert_ok(start("-r", text));
		assert_rep_seen(i, "(none)");
		restart();
	}
}

static void start_rep(const char *rep, doca_error_t wanted)
{
	char text[160];

	snprintf(text, sizeof(text), "%s%s", devices[0].name, rep);
	assert_error(start("-d", devices[last].name, "-r", text), wanted);
	assert_int_equal(seen.calls, 0);
}

static void representor_that_does_not_exist_is_not_found(void **state)
{
	start_rep(",pf1sf0", DOCA_ERROR_NOT_FOUND);
	start_rep(",pf7", DOCA_ERROR_NOT_FOUND);
	start_rep(",pf", DOCA_ERROR_NOT_FOUND);
	start_rep(",pci/0000:ff:1f.7", DOCA_ERROR_NOT_FOUND);
	start_rep("", DOCA_ERROR_INVALID_VALUE);
	start_rep(",", DOCA_ERROR_INVALID_VALUE);
	if (on_dpu())
		start_rep(",pci/pf0", DOCA_ERROR_INVALID_VALUE);
	else
		start_rep(",pf0", DOCA_ERROR_NOT_FOUND);
	assert_error(start("-r", "nothing_0,pf0"), DOCA_ERROR_NOT_FOUND);
}

static void representor_of_a_failing_callback_is_closed(void **state)
{
	char text[160];

	if (!on_dpu())
		skip();
	snprintf(text, sizeof(text), "%s,pf0", devices[0].name);
	seen.fail_at = 1;
	assert_error(start("-r", text, "-r", text), DOCA_ERROR_TOO_BIG);
	assert_int_equal(seen.calls, 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		argp_test(each_name_of_a_device_opens_it),
		argp_test(devices_and_their_texts_come_from_a_file_too),
		argp_test(device_that_does_not_exist_calls_no_callback),
		argp_test(invalid_address_is_refused),
		argp_test(device_of_a_failing_callback_is_closed),
		argp_test(device_is_the_programs_after_the_parser_was_destroyed),
		argp_test(registered_function_opens_the_devices),
		argp_test(each_name_of_a_representor_opens_it),
		argp_test(representor_that_does_not_exist_is_not_found),
		argp_test(representor_of_a_failing_callback_is_closed),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, read_devices, NULL);
}
