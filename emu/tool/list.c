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

#include "cli/json.h"
#include "emu/server/base/log.h"
#include "emu/tool/tool.h"

#define ANSWER_S 5 /* a server that was stopped must not stop the list */

struct emulator {
	pid_t pid;
	char dir[PATH_MAX];
	bool responds;
	char profile[32], guid[32];
	unsigned int nodes, cards, clients;
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

static void read_line(struct emulator *e, const char *line)
{
	sscanf(line, "profile %31s", e->profile); // NOLINT(cert-err34-c): our own text
	sscanf(line, "guid %31s", e->guid);	  // NOLINT(cert-err34-c)
	sscanf(line, "nodes %u", &e->nodes);	  // NOLINT(cert-err34-c)
	sscanf(line, "cards %u", &e->cards);	  // NOLINT(cert-err34-c)
	sscanf(line, "clients %u", &e->clients);  // NOLINT(cert-err34-c)
}

static bool ask_status(struct emulator *e, int fd)
{
	struct emu_reply reply;
	char *text, *line, *rest;

	if (tool_ask(fd, EMU_OP_STATUS, 0, &reply))
		return false;
	text = tool_receive_text(fd);
	if (!text)
		return false;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(e, line);
	free(text);
	return true;
}

static const char *name_of(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash ? slash + 1 : dir;
}

/* Is the process the server of an emulator of this user, in a directory of that name if not NULL? */
static bool look_at(int proc, const char *pid, const char *name, struct emulator *e)
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
	e->responds = ask_status(e, fd);
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
		if (look_at(dirfd(proc), entry->d_name, name, &e))
			use(&e, arg);
	closedir(proc);
	return true;
}

/* --- list ------------------------------------------------------------------------------------- */

struct listing {
	const struct options *o;
	unsigned int count;
};

static void print_line(const struct emulator *e, void *arg)
{
	struct listing *list = arg;
	const char *mark = strcmp(e->dir, list->o->dir) != 0 ? "" : " *";

	if (!list->count++)
		printf("%8s  %-13s  %-16s  %5s  %5s  %7s  %s\n", "PID", "PROFILE", "GUID", "NODES",
		       "CARDS", "CLIENTS", "DIRECTORY");
	if (e->responds)
		printf("%8d  %-13s  %-16s  %5u  %5u  %7u  %s%s\n", (int)e->pid, e->profile, e->guid,
		       e->nodes, e->cards, e->clients, e->dir, mark);
	else
		printf("%8d  does not respond (stopped, or of another version)  %s%s\n",
		       (int)e->pid, e->dir, mark);
}

static void print_json(const struct emulator *e, void *arg)
{
	struct listing *list = arg;

	printf("%s\n    {\"directory\": ", list->count++ ? "," : "");
	cli_json_text(stdout, e->dir);
	printf(", \"pid\": %d, \"selected\": %s, \"responds\": %s", (int)e->pid,
	       strcmp(e->dir, list->o->dir) != 0 ? "false" : "true",
	       e->responds ? "true" : "false");
	if (e->responds)
		printf(", \"profile\": \"%s\", \"guid\": \"%s\", \"nodes\": %u, \"cards\": %u, "
		       "\"clients\": %u",
		       e->profile, e->guid, e->nodes, e->cards, e->clients);
	putchar('}');
}

int tool_list(struct options *o)
{
	struct listing list = {.o = o};
	bool done;

	if (o->json)
		fputs("{\n  \"schema\": \"dpumap-emu-list-1\",\n  \"emulators\": [", stdout);
	done = for_each(NULL, o->json ? print_json : print_line, &list);
	if (!done)
		emu_log("cannot read /proc, which shows the emulators of this user; mount it");
	if (o->json)
		puts(list.count ? "\n  ]\n}" : "]\n}");
	else if (done && !list.count)
		puts("no emulator of this user is running");
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
