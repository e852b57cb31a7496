/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* libdpumap-channel with a dpumapd that stops and restarts. Runs on the host's function. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dpumap/channel.h>
#include <dpumap/dma.h>

#include "dpumapd_ctl.h"

#define PATIENCE_MS 60000
#define SHARED	    ((void *)0x10000000) /* where the map of a dma-buf says that its bytes are */

static char directory[64], path[96], admin[96], address[128];
static pid_t daemon_pid;
static struct doca_dev *dev;

/* --- dpumapd ---------------------------------------------------------------------------------- */

static void run_emu(const char *const *command)
{
	const char *args[24] = {"dpumap-emu", "run", "--as", "dpu", "--"};
	size_t n = 5;

	while (*command && n < 23)
		args[n++] = *command++;
	execvp(args[0], (char *const *)args);
	_exit(127);
}

static void start_daemon(void)
{
	const char *const command[] = {"dpumapd",
				       "--listen",
				       path,
				       "--admin",
				       admin,
				       "--export",
				       "name=bulk,kind=dram,size=64K",
				       "--export",
				       "name=fast,kind=dm,size=4K,perm=ro",
				       "--ready-fd",
				       "3",
				       NULL};
	char line[256];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	daemon_pid = fork();
	assert_true(daemon_pid >= 0);
	if (!daemon_pid) {
		setpgid(0, 0);
		dup2(fds[1], 3);
		run_emu(command);
	}
	close(fds[1]);
	assert_true(read(fds[0], line, sizeof(line)) > 0);
	close(fds[0]);
}

static void stop_daemon(int number)
{
	kill(-daemon_pid, number);
	assert_int_equal(waitpid(daemon_pid, NULL, 0), daemon_pid);
	daemon_pid = 0;
}

static int set_up(void **state)
{
	struct doca_devinfo **list;
	uint32_t num;

	snprintf(directory, sizeof(directory), "/tmp/dpumap-test-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", directory);
	snprintf(admin, sizeof(admin), "%s/admin", directory);
	snprintf(address, sizeof(address), "unix:%s", path);
	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS || num == 0 ||
	    doca_dev_open(list[0], &dev) != DOCA_SUCCESS)
		return -1;
	doca_devinfo_destroy_list(list);
	return 0;
}

static int tear_down(void **state)
{
	doca_dev_close(dev);
	unlink(path);
	unlink(admin);
	return rmdir(directory);
}

static int begin(void **state)
{
	start_daemon();
	return 0;
}

static int end(void **state)
{
	if (daemon_pid)
		stop_daemon(SIGTERM);
	return 0;
}

static struct dpumap_channel *connected(void)
{
	struct dpumap_channel *channel;

	assert_int_equal(dpumap_channel_create(&channel), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_set_address(channel, address), DOCA_SUCCESS);
	if (dpumap_channel_connect(channel) != DOCA_SUCCESS)
		fail_msg("%s", dpumap_channel_get_error(channel));
	return channel;
}

struct heard {
	unsigned int num;
	enum dpumap_channel_event event;
	char name[64];
};

static void hear(union doca_data user_data, enum dpumap_channel_event event, const char *name)
{
	struct heard *heard = user_data.ptr;

	heard->num++;
	heard->event = event;
	snprintf(heard->name, sizeof(heard->name), "%s", name ? name : "");
}

static void await(struct dpumap_channel *channel, struct heard *heard,
		  enum dpumap_channel_event event, const char *name)
{
	doca_notification_handle_t handle;
	int left = PATIENCE_MS, wait;
	struct pollfd p = {.events = POLLIN};

	assert_int_equal(dpumap_channel_get_notification_handle(channel, &handle), DOCA_SUCCESS);
	p.fd = handle;
	for (heard->num = 0; !heard->num && left > 0; left -= wait) {
		assert_int_equal(dpumap_channel_get_next_time(channel, &wait), DOCA_SUCCESS);
		wait = wait < 50 ? wait + 1 : 50;
		poll(&p, 1, wait);
		assert_int_equal(dpumap_channel_process(channel), DOCA_SUCCESS);
	}
	if (heard->num != 1 || heard->event != event || strcmp(heard->name, name) != 0)
		fail_msg("%u events, the last %d of %s", heard->num, heard->event, heard->name);
}

/* --- requests --------------------------------------------------------------------------------- */

static void collect(union doca_data user_data, const struct dpumap_channel_export *export_info)
{
	char *names = user_data.ptr;

	snprintf(names + strlen(names), 256 - strlen(names), "%s/%s/%llu ", export_info->name,
		 export_info->kind, (unsigned long long)export_info->size);
}

static void list_returns_each_export_with_its_kind_and_size(void **state)
{
	struct dpumap_channel *channel = connected();
	char names[256] = "";

	assert_int_equal(dpumap_channel_list(channel, collect, (union doca_data){.ptr = names}),
			 DOCA_SUCCESS);
	assert_string_equal(names, "bulk/dram/65536 fast/dm/4096 ");
	dpumap_channel_destroy(channel);
}

static void a_descriptor_is_released_once(void **state)
{
	struct dpumap_channel *channel = connected();
	uint8_t descriptor[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len = 8;

	assert_int_equal(dpumap_channel_get(channel, "bulk", descriptor, &len), DOCA_ERROR_TOO_BIG);
	len = sizeof(descriptor);
	assert_int_equal(dpumap_channel_get(channel, "bulk", descriptor, &len), DOCA_SUCCESS);
	assert_true(len > 0 && len <= 128);
	assert_int_equal(dpumap_channel_release(channel, "bulk"), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_release(channel, "bulk"), DOCA_ERROR_NOT_PERMITTED);
	len = sizeof(descriptor);
	assert_int_equal(dpumap_channel_get(channel, "none", descriptor, &len),
			 DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(dpumap_channel_get_error(channel), "none"));
	assert_int_equal(dpumap_channel_get(channel, "no name", descriptor, &len),
			 DOCA_ERROR_NOT_FOUND);
	dpumap_channel_destroy(channel);
}

/* --- many requests ---------------------------------------------------------------------------- */

#define MANY 500 /* several times as many as are in flight */

struct answers {
	size_t num;
	doca_error_t results[MANY];
	void (*on_fourth)(void); /* called with the fourth answer; NULL: nothing */
	const struct dpumap_channel *channel;
};

static void take(union doca_data user_data, size_t index, doca_error_t result,
		 const void *descriptor, size_t len)
{
	struct answers *answers = user_data.ptr;

	assert_int_equal(index, answers->num++);
	answers->results[index] = result;
	assert_int_equal(descriptor != NULL, result == DOCA_SUCCESS);
	assert_int_equal(len != 0, result == DOCA_SUCCESS);
	if (result != DOCA_SUCCESS)
		assert_string_not_equal(dpumap_channel_get_error(answers->channel), "");
	if (index == 3 && answers->on_fourth)
		answers->on_fourth();
}

static doca_error_t get_many(struct dpumap_channel *channel, const char *const *cycle, size_t len,
			     struct answers *answers)
{
	const union doca_data data = {.ptr = answers};
	const char *names[MANY];
	doca_error_t result;

	for (size_t i = 0; i < MANY; i++)
		names[i] = cycle[i % len];
	answers->channel = channel;
	result = dpumap_channel_get_many(channel, names, MANY, take, data);
	assert_int_equal(answers->num, MANY);
	return result;
}

static void each_name_of_many_has_its_own_answer(void **state)
{
	static const char *const cycle[] = {"bulk", "none", "fast", "no name", "bulk"};
	static const doca_error_t expected[] = {DOCA_SUCCESS, DOCA_ERROR_NOT_FOUND, DOCA_SUCCESS,
						DOCA_ERROR_NOT_FOUND, DOCA_SUCCESS};
	struct dpumap_channel *channel = connected();
	struct answers answers = {0};

	assert_int_equal(get_many(channel, cycle, 5, &answers), DOCA_SUCCESS);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(answers.results[i], expected[i % 5]);
	/* Each success holds the export once. */
	for (size_t i = 0; i < MANY / 5; i++)
		assert_int_equal(dpumap_channel_release(channel, "fast"), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_release(channel, "fast"), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(dpumap_channel_release(channel, "bulk"), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_get_many(channel, NULL, 0, take, (union doca_data){0}),
			 DOCA_SUCCESS);
	dpumap_channel_destroy(channel);
}

static void remove_fast(void)
{
	dpumapd_ctl(admin, "remove", "fast");
}

static void an_export_that_is_removed_meanwhile_is_not_found(void **state)
{
	static const char *const cycle[] = {"bulk", "fast"};
	struct answers answers = {.on_fourth = remove_fast};
	struct dpumap_channel *channel = connected();
	struct heard heard = {0};

	assert_int_equal(dpumap_channel_watch(channel, hear, (union doca_data){.ptr = &heard}),
			 DOCA_SUCCESS);
	assert_int_equal(get_many(channel, cycle, 2, &answers), DOCA_SUCCESS);
	assert_int_equal(answers.results[1], DOCA_SUCCESS);
	assert_int_equal(answers.results[MANY - 2], DOCA_SUCCESS);
	assert_int_equal(answers.results[MANY - 1], DOCA_ERROR_NOT_FOUND);
	await(channel, &heard, DPUMAP_CHANNEL_REMOVED, "fast");
	dpumap_channel_destroy(channel);
}

static void kill_daemon(void)
{
	stop_daemon(SIGKILL);
}

static void names_without_an_answer_have_the_error_of_the_connection(void **state)
{
	static const char *const cycle[] = {"bulk", "no name"};
	struct answers answers = {.on_fourth = kill_daemon}, late = {0};
	struct dpumap_channel *channel = connected();
	int left = PATIENCE_MS;
	doca_error_t result;

	result = get_many(channel, cycle, 2, &answers);
	assert_int_equal(result, DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(answers.results[0], DOCA_SUCCESS);
	assert_int_equal(answers.results[MANY - 2], result);
	assert_int_equal(answers.results[MANY - 1], result);
	assert_int_equal(get_many(channel, cycle, 2, &late), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(late.results[0], DOCA_ERROR_NOT_CONNECTED);
	start_daemon();
	do {
		poll(NULL, 0, 1);
		late = (struct answers){0};
	} while (get_many(channel, cycle, 2, &late) != DOCA_SUCCESS && left-- > 0);
	assert_int_equal(late.results[MANY - 2], DOCA_SUCCESS);
	dpumap_channel_destroy(channel);
}

/* A reference to a removed export does not refer to a new export with the same name. */
static void removed_export_cannot_be_released(void **state)
{
	struct dpumap_channel *channel = connected();
	uint8_t before[DPUMAP_CHANNEL_DESCRIPTOR_MAX], after[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len = sizeof(before);

	assert_int_equal(dpumap_channel_get(channel, "bulk", before, &len), DOCA_SUCCESS);
	dpumapd_ctl(admin, "remove", "bulk");
	assert_int_equal(dpumap_channel_release(channel, "bulk"), DOCA_ERROR_NOT_FOUND);
	dpumapd_ctl(admin, "add", "name=bulk,kind=dram,size=64K,allow=*");
	assert_int_equal(dpumap_channel_release(channel, "bulk"), DOCA_ERROR_NOT_PERMITTED);
	len = sizeof(after);
	assert_int_equal(dpumap_channel_get(channel, "bulk", after, &len), DOCA_SUCCESS);
	assert_memory_not_equal(before, after, len);
	assert_int_equal(dpumap_channel_release(channel, "bulk"), DOCA_SUCCESS);
	dpumap_channel_destroy(channel);
}

/* Once every client has released the export, its old descriptor is invalid. */
static void release_changes_the_key(void **state)
{
	struct dpumap_channel *one = connected(), *other = connected();
	uint8_t first[DPUMAP_CHANNEL_DESCRIPTOR_MAX], next[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	struct doca_mmap *map;
	size_t len = sizeof(first);

	assert_int_equal(dpumap_channel_get(one, "bulk", first, &len), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_get(other, "bulk", next, &len), DOCA_SUCCESS);
	assert_memory_equal(first, next, len);
	assert_int_equal(dpumap_channel_release(one, "bulk"), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, first, len, dev, &map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(map), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_release(other, "bulk"), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, first, len, dev, &map),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(dpumap_channel_get(one, "bulk", next, &len), DOCA_SUCCESS);
	assert_memory_not_equal(first, next, len);
	dpumap_channel_destroy(one);
	dpumap_channel_destroy(other);
}

static doca_error_t copy(struct doca_mmap *to, void *to_addr, struct doca_mmap *from,
			 const void *from_addr, size_t len)
{
	struct dpumap_dma_completion done = {.status = DOCA_ERROR_UNKNOWN};
	struct dpumap_dma *dma;
	doca_error_t result;
	uint32_t n = 0;

	assert_int_equal(dpumap_dma_create(dev, 1, &dma), DOCA_SUCCESS);
	result = dpumap_dma_memcpy(dma, to, to_addr, from, from_addr, len, (union doca_data){0});
	while (result == DOCA_SUCCESS && !n)
		assert_int_equal(dpumap_dma_poll(dma, &done, 1, &n), DOCA_SUCCESS);
	dpumap_dma_destroy(dma);
	return result == DOCA_SUCCESS ? done.status : result;
}

static struct doca_mmap *map_of(void *bytes, size_t len)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, bytes, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

static void imports_copy_until_their_export_is_removed(void **state)
{
	struct dpumap_channel *channel = connected();
	static char there[4096] = "what goes there", back[4096];
	struct doca_mmap *remote, *local;
	void *addr;
	size_t len;

	if (dpumap_channel_import(channel, "bulk", dev, &remote) != DOCA_SUCCESS)
		fail_msg("%s", dpumap_channel_get_error(channel));
	assert_int_equal(doca_mmap_get_memrange(remote, &addr, &len), DOCA_SUCCESS);
	assert_int_equal(len, 65536);
	local = map_of(there, sizeof(there));
	assert_int_equal(copy(remote, addr, local, there, sizeof(there)), DOCA_SUCCESS);
	memcpy(back, there, sizeof(back));
	memset(there, 0, sizeof(there));
	assert_int_equal(copy(local, there, remote, addr, sizeof(there)), DOCA_SUCCESS);
	assert_memory_equal(there, back, sizeof(back));
	/* After the removal, copies by existing imports are refused at once. */
	dpumapd_ctl(admin, "remove", "bulk");
	assert_int_equal(copy(local, there, remote, addr, sizeof(there)), DOCA_ERROR_NOT_PERMITTED);
	doca_mmap_destroy(local);
	doca_mmap_destroy(remote);
	dpumap_channel_destroy(channel);
}

/* --- dma-bufs --------------------------------------------------------------------------------- */

static void add_export(const char *text)
{
	char own[128];

	snprintf(own, sizeof(own), "%s,allow=uid:%u", text, geteuid());
	dpumapd_ctl(admin, "add", own);
}

static struct doca_mmap *map_of_dmabuf(int fd, size_t len)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, SHARED, 0, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

static int num_descriptors(void)
{
	int num = 0;

	for (int fd = 0; fd < 1024; fd++)
		num += fcntl(fd, F_GETFD) >= 0;
	return num;
}

static void dmabuf_is_refused(struct dpumap_channel *channel, const char *name, doca_error_t code,
			      const char *why)
{
	int fd = -2;
	size_t len;

	assert_int_equal(dpumap_channel_get_dmabuf(channel, name, &fd, &len), code);
	assert_true(fd < 0);
	assert_non_null(strstr(dpumap_channel_get_error(channel), why));
	/* The channel does not hold the export. */
	assert_int_equal(dpumap_channel_release(channel, name), code == DOCA_ERROR_NOT_FOUND
									? DOCA_ERROR_NOT_FOUND
									: DOCA_ERROR_NOT_PERMITTED);
}

static void dmabufs_that_could_not_be_revoked_are_refused(void **state)
{
	struct dpumap_channel *channel = connected();
	int before = num_descriptors();

	dmabuf_is_refused(channel, "bulk", DOCA_ERROR_NOT_SUPPORTED, "only kind dm");
	dmabuf_is_refused(channel, "fast", DOCA_ERROR_NOT_PERMITTED, "is read-only");
	dmabuf_is_refused(channel, "none", DOCA_ERROR_NOT_FOUND, "there is no export");
	dpumapd_ctl(admin, "add", "name=other,kind=dm,size=4K,allow=uid:65533");
	dmabuf_is_refused(channel, "other", DOCA_ERROR_NOT_FOUND, "there is no export");
	assert_int_equal(num_descriptors(), before);
	dpumap_channel_destroy(channel);
}

static bool can_share(struct dpumap_channel *channel)
{
	if (dlsym(RTLD_DEFAULT, "ibv_dm_export_dmabuf_fd"))
		return true;
	dmabuf_is_refused(channel, "shared", DOCA_ERROR_NOT_SUPPORTED,
			  "rdma-core 62 and newer can");
	return false;
}

/* The memory is that of the export, and the end of the export revokes it. */
static void dmabuf_reaches_the_memory_until_its_export_is_removed(void **state)
{
	struct dpumap_channel *channel = connected();
	static char there[4096] = "what goes there", back[4096];
	struct doca_mmap *shared, *remote, *local;
	int fd, before = num_descriptors();
	void *addr;
	size_t len;

	add_export("name=shared,kind=dm,size=4000");
	if (!can_share(channel)) {
		dpumap_channel_destroy(channel);
		return;
	}
	assert_int_equal(dpumap_channel_get_dmabuf(channel, "shared", &fd, &len), DOCA_SUCCESS);
	assert_int_equal(len, 4000);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(num_descriptors(), before + 1);
	shared = map_of_dmabuf(fd, len);
	assert_int_equal(dpumap_channel_import(channel, "shared", dev, &remote), DOCA_SUCCESS);
	local = map_of(there, sizeof(there));
	assert_int_equal(copy(shared, SHARED, local, there, len), DOCA_SUCCESS);
	memcpy(back, there, len);
	memset(there, 0, len);
	assert_int_equal(doca_mmap_get_memrange(remote, &addr, &len), DOCA_SUCCESS);
	assert_int_equal(copy(local, there, remote, addr, len), DOCA_SUCCESS);
	assert_memory_equal(there, back, len);
	assert_int_equal(dpumap_channel_release(channel, "shared"), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_release(channel, "shared"), DOCA_SUCCESS);
	assert_int_equal(copy(shared, SHARED, local, there, len), DOCA_SUCCESS);
	dpumapd_ctl(admin, "remove", "shared");
	assert_int_equal(copy(shared, SHARED, local, there, len), DOCA_ERROR_NOT_PERMITTED);
	doca_mmap_destroy(shared);
	doca_mmap_destroy(remote);
	doca_mmap_destroy(local);
	close(fd);
	dpumap_channel_destroy(channel);
}

/* --- events ----------------------------------------------------------------------------------- */

static void a_watcher_gets_the_events_of_exports_that_it_may_import(void **state)
{
	struct dpumap_channel *channel = connected();
	struct heard heard = {0};
	char names[256] = "";

	assert_int_equal(dpumap_channel_watch(channel, hear, (union doca_data){.ptr = &heard}),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_process(channel), DOCA_SUCCESS);
	assert_int_equal(heard.num, 0);
	dpumapd_ctl(admin, "add", "name=more,kind=dram,size=4K,allow=*");
	await(channel, &heard, DPUMAP_CHANNEL_ADDED, "more");
	dpumapd_ctl(admin, "remove", "more");
	/* A request does not lose the events that arrive before its reply. */
	assert_int_equal(dpumap_channel_list(channel, collect, (union doca_data){.ptr = names}),
			 DOCA_SUCCESS);
	assert_null(strstr(names, "more"));
	await(channel, &heard, DPUMAP_CHANNEL_REMOVED, "more");
	/* A client gets no events of exports that it may not import. */
	dpumapd_ctl(admin, "add", "name=secret,kind=dram,size=4K,allow=cert:other");
	dpumapd_ctl(admin, "remove", "secret");
	dpumapd_ctl(admin, "remove", "fast");
	await(channel, &heard, DPUMAP_CHANNEL_REMOVED, "fast");
	dpumap_channel_destroy(channel);
}

static void a_watcher_is_told_that_the_connection_is_lost_and_back(void **state)
{
	struct dpumap_channel *channel = connected();
	struct heard heard = {0};
	char names[256] = "";

	assert_int_equal(dpumap_channel_watch(channel, hear, (union doca_data){.ptr = &heard}),
			 DOCA_SUCCESS);
	stop_daemon(SIGKILL);
	await(channel, &heard, DPUMAP_CHANNEL_LOST, "");
	assert_int_equal(dpumap_channel_list(channel, collect, (union doca_data){.ptr = names}),
			 DOCA_ERROR_NOT_CONNECTED);
	start_daemon();
	await(channel, &heard, DPUMAP_CHANNEL_BACK, "");
	assert_int_equal(dpumap_channel_list(channel, collect, (union doca_data){.ptr = names}),
			 DOCA_SUCCESS);
	dpumapd_ctl(admin, "remove", "fast");
	await(channel, &heard, DPUMAP_CHANNEL_REMOVED, "fast");
	dpumap_channel_destroy(channel);
}

/* A call reports that the connection is lost, and a later call restores it. */
static void a_call_reports_the_lost_connection_and_a_later_one_restores_it(void **state)
{
	struct dpumap_channel *channel = connected();
	int left = PATIENCE_MS, wait = -1;
	struct heard heard = {0};
	char names[256] = "";

	assert_int_equal(dpumap_channel_watch(channel, hear, (union doca_data){.ptr = &heard}),
			 DOCA_SUCCESS);
	stop_daemon(SIGKILL);
	assert_int_not_equal(dpumap_channel_list(channel, collect, (union doca_data){.ptr = names}),
			     DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_get_next_time(channel, &wait), DOCA_SUCCESS);
	assert_int_equal(wait, 0);
	start_daemon();
	while (left-- > 0 && dpumap_channel_list(channel, collect,
						 (union doca_data){.ptr = names}) != DOCA_SUCCESS)
		poll(NULL, 0, 1);
	assert_int_equal(heard.num, 0);
	assert_int_equal(dpumap_channel_process(channel), DOCA_SUCCESS);
	assert_int_equal(heard.num, 2);
	assert_int_equal(heard.event, DPUMAP_CHANNEL_BACK);
	dpumapd_ctl(admin, "remove", "fast");
	await(channel, &heard, DPUMAP_CHANNEL_REMOVED, "fast");
	dpumap_channel_destroy(channel);
}

/* --- refused calls ---------------------------------------------------------------------------- */

static void wrong_calls_of_a_channel_have_precise_errors(void **state)
{
	const char *const nothing = NULL, *const name = "bulk";
	union doca_data none = {0};
	struct dpumap_channel *channel;
	uint8_t bytes[8];
	size_t len = sizeof(bytes);
	struct doca_mmap *map;
	int wait;

	assert_int_equal(dpumap_channel_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_create(&channel), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_connect(channel), DOCA_ERROR_BAD_STATE);
	assert_int_equal(dpumap_channel_process(channel), DOCA_ERROR_BAD_STATE);
	assert_int_equal(dpumap_channel_get(channel, "bulk", bytes, &len),
			 DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(dpumap_channel_set_address(channel, "tls:nowhere"),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_set_address(channel, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_set_certificate(channel, "a", NULL, "b", NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_set_psk(channel, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_set_server_name(channel, ""), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_set_timeout(channel, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_list(channel, NULL, none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_watch(channel, NULL, none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_get_many(channel, &nothing, 1, take, none),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_get_many(channel, &name, 1, NULL, none),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_import(channel, "bulk", NULL, &map),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_release(channel, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_get_next_time(NULL, &wait), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_channel_set_address(channel, "unix:/nowhere/at/all"), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_connect(channel), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(dpumap_channel_set_address(channel, "tls:127.0.0.1:1"), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_connect(channel), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(dpumap_channel_destroy(channel), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void settings_are_fixed_once_connected(void **state)
{
	struct dpumap_channel *channel = connected();

	assert_int_equal(dpumap_channel_set_address(channel, address), DOCA_ERROR_BAD_STATE);
	assert_int_equal(dpumap_channel_connect(channel), DOCA_ERROR_BAD_STATE);
	assert_int_equal(dpumap_channel_set_psk(channel, "a", NULL), DOCA_ERROR_BAD_STATE);
	dpumap_channel_destroy(channel);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(list_returns_each_export_with_its_kind_and_size),
		TEST(a_descriptor_is_released_once),
		TEST(each_name_of_many_has_its_own_answer),
		TEST(an_export_that_is_removed_meanwhile_is_not_found),
		TEST(names_without_an_answer_have_the_error_of_the_connection),
		TEST(removed_export_cannot_be_released),
		TEST(release_changes_the_key),
		TEST(imports_copy_until_their_export_is_removed),
		TEST(dmabufs_that_could_not_be_revoked_are_refused),
		TEST(dmabuf_reaches_the_memory_until_its_export_is_removed),
		TEST(a_watcher_gets_the_events_of_exports_that_it_may_import),
		TEST(a_watcher_is_told_that_the_connection_is_lost_and_back),
		TEST(a_call_reports_the_lost_connection_and_a_later_one_restores_it),
		TEST(settings_are_fixed_once_connected),
		cmocka_unit_test(wrong_calls_of_a_channel_have_precise_errors),
	};

	signal(SIGPIPE, SIG_DFL);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
