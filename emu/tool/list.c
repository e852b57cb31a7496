/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The emulators of this user, in whatever directory: their servers are processes of this program. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json_pointer.h>

#include "base/array.h"
#include "cli/json.h"
#include "cli/table.h"
#include "emu/server/base/log.h"
#include "emu/tool/tool.h"

#define ANSWER_S 5 /* a server that was stopped must not stop the list */

struct emulator {
	pid_t pid;
	char dir[PATH_MAX];
	struct json_object *status; /* NULL: it does not respond */
};

/* --- finding them ----------------------------------------------------------------------------- */

static size_t read_file(int proc, const char *pid, const char *name, char *text, size_t room)
{
	char path[NAME_MAX + 16];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, room - 1);
		close(fd);
	}
	n = n < 0 ? 0 : n;
	text[n] = '\0';
	return (size_t)n;
}

/* The directory of a server, by its command line "dpumap-emu serve --dir DIRECTORY ..."; or NULL. */
static const char *dir_of(const char *line, size_t len)
{
	const char *const words[] = {"serve", "--dir"};
	const char *at = line, *end = line + len;
	size_t seen = 0;

	for (; at < end && seen < 2; at += strlen(at) + 1)
		seen = !strcmp(at, words[seen]) ? seen + 1 : 0;
	return at < end && seen == 2 ? at : NULL;
}

static bool is_ours(int proc, const char *pid)
{
	struct stat st;

	return !fstatat(proc, pid, &st, 0) && st.st_uid == geteuid();
}

/* A connection to the server in e->dir, if it is this process. */
static int connect_to(const struct emulator *e)
{
	const struct timeval limit = {.tv_sec = ANSWER_S};
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	int fd = tool_connect(e->dir);

	if (fd < 0)
		return fd;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.pid == e->pid &&
	    !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		return fd;
	close(fd);
	return -1;
}

static const char *name_of(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash ? slash + 1 : dir;
}

/* Is the process the server of an emulator of this user, in a directory of that name if not NULL? */
static bool ask_process(int proc, const char *pid, const char *name, struct emulator *e)
{
	char line[PATH_MAX + 256];
	const char *dir;
	int fd;

	if (!isdigit((unsigned char)*pid) || !is_ours(proc, pid))
		return false;
	dir = dir_of(line, read_file(proc, pid, "cmdline", line, sizeof(line)));
	if (!dir || (name && strcmp(name_of(dir), name) != 0))
		return false;
	memset(e, 0, sizeof(*e));
	e->pid = (pid_t)strtol(pid, NULL, 10);
	snprintf(e->dir, sizeof(e->dir), "%s", dir);
	fd = connect_to(e);
	if (fd < 0)
		return false;
	tool_ask_status(fd, &e->status);
	close(fd);
	return true;
}

/* Calls a function for each emulator, with `name` only for those in directories of that name. */
static bool for_each(const char *name, void (*use)(const struct emulator *e, void *arg), void *arg)
{
	static struct emulator e;
	const struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc)
		return false;
	while ((entry = readdir(proc)) != NULL)
		if (ask_process(dirfd(proc), entry->d_name, name, &e)) {
			use(&e, arg);
			json_object_put(e.status);
		}
	closedir(proc);
	return true;
}

/* --- list ------------------------------------------------------------------------------------- */

struct listing {
	const struct options *o;
	struct json_object *emulators;
};

static void copy(struct json_object *to, struct json_object *from, const char *path)
{
	struct json_object *value = NULL;

	json_pointer_get(from, path, &value);
	json_object_object_add(to, strrchr(path, '/') + 1, json_object_get(value));
}

static void add(const struct emulator *e, void *arg)
{
	static const char *const shown[] = {"/functions/0/profile", "/functions/0/guid", "/nodes",
					    "/cards", "/clients"};
	const struct listing *list = arg;
	struct json_object *about = json_object_new_object();

	json_object_object_add(about, "directory", json_object_new_string(e->dir));
	json_object_object_add(about, "pid", json_object_new_int(e->pid));
	json_object_object_add(about, "selected",
			       json_object_new_boolean(!strcmp(e->dir, list->o->dir)));
	json_object_object_add(about, "responds", json_object_new_boolean(e->status != NULL));
	for (size_t i = 0; e->status && i < ARRAY_SIZE(shown); i++)
		copy(about, e->status, shown[i]);
	json_object_array_add(list->emulators, about);
}

static bool is(struct json_object *emulator, const char *key)
{
	return json_object_get_boolean(json_object_object_get(emulator, key));
}

static void write_directory(FILE *out, struct json_object *emulator)
{
	fprintf(out, "%s%s", json_object_get_string(json_object_object_get(emulator, "directory")),
		is(emulator, "selected") ? " *" : "");
}

static void write_no_response(FILE *out, struct json_object *emulator)
{
	fputs("does not respond (stopped, or of another build)  ", out);
	write_directory(out, emulator);
}

static void print_table(struct json_object *emulators)
{
	static const struct cli_column columns[] = {{"PID", "pid", 8, NULL},
						    {" PROFILE", "profile", -14, NULL},
						    {"GUID", "guid", -17, NULL},
						    {"NODES", "nodes", 5, NULL},
						    {"CARDS", "cards", 6, NULL},
						    {"CLIENTS", "clients", 8, NULL},
						    {" DIRECTORY", NULL, 0, write_directory},
						    {0}};
	static const struct cli_column not_responding[] = {
		{"PID", "pid", 8, NULL}, {" DIRECTORY", NULL, 0, write_no_response}, {0}};
	size_t i, n = json_object_array_length(emulators);

	if (n)
		cli_table_head(stdout, columns);
	for (i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(emulators, i);

		cli_table_row(stdout, is(one, "responds") ? columns : not_responding, one);
	}
}

int tool_list(struct options *o)
{
	struct json_object *all = json_object_new_object();
	struct listing list = {.o = o, .emulators = json_object_new_array()};
	bool done;

	json_object_object_add(all, "schema", json_object_new_string("dpumap-emu-list-1"));
	json_object_object_add(all, "emulators", list.emulators);
	done = for_each(NULL, add, &list);
	if (!done)
		emu_log("cannot read /proc, which shows the emulators of this user; mount it");
	if (o->json)
		cli_json_print(stdout, all);
	else if (done && !json_object_array_length(list.emulators))
		puts("no emulator of this user is running");
	else
		print_table(list.emulators);
	json_object_put(all);
	return fflush(stdout) || !done ? EXIT_EMU : 0;
}

/* --- another one by accident ------------------------------------------------------------------ */

/* Report another default directory: that of a session with another environment. */
static void report(const struct emulator *e, void *arg)
{
	const struct options *o = ((const struct listing *)arg)->o;

	if (strcmp(e->dir, o->dir) != 0)
		emu_log("another emulator runs in %s; the new one in %s has other cards. Use the "
			"former with " EMU_ENV_DIR "=%s; see `dpumap-emu list'",
			e->dir, o->dir, e->dir);
}

void tool_report_others(const struct options *o)
{
	struct listing list = {.o = o};

	if (o->dir_is_default)
		for_each(name_of(o->dir), report, &list);
}

/* --- functions -------------------------------------------------------------------------------- */

static int is_function(const struct dirent *e)
{
	return e->d_type == DT_DIR && e->d_name[0] != '.';
}

static void report_functions(const char *dir, const char *role)
{
	char names[PATH_MAX] = "";
	struct dirent **found = NULL;
	int n = scandir(dir, &found, is_function, alphasort), i;
	size_t len = 0;

	for (i = 0; i < n; i++) {
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						i ? ", " : "", found[i]->d_name);
		free(found[i]);
	}
	free(found);
	emu_log("the emulator in %s has no function '%s'; its functions are: %s", dir, role, names);
}

bool tool_has_function(const char *dir, const char *role)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/sysfs", dir, role);
	if (!access(path, F_OK))
		return true;
	report_functions(dir, role);
	return false;
}
