/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/ipc/access.h"
#include "emu/ipc/proto.h"
#include "emu/ipc/rdma_cm.h"
#include "emu/server/admin/control.h"
#include "emu/server/admin/port.h"
#include "emu/server/admin/wire.h"
#include "emu/server/base/log.h"
#include "emu/server/base/reactor.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/net/netlink.h"
#include "emu/server/ucma/file.h"
#include "emu/server/uverbs/file.h"

#define ACCEPT_PAUSE_NS 500000000

static const char *directory;
static int lock;	       /* a file in the directory */
static bool directory_removed; /* the server ends when its last client has ended */

struct listener {
	struct emu_watch watch;
	struct emu_func *func; /* NULL: the control socket */
	const char *role;      /* the machine of a netlink or rdma_cm socket; or NULL */
	void (*accept)(const char *role, int fd); /* if it has a role */
};

static struct listener listeners[3 * EMU_MAX_FUNCS + 1];
static unsigned int nlisteners;

static void change_listeners(uint32_t events)
{
	for (unsigned int i = 0; i < nlisteners; i++)
		emu_watch_change(&listeners[i].watch, events);
}

static void end_pause(struct emu_watch *w)
{
	uint64_t times;

	if (read(w->fd, &times, sizeof(times)) == sizeof(times))
		change_listeners(EPOLLIN);
}

static struct emu_watch pause_timer = {.ready = end_pause};

/* Without free descriptors the listeners stay readable: stop polling them for a while. */
static void pause_accepting(int err)
{
	const struct itimerspec soon = {.it_value.tv_nsec = ACCEPT_PAUSE_NS};

	emu_log("cannot accept a client: %s", strerror(err));
	if (!timerfd_settime(pause_timer.fd, 0, &soon, NULL))
		change_listeners(0);
}

static void accept_one(struct emu_watch *w)
{
	const struct listener *l = (const struct listener *)w;
	int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		pause_accepting(errno);
	if (fd < 0)
		return;
	if (!emu_access_check_peer(fd))
		close(fd);
	else if (l->role)
		l->accept(l->role, fd);
	else if (l->func)
		emu_client_accept(l->func, fd);
	else
		emu_admin_create(fd, false);
}

static int watch_pause(void)
{
	pause_timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return pause_timer.fd < 0 ? -errno : emu_watch_add(&pause_timer);
}

static int listen_at(const char *name, struct emu_func *func, const char *role)
{
	struct listener *l = &listeners[nlisteners++];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int one = 1;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", directory, name) > EMU_PATH_MAX)
		return -ENAMETOOLONG;
	l->func = func;
	l->role = role;
	l->watch.ready = accept_one;
	l->watch.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->watch.fd < 0)
		return -errno;
	unlink(sa.sun_path);
	if (setsockopt(l->watch.fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ||
	    bind(l->watch.fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    chmod(sa.sun_path, S_IRUSR | S_IWUSR) || listen(l->watch.fd, SOMAXCONN))
		return -errno;
	return emu_watch_add(&l->watch);
}

static int listen_all(void)
{
	char name[64];
	int err = 0;

	for (unsigned int i = 0; i < emu_topology.nfuncs && !err; i++) {
		snprintf(name, sizeof(name), "%s/uverbs%u", emu_topology.func[i].role,
			 emu_topology.func[i].dev);
		err = listen_at(name, &emu_topology.func[i], NULL);
		snprintf(name, sizeof(name), "%s/netlink", emu_topology.func[i].role);
		if (err || emu_topology.func[i].dev)
			continue;
		err = listen_at(name, NULL, emu_topology.func[i].role);
		listeners[nlisteners - 1].accept = emu_netlink_accept;
		snprintf(name, sizeof(name), "%s/" EMU_RDMA_CM_NAME, emu_topology.func[i].role);
		if (!err)
			err = listen_at(name, NULL, emu_topology.func[i].role);
		listeners[nlisteners - 1].accept = emu_cma_accept;
	}
	return err ? err : listen_at("control", NULL, NULL);
}

static void stop(struct emu_watch *w)
{
	(void)w;
	emu_reactor_stop();
}

static int watch_signals(void)
{
	static struct emu_watch w = {.ready = stop};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	w.fd = signalfd(-1, &set, SFD_CLOEXEC);
	return w.fd < 0 ? -errno : emu_watch_add(&w);
}

/* Removing the directory of a test run also ends the server in it. */
static void check_dir(struct emu_watch *w)
{
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	struct stat st;

	if (read(w->fd, event, sizeof(event)) > 0 && !fstat(lock, &st))
		directory_removed = !st.st_nlink;
}

static void watch_lock(void)
{
	static struct emu_watch w = {.ready = check_dir};
	char path[512];

	snprintf(path, sizeof(path), "%s/lock", directory);
	w.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w.fd < 0 || inotify_add_watch(w.fd, path, IN_ATTRIB) < 0 || emu_watch_add(&w))
		emu_log("cannot watch %s, so its removal will not end this server: %s", directory,
			strerror(errno));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) && errno != ENOENT ? -1 : 0;
}

static void remove_tree(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void clean_up(void)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		remove_tree(emu_topology.func[i].role);
	remove_tree("control");
	remove_tree("lock");
	rmdir(directory);
}

/* One server per directory: the kernel releases the lock when the process ends. */
static int lock_dir(void)
{
	const char *why;
	char path[512];
	int err;

	if (mkdir(directory, S_IRWXU) && errno != EEXIST)
		return -errno;
	err = emu_access_check_dir(directory, true, &why);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/lock", directory);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0)
		return -errno;
	if (flock(lock, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return 0;
}

/* Each context needs several descriptors here; the usual limit is 1024. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		emu_log("cannot raise the limit of open files");
}

static int change_gids(const struct emu_server_options *opt)
{
	uint64_t val[4];
	int err = 0;

	for (unsigned int i = 0; i < opt->ngids && !err; i++) {
		err = emu_port_request(&opt->gids[i], val);
		if (err == -ENOENT) /* `none' for a table without entries */
			err = 0;
		if (err)
			emu_log("cannot add GID %u of --gid and the configuration file, to %s: %s",
				i + 1, opt->gids[i].role, strerror(-err));
	}
	return err;
}

static int create_cards(const struct emu_server_options *opt)
{
	int err = emu_segments_create();

	if (!err)
		err = emu_topology_create(directory, opt->topology);
	if (!err)
		err = emu_gids_create();
	if (!err)
		err = change_gids(opt);
	return err ? err : emu_attach_wires(opt->wires, opt->nwires);
}

static int start(const struct emu_server_options *opt)
{
	int err;

	raise_descriptor_limit();
	err = emu_reactor_create();
	if (!err)
		err = create_cards(opt);
	emu_port_begin();
	if (!err)
		err = watch_signals();
	if (!err)
		err = watch_pause();
	watch_lock();
	if (!err && opt->hold_fd >= 0)
		err = emu_admin_create(opt->hold_fd, true);
	return err ? err : listen_all();
}

int emu_serve(const struct emu_server_options *opt)
{
	int err, result;

	directory = opt->dir;
	umask(S_IRWXG | S_IRWXO);
	err = lock_dir();
	if (!err) {
		err = start(opt);
		if (err)
			clean_up();
	}
	result = -err;
	if (write(opt->ready_fd, &result, sizeof(result)) != sizeof(result) || err)
		return 1;
	close(opt->ready_fd);
	if (opt->foreground)
		emu_log("ready in %s", directory);
	else /* the starter's stderr must not stay open */
		dup2(STDOUT_FILENO, STDERR_FILENO);
	while (!emu_reactor_is_stopped() &&
	       !(directory_removed && !emu_files && !emu_admin_has_holders()))
		emu_reactor_turn();
	emu_control_end();
	if (!directory_removed) /* else its name may stand for another one by now */
		clean_up();
	/* Hang up now: what runs at exit, for example a leak check, may take long on a busy machine. */
	close_range(3, ~0u, 0);
	return 0;
}
