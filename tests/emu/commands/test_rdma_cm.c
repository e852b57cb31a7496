/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /dev/infiniband/rdma_cm: what each command accepts, refuses and reports (rdma_user_cm.h; the
 * kernel's ucma.c and cma.c). Both ends of a connection are in this process, which connects to itself.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm_raw.h"
#include "fixture.h"

#define LISTENER 0x1111u
#define ACTIVE	 0x2222u
#define PASSIVE	 0x3333u
#define RETRY_MS 4000
#ifndef AF_IB
#define AF_IB 27
#endif

static int fd;

static int setup(void **state)
{
	fd = cm_open(O_NONBLOCK);
	return fd < 0 ? -1 : fixture_count(state);
}

static int teardown(void **state)
{
	close(fd);
	return fixture_recount(state);
}

/* --- the file --------------------------------------------------------------------------------- */

static void device_is_a_character_device_that_is_found(void **state)
{
	struct stat by_name, by_fd;

	assert_int_equal(stat(CM_PATH, &by_name), 0);
	assert_int_equal(fstat(fd, &by_fd), 0);
	assert_true(S_ISCHR(by_name.st_mode) && S_ISCHR(by_fd.st_mode));
	assert_int_equal(by_name.st_rdev, by_fd.st_rdev);
	assert_int_equal(access(CM_PATH, R_OK | W_OK), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

static void other_descriptors_keep_their_errors(void **state)
{
	int pair[2];

	assert_int_equal(pipe(pair), 0);
	errno = 0;
	assert_int_equal(write(pair[0], "", 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(write(-1, "", 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(write(pair[1], "x", 1), 1);
	close(pair[0]);
	close(pair[1]);
}

static void malformed_commands_are_refused(void **state)
{
	struct rdma_ucm_cmd_hdr h = {RDMA_USER_CM_CMD_CREATE_ID, 24, 4};
	void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t id;

	assert_int_equal(write(fd, &h, sizeof(h) - 1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(write(fd, &h, sizeof(h)), -1); /* shorter than it says */
	assert_int_equal(errno, EINVAL);
	assert_int_equal(write(fd, gone, 64), -1);
	assert_int_equal(errno, EFAULT);
	h = (struct rdma_ucm_cmd_hdr){1000, 0, 0};
	assert_int_equal(write(fd, &h, sizeof(h)), -1);
	assert_int_equal(errno, EINVAL);
	h.cmd = RDMA_USER_CM_CMD_GET_OPTION;
	assert_int_equal(write(fd, &h, sizeof(h)), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(cm_create(fd, 0x107, 1, &id), EINVAL); /* no such port space */
	munmap(gone, 4096);
}

static void answer_that_cannot_be_stored_creates_nothing(void **state)
{
	struct rdma_ucm_create_id c = {.uid = 1, .response = 16, .ps = RDMA_PS_TCP};
	uint32_t id, next;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), NULL, 4),
			 EFAULT);
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), NULL, 3),
			 ENOSPC);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &next), 0);
	assert_int_equal(next, id + 1);
}

static void ids_belong_to_their_file(void **state)
{
	int other = cm_open(0);
	uint32_t id, events = 1;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
	assert_int_equal(cm_bind(other, id, CM_DPU, 0), EINVAL);
	assert_int_equal(cm_bind(other, 123456, CM_DPU, 0), ENOENT);
	assert_int_equal(cm_destroy(other, id, NULL), EINVAL);
	assert_int_equal(cm_destroy(fd, id, &events), 0);
	assert_int_equal(events, 0);
	assert_int_equal(cm_destroy(fd, id, NULL), ENOENT);
	close(other);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void events_can_be_polled_and_are_gone_with_their_id(void **state)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT};
	struct rdma_ucm_event_resp e;
	int ep = epoll_create1(EPOLL_CLOEXEC);
	fd_set set;
	struct timeval now = {0};
	uint32_t id;

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	assert_int_equal(cm_event(fd, &e), EAGAIN);
	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 7, &id), 0);
	assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), 0);
	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 1);
	assert_int_equal(ev.events, EPOLLIN);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	assert_int_equal(select(fd + 1, &set, NULL, NULL, &now), 1);
	assert_int_equal(cm_destroy(fd, id, NULL), 0);
	assert_false(cm_readable(fd, 0));
	assert_int_equal(cm_event(fd, &e), EAGAIN);
	close(ep);
}

static void event_without_room_stays(void **state)
{
	struct rdma_ucm_get_event bad = {16};
	struct rdma_ucm_event_resp e;
	uint32_t id, events;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 7, &id), 0);
	assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), 0);
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_GET_EVENT, &bad, sizeof(bad), NULL, 8),
			 ENOSPC);
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_GET_EVENT, &bad, sizeof(bad), NULL, 1000),
			 EFAULT);
	assert_true(cm_readable(fd, 0));
	e = cm_expect(fd, CM_ADDR_RESOLVED);
	assert_int_equal(e.uid, 7);
	assert_int_equal(e.id, id);
	assert_false(cm_readable(fd, 0));
	assert_int_equal(cm_destroy(fd, id, &events), 0);
	assert_int_equal(events, 1);
}

static void on_signal(int number)
{
	(void)number;
}

static void *wait_for_event(void *arg)
{
	struct rdma_ucm_event_resp e;

	*(int *)arg = cm_event(fd, &e);
	return NULL;
}

/* Send the signal until the thread has ended: it may not wait yet. */
static void interrupt(pthread_t t)
{
	while (pthread_tryjoin_np(t, NULL)) {
		pthread_kill(t, SIGUSR1);
		usleep(2000);
	}
}

static void blocking_wait_ends_by_a_signal_or_an_event(void **state)
{
	struct sigaction act = {.sa_handler = on_signal};
	int result = -1, i;
	uint32_t id;
	pthread_t t;

	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	sigaction(SIGUSR1, &act, NULL);
	assert_int_equal(pthread_create(&t, NULL, wait_for_event, &result), 0);
	interrupt(t);
	assert_int_equal(result, EINTR);
	act.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &act, NULL);
	assert_int_equal(pthread_create(&t, NULL, wait_for_event, &result), 0);
	for (i = 0; i < 5; i++) {
		usleep(2000);
		pthread_kill(t, SIGUSR1);
	}
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 7, &id), 0);
	assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(result, 0);
}

static void *wait_in_tee(void *arg)
{
	const int *fds = arg;

	tee(fds[0], fds[1], 1, 0);
	return NULL;
}

/* Does this machine cancel a thread that waits as the shim does? */
static bool cancels_tee(void)
{
	struct timespec end;
	int from[2], to[2];
	void *how = NULL;
	pthread_t t;

	assert_int_equal(pipe(from) | pipe(to), 0);
	assert_int_equal(pthread_create(&t, NULL, wait_in_tee, (int[]){from[0], to[1]}), 0);
	usleep(10000);
	assert_int_equal(pthread_cancel(t), 0);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 5;
	if (pthread_timedjoin_np(t, &how, &end)) {
		close(from[1]);
		pthread_join(t, NULL);
	} else {
		close(from[1]);
	}
	close(from[0]);
	close(to[0]);
	close(to[1]);
	return how == PTHREAD_CANCELED;
}

static void waiting_thread_can_be_cancelled(void **state)
{
	int result = -1;
	void *how;
	pthread_t t;

	if (!cancels_tee())
		skip();
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(pthread_create(&t, NULL, wait_for_event, &result), 0);
	usleep(10000);
	assert_int_equal(pthread_cancel(t), 0);
	assert_int_equal(pthread_join(t, &how), 0);
	assert_ptr_equal(how, PTHREAD_CANCELED);
}

struct waiter {
	int fd, result;
};

static void *wait_in_file(void *arg)
{
	struct rdma_ucm_event_resp e;
	struct waiter *w = arg;

	w->result = cm_event(w->fd, &e);
	return NULL;
}

/* The wait begins before the close(), and the thread gets the event; or after it, and it is told so. */
static void wait_goes_on_when_another_file_takes_its_number(void **state)
{
	int other;
	struct waiter w;
	uint32_t id;
	pthread_t t;

	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	for (int i = 0; i < 300; i++) {
		w.fd = dup(fd);
		assert_int_equal(pthread_create(&t, NULL, wait_in_file, &w), 0);
		usleep((useconds_t)i);
		other = open("/dev/null", O_WRONLY | O_CLOEXEC);
		assert_int_equal(dup2(other, w.fd), w.fd);
		assert_int_equal(cm_create(fd, RDMA_PS_TCP, 7, &id), 0);
		assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), 0);
		assert_int_equal(pthread_join(t, NULL), 0);
		/* 24 bytes written to /dev/null, or the event */
		assert_int_equal(w.result, 0);
		assert_int_equal(cm_destroy(fd, id, NULL), 0);
		close(w.fd);
		close(other);
	}
}

static void descriptor_can_be_duplicated_inherited_and_passed_on(void **state)
{
	int copy = dup(fd), pair[2], status, got;
	uint32_t id, from_child;
	pid_t pid;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 7, &id), 0);
	close(fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	if (!pid) {
		bool ok = !cm_bind(copy, id, CM_DPU, 0) &&
			  !cm_create(copy, RDMA_PS_TCP, 8, &from_child) &&
			  process_send_fd(pair[1], copy, &from_child, sizeof(from_child));
		_exit(!ok);
	}
	got = process_receive_fd(pair[0], &from_child, sizeof(from_child));
	assert_true(got >= 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(copy);
	/* The file lives on in the descriptor that was passed. */
	assert_int_equal(cm_destroy(got, id, NULL), 0);
	assert_int_equal(cm_destroy(got, from_child, NULL), 0);
	fd = got;
	close(pair[0]);
	close(pair[1]);
}

/* --- addresses and ports ---------------------------------------------------------------------- */

static void ports_are_given_as_the_kernel_does(void **state)
{
	uint32_t a, b, c;
	int on = 1;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &a), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &b), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_UDP, 1, &c), 0);
	assert_int_equal(cm_bind(fd, a, CM_DPU, 17011), 0);
	assert_int_equal(cm_bind(fd, a, CM_DPU, 17012), EINVAL); /* it is bound */
	assert_int_equal(cm_bind(fd, b, CM_DPU, 17011), EADDRINUSE);
	assert_int_equal(cm_bind(fd, b, "0.0.0.0", 17011), EADDRNOTAVAIL);
	assert_int_equal(cm_bind(fd, b, "192.0.2.1", 17011), EADDRNOTAVAIL);
	assert_int_equal(cm_bind(fd, c, CM_DPU, 17011), 0); /* another port space */
	assert_int_equal(cm_set_option(fd, a, 0, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(cm_set_option(fd, b, 0, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(cm_bind(fd, b, CM_DPU, 17011), 0);
	assert_int_equal(cm_listen(fd, a, 0), EADDRINUSE); /* a listener has it alone */
	assert_int_equal(cm_destroy(fd, b, NULL), 0);
	assert_int_equal(cm_listen(fd, a, 0), 0);
	assert_int_equal(cm_listen(fd, a, 0), EINVAL);
}

static void host_address_is_bound_on_the_host_only(void **state)
{
	struct rdma_ucm_query_addr_resp r;
	uint32_t id;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
	assert_int_equal(cm_query_addr(fd, id, &r), 0);
	assert_int_equal(r.node_guid, 0);
	assert_int_equal(cm_bind(fd, id, CM_HOST, 0), ENODEV);
	assert_int_equal(cm_bind(fd, id, CM_DPU, 0), 0);
	assert_int_equal(cm_query_addr(fd, id, &r), 0);
	assert_int_not_equal(r.node_guid, 0);
	assert_int_equal(r.port_num, 1);
	assert_int_equal(r.src_size, sizeof(struct sockaddr_in));
}

static void address_without_a_device_is_an_event(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t id;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
	assert_int_equal(cm_resolve(fd, id, "192.0.2.1", 1), 0);
	e = cm_expect(fd, CM_ADDR_ERROR);
	assert_int_equal((int)e.status, -ENODEV);
	assert_int_equal(cm_resolve(fd, id, CM_HOST, 1), 0); /* again */
	cm_expect(fd, CM_ADDR_RESOLVED);
}

static void commands_in_the_wrong_state_are_refused(void **state)
{
	uint32_t id;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
	assert_int_equal(cm_route(fd, id), EINVAL);
	assert_int_equal(cm_connect(fd, id, NULL, 0), EINVAL);
	assert_int_equal(cm_accept(fd, id, PASSIVE, NULL, 0), EINVAL);
	assert_int_equal(cm_reject(fd, id, NULL, 0), EINVAL);
	assert_int_equal(cm_disconnect(fd, id), EINVAL);
	assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), 0);
	assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), EINVAL);
	assert_int_equal(cm_connect(fd, id, NULL, 0), EINVAL);
	assert_int_equal(cm_listen(fd, id, 0), EINVAL);
	assert_int_equal(cm_route(fd, id), 0);
	assert_int_equal(cm_route(fd, id), EINVAL);
	assert_int_equal(cm_accept(fd, id, 0, NULL, 0), EINVAL);
	assert_int_equal(cm_disconnect(fd, id), EINVAL);
}

static void an_option_needs_its_length_and_kind_of_id(void **state)
{
	uint8_t byte = 0x80;
	uint32_t id, udp;
	int on = 1;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &id), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_UDP, 1, &udp), 0);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_TOS, &byte, 1), 0);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_TOS, &on, 4), EINVAL);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_AFONLY, &on, 4), 0);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_AFONLY, &on, 1), EINVAL);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
	assert_int_equal(cm_set_option(fd, udp, 0, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), EINVAL);
	assert_int_equal(cm_set_option(fd, id, 0, 9, &byte, 1), ENOSYS);
	assert_int_equal(cm_set_option(fd, id, 2, 0, &byte, 1), ENOSYS);
	assert_int_equal(cm_set_option(fd, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &byte, 1),
			 EINVAL);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_TOS, NULL, 1), EFAULT);
	assert_int_equal(cm_set_option(fd, id, 0, RDMA_OPTION_ID_TOS, &byte, 5u << 20), EINVAL);
}

/* --- connections ------------------------------------------------------------------------------ */

struct pair {
	uint32_t listener, active, passive;
	uint16_t port;
};

/* Up to the request, with private data "hello". */
static struct pair requested(uint16_t ps)
{
	struct rdma_ucm_event_resp e;
	struct pair p;

	p.listener = cm_listener(fd, ps, CM_DPU, LISTENER, &p.port);
	p.active = cm_routed(fd, ps, CM_DPU, p.port, ACTIVE);
	assert_int_equal(cm_connect(fd, p.active, "hello", 6), 0);
	e = cm_expect(fd, CM_CONNECT_REQUEST);
	assert_int_equal(e.uid, LISTENER);
	p.passive = e.id;
	if (ps == RDMA_PS_UDP) {
		assert_string_equal((const char *)e.param.ud.private_data, "hello");
		return p;
	}
	assert_string_equal((const char *)e.param.conn.private_data, "hello");
	assert_int_equal(e.param.conn.private_data_len, 56);
	assert_int_equal(e.param.conn.responder_resources, 5);
	assert_int_equal(e.param.conn.initiator_depth, 3);
	assert_int_equal(e.param.conn.retry_count, 7);
	assert_int_equal(e.param.conn.rnr_retry_count, 6);
	assert_int_equal(e.param.conn.qp_num, cm_qpn);
	assert_int_equal(e.ece.vendor_id, 0x15b3);
	assert_int_equal(e.ece.attr_mod, 7);
	return p;
}

static struct pair established(void)
{
	struct pair p = requested(RDMA_PS_TCP);
	struct rdma_ucm_event_resp e;

	assert_int_equal(cm_accept(fd, p.passive, PASSIVE, "welcome", 8), 0);
	e = cm_expect(fd, CM_CONNECT_RESPONSE);
	assert_int_equal(e.uid, ACTIVE);
	assert_string_equal((const char *)e.param.conn.private_data, "welcome");
	assert_int_equal(e.param.conn.private_data_len, 196);
	assert_int_equal(cm_accept(fd, p.active, 0, NULL, 0), 0);
	e = cm_expect(fd, CM_ESTABLISHED);
	assert_int_equal(e.uid, PASSIVE);
	return p;
}

static void connection_begins_and_ends_in_the_kernels_order(void **state)
{
	struct pair p = established();
	struct rdma_ucm_event_resp e;
	int i, ended = 0;

	assert_int_equal(cm_disconnect(fd, p.active), 0);
	e = cm_expect(fd, CM_DISCONNECTED);
	assert_int_equal(e.uid, PASSIVE);
	assert_int_equal(cm_disconnect(fd, p.passive), 0);
	e = cm_expect(fd, CM_DISCONNECTED);
	assert_int_equal(e.uid, ACTIVE);
	for (i = 0; i < 2; i++) {
		e = cm_expect(fd, CM_TIMEWAIT_EXIT);
		ended |= e.uid == ACTIVE ? 1 : 2;
	}
	assert_int_equal(ended, 3);
}

static void queue_pair_attributes_lead_to_the_peer(void **state)
{
	struct pair p = established();
	struct ib_uverbs_qp_attr a[2] = {{0}};
	struct rdma_ucm_init_qp_attr c = {.qp_state = 2};

	for (int i = 0; i < 2; i++) {
		c.response = (uintptr_t)&a[i];
		c.id = i ? p.passive : p.active;
		assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_INIT_QP_ATTR, &c, sizeof(c), &a[i],
					    sizeof(a[i])),
				 0);
		assert_int_equal(a[i].dest_qp_num, cm_qpn - (i ? 1 : 0));
		assert_int_equal(a[i].ah_attr.is_global, 1);
		assert_int_equal(a[i].ah_attr.port_num, 1);
		assert_int_equal(a[i].ah_attr.grh.sgid_index, 3);
		assert_int_equal(a[i].ah_attr.grh.dgid[15], 1);
		assert_int_equal(a[i].path_mtu, 5);
	}
	c.qp_state = 3;
	c.response = (uintptr_t)&a[0];
	assert_int_equal(
		cm_command(fd, RDMA_USER_CM_CMD_INIT_QP_ATTR, &c, sizeof(c), &a[0], sizeof(a[0])),
		0);
	c.qp_state = 7;
	assert_int_equal(
		cm_command(fd, RDMA_USER_CM_CMD_INIT_QP_ATTR, &c, sizeof(c), &a[0], sizeof(a[0])),
		EINVAL);
}

static void rejection_brings_its_reason_and_data(void **state)
{
	struct pair p = requested(RDMA_PS_TCP);
	struct rdma_ucm_reject bad = {.id = p.passive, .reason = 1};
	struct rdma_ucm_event_resp e;

	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_REJECT, &bad, sizeof(bad), NULL, 0),
			 EINVAL);
	assert_int_equal(cm_reject(fd, p.passive, "no", 3), 0);
	e = cm_expect(fd, CM_REJECTED);
	assert_int_equal(e.uid, ACTIVE);
	assert_int_equal(e.status, 28);
	assert_string_equal((const char *)e.param.conn.private_data, "no");
	assert_int_equal(e.param.conn.private_data_len, 148);
}

static void port_without_a_listener_is_rejected(void **state)
{
	uint32_t id = cm_routed(fd, RDMA_PS_TCP, CM_DPU, 17999, ACTIVE);
	struct rdma_ucm_event_resp e;

	assert_int_equal(cm_connect(fd, id, NULL, 0), 0);
	e = cm_expect(fd, CM_REJECTED);
	assert_int_equal(e.status, 8); /* invalid service ID */
}

static void private_data_is_limited(void **state)
{
	struct pair p = requested(RDMA_PS_TCP);
	uint8_t data[256] = {0};
	uint32_t id = cm_routed(fd, RDMA_PS_TCP, CM_DPU, p.port, 5);

	assert_int_equal(cm_connect(fd, id, data, 57), EINVAL);
	assert_int_equal(cm_connect(fd, id, data, 255), EINVAL);
	assert_int_equal(cm_connect(fd, id, data, 56), 0);
	cm_expect(fd, CM_CONNECT_REQUEST);
	/* An accept that fails has rejected. */
	assert_int_equal(cm_accept(fd, p.passive, PASSIVE, data, 197), EINVAL);
	cm_expect(fd, CM_REJECTED);
}

/* Each command is a turn of the server's main loop, which delivers what was sent before. */
static void let_messages_arrive(uint32_t id)
{
	struct rdma_ucm_query_addr_resp r;

	for (int i = 0; i < 4; i++)
		assert_int_equal(cm_query_addr(fd, id, &r), 0);
}

static void request_for_a_full_backlog_is_not_queued(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t id, first, second;
	uint64_t begin = monotonic_ms();
	int early;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, LISTENER, &id), 0);
	assert_int_equal(cm_bind(fd, id, CM_DPU, 17021), 0);
	assert_int_equal(cm_listen(fd, id, 1), 0);
	first = cm_routed(fd, RDMA_PS_TCP, CM_DPU, 17021, 1);
	second = cm_routed(fd, RDMA_PS_TCP, CM_DPU, 17021, 2);
	assert_int_equal(cm_connect(fd, first, NULL, 0), 0);
	assert_int_equal(cm_connect(fd, second, NULL, 0), 0);
	let_messages_arrive(id);
	cm_expect(fd, CM_CONNECT_REQUEST);
	early = cm_event(fd, &e);
	/* The second one comes when its sender tries again, after four seconds. */
	if (monotonic_ms() - begin < RETRY_MS)
		assert_int_equal(early, EAGAIN);
	if (!early)
		return;
	e = cm_expect(fd, CM_CONNECT_REQUEST);
	assert_int_equal(e.uid, LISTENER);
}

static void requests_end_with_their_listener(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t listener, id;
	uint16_t port;

	listener = cm_listener(fd, RDMA_PS_TCP, CM_DPU, LISTENER, &port);
	id = cm_routed(fd, RDMA_PS_TCP, CM_DPU, port, ACTIVE);
	assert_int_equal(cm_connect(fd, id, NULL, 0), 0);
	assert_true(cm_readable(fd, FIXTURE_TIMEOUT_MS));
	assert_int_equal(cm_destroy(fd, listener, NULL), 0); /* with the request unread */
	e = cm_expect(fd, CM_REJECTED);
	assert_int_equal(e.uid, ACTIVE);
}

static void destroyed_end_disconnects_the_other(void **state)
{
	struct pair p = established();

	assert_int_equal(cm_destroy(fd, p.active, NULL), 0);
	cm_expect(fd, CM_DISCONNECTED);
}

static void assert_hears_every_address(const char *listens_at)
{
	static const char *const addresses[] = {CM_DPU, "127.0.0.1"};
	uint32_t listener, id;
	uint16_t port;

	listener = cm_listener(fd, RDMA_PS_TCP, listens_at, LISTENER, &port);
	for (size_t i = 0; i < 2; i++) {
		id = cm_routed(fd, RDMA_PS_TCP, addresses[i], port, ACTIVE);
		assert_int_equal(cm_connect(fd, id, NULL, 0), 0);
		cm_expect(fd, CM_CONNECT_REQUEST);
	}
	assert_int_equal(cm_destroy(fd, listener, NULL), 0);
}

static void wildcard_listener_hears_every_address(void **state)
{
	assert_hears_every_address("0.0.0.0");
}

/* As cma_any_addr() of the kernel. libfabric looks for a better address if there is no device. */
static void loopback_address_has_no_device(void **state)
{
	struct rdma_ucm_query_addr_resp r;
	uint32_t id;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, LISTENER, &id), 0);
	assert_int_equal(cm_bind(fd, id, "127.0.0.1", 0), 0);
	assert_int_equal(cm_query_addr(fd, id, &r), 0);
	assert_int_equal(r.node_guid, 0);
	assert_int_equal(cm_destroy(fd, id, NULL), 0);
	assert_hears_every_address("127.0.0.1");
}

static void datagram_service_is_resolved(void **state)
{
	struct pair p = requested(RDMA_PS_UDP);
	struct rdma_ucm_event_resp e;

	assert_int_equal(cm_accept(fd, p.passive, PASSIVE, "yes", 4), 0);
	e = cm_expect(fd, CM_ESTABLISHED);
	assert_int_equal(e.uid, ACTIVE);
	assert_int_equal(e.param.ud.qp_num, cm_qpn);
	assert_int_equal(e.param.ud.qkey, 0x01234567);
	assert_int_equal(e.param.ud.ah_attr.is_global, 1);
	assert_int_equal(e.param.ud.ah_attr.grh.dgid[15], 1);
	assert_string_equal((const char *)e.param.ud.private_data, "yes");
	p = requested(RDMA_PS_UDP);
	assert_int_equal(cm_reject(fd, p.passive, NULL, 0), 0);
	e = cm_expect(fd, CM_UNREACHABLE);
	assert_int_equal(e.status, 2);
}

/* --- GIDs as addresses ------------------------------------------------------------------------ */

struct address_ib {
	uint16_t family, pkey;
	uint32_t flow;
	uint8_t gid[16];
	uint64_t sid, mask, scope;
};

static struct address_ib gid_address(uint16_t port)
{
	struct address_ib a = {.family = AF_IB, .pkey = 0xffff};

	a.gid[10] = a.gid[11] = 0xff;
	a.gid[12] = 127;
	a.gid[13] = 100;
	a.gid[15] = 1;
	a.sid = htobe64((uint64_t)RDMA_PS_TCP << 16 | port);
	a.mask = UINT64_MAX;
	return a;
}

static void ids_can_have_gids_for_addresses(void **state)
{
	struct address_ib a = gid_address(17031);
	struct rdma_ucm_bind b = {.addr_size = sizeof(a)};
	struct rdma_ucm_resolve_addr c = {.timeout_ms = 1000, .dst_size = sizeof(a)};
	struct rdma_ucm_event_resp e;
	uint8_t data[92] = "long";

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, LISTENER, &b.id), 0);
	memcpy(&b.addr, &a, sizeof(a));
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_BIND, &b, sizeof(b), NULL, 0), 0);
	assert_int_equal(cm_listen(fd, b.id, 0), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, ACTIVE, &c.id), 0);
	memcpy(&c.dst_addr, &a, sizeof(a));
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_RESOLVE_ADDR, &c, sizeof(c), NULL, 0), 0);
	cm_expect(fd, CM_ADDR_RESOLVED);
	assert_int_equal(cm_route(fd, c.id), 0);
	cm_expect(fd, CM_ROUTE_RESOLVED);
	assert_int_equal(cm_connect(fd, c.id, data, sizeof(data)), 0); /* without a header */
	e = cm_expect(fd, CM_CONNECT_REQUEST);
	assert_int_equal(e.param.conn.private_data_len, 92);
	assert_string_equal((const char *)e.param.conn.private_data, "long");
}

/* --- paths, groups, migration, removal -------------------------------------------------------- */

static void path_of_a_program_replaces_the_route(void **state)
{
	_Alignas(8) uint8_t room[sizeof(struct rdma_ucm_query_path_resp) +
				 2 * sizeof(struct ib_path_rec_data)] = {0};
	struct rdma_ucm_query_path_resp *r = (void *)room;
	uint32_t id = cm_routed(fd, RDMA_PS_TCP, CM_DPU, 1, ACTIVE), other;
	struct rdma_ucm_query q = {(uintptr_t)room, id, RDMA_USER_CM_QUERY_PATH};

	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_QUERY, &q, sizeof(q), room, sizeof(room)),
			 0);
	assert_int_equal(r->num_paths, 1);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 9, &other), 0);
	assert_int_equal(cm_resolve(fd, other, CM_DPU, 1), 0);
	cm_expect(fd, CM_ADDR_RESOLVED);
	assert_int_equal(cm_set_option(fd, other, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, r->path_data,
				       sizeof(r->path_data[0])),
			 0);
	cm_expect(fd, CM_ROUTE_RESOLVED);
	assert_int_equal(cm_connect(fd, other, NULL, 0), 0);
	cm_expect(fd, CM_REJECTED);
	q.option = 9;
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_QUERY, &q, sizeof(q), room, sizeof(room)),
			 ENOSYS);
}

static void group_is_joined_and_left(void **state)
{
	struct sockaddr_in group = cm_addr("239.1.2.3", 0);
	struct rdma_ucm_create_id_resp r = {0};
	struct rdma_ucm_join_mcast c = {
		.response = (uintptr_t)&r, .uid = 77, .addr_size = sizeof(group)};
	struct rdma_ucm_destroy_id_resp left = {0};
	struct rdma_ucm_destroy_id d = {.response = (uintptr_t)&left};
	struct rdma_ucm_event_resp e;

	memcpy(&c.addr, &group, sizeof(group));
	assert_int_equal(cm_create(fd, RDMA_PS_UDP, 1, &c.id), 0);
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &c, sizeof(c), &r, sizeof(r)),
			 EINVAL); /* no device */
	assert_int_equal(cm_bind(fd, c.id, CM_DPU, 0), 0);
	c.join_flags = 2;
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &c, sizeof(c), &r, sizeof(r)),
			 EINVAL);
	c.join_flags = 0;
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_JOIN_MCAST, &c, sizeof(c), &r, sizeof(r)),
			 0);
	e = cm_expect(fd, CM_MULTICAST_JOIN);
	assert_int_equal(e.uid, 77);
	assert_int_equal(e.id, r.id);
	assert_int_equal(e.param.ud.qp_num, 0xffffff);
	assert_int_equal(e.param.ud.ah_attr.grh.dgid[12], 239);
	d.id = r.id;
	assert_int_equal(
		cm_command(fd, RDMA_USER_CM_CMD_LEAVE_MCAST, &d, sizeof(d), &left, sizeof(left)),
		0);
	assert_int_equal(left.events_reported, 1);
	assert_int_equal(
		cm_command(fd, RDMA_USER_CM_CMD_LEAVE_MCAST, &d, sizeof(d), &left, sizeof(left)),
		ENOENT);
}

static void id_migrates_with_its_events(void **state)
{
	int to = cm_open(O_NONBLOCK);
	struct rdma_ucm_migrate_resp r = {9};
	struct rdma_ucm_migrate_id c = {.response = (uintptr_t)&r, .fd = (uint32_t)fd};
	uint32_t id;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 5, &id), 0);
	assert_int_equal(cm_resolve(fd, id, CM_DPU, 1), 0);
	c.id = id;
	assert_int_equal(cm_command(to, RDMA_USER_CM_CMD_MIGRATE_ID, &c, sizeof(c), &r, sizeof(r)),
			 0);
	assert_int_equal(r.events_reported, 0);
	assert_false(cm_readable(fd, 0));
	cm_expect(to, CM_ADDR_RESOLVED);
	assert_int_equal(cm_route(fd, id), EINVAL);
	assert_int_equal(cm_route(to, id), 0);
	c.fd = 0; /* not such a file */
	assert_int_equal(cm_command(to, RDMA_USER_CM_CMD_MIGRATE_ID, &c, sizeof(c), &r, sizeof(r)),
			 EINVAL);
	c.fd = 9999;
	assert_int_equal(cm_command(to, RDMA_USER_CM_CMD_MIGRATE_ID, &c, sizeof(c), &r, sizeof(r)),
			 ENOENT);
	close(to);
}

/* The kernel leaves an id where it is; its events stay, in their order. */
static void id_migrates_to_its_own_file(void **state)
{
	struct rdma_ucm_migrate_resp r = {9};
	struct rdma_ucm_migrate_id c = {.response = (uintptr_t)&r, .fd = (uint32_t)fd};
	uint32_t first, second;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &first), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 2, &second), 0);
	assert_int_equal(cm_resolve(fd, first, CM_DPU, 1), 0);
	assert_int_equal(cm_resolve(fd, second, CM_DPU, 1), 0);
	c.id = first;
	assert_int_equal(cm_command(fd, RDMA_USER_CM_CMD_MIGRATE_ID, &c, sizeof(c), &r, sizeof(r)),
			 0);
	assert_int_equal(r.events_reported, 0);
	assert_int_equal(cm_expect(fd, CM_ADDR_RESOLVED).uid, 1);
	assert_int_equal(cm_expect(fd, CM_ADDR_RESOLVED).uid, 2);
	assert_int_equal(cm_route(fd, first), 0);
}

static int fault(const char *what)
{
	const char *const argv[] = {test_options.emu, "fault", what, NULL};

	return process_run(argv);
}

static int set_pkey(const char *pkey)
{
	const char *const argv[] = {test_options.emu, "port", "pkey", pkey, "--as", "dpu", NULL};

	return process_run(argv);
}

static int ask_for_init(uint32_t id, struct ib_uverbs_qp_attr *a)
{
	struct rdma_ucm_init_qp_attr c = {.qp_state = 1, .id = id, .response = (uintptr_t)a};

	return cm_command(fd, RDMA_USER_CM_CMD_INIT_QP_ATTR, &c, sizeof(c), a, sizeof(*a));
}

/* RoCE connections are in the partition 0x7fff. */
static void port_without_the_partition_has_no_queue_pairs(void **state)
{
	struct ib_uverbs_qp_attr a = {.pkey_index = 9};
	struct pair p = established();

	assert_int_equal(set_pkey("0x8001"), 0);
	assert_int_equal(ask_for_init(p.active, &a), ENOENT);
	assert_int_equal(set_pkey("0x7fff"), 0);
	assert_int_equal(ask_for_init(p.active, &a), 0);
	assert_int_equal(a.pkey_index, 0);
	assert_int_equal(set_pkey("0xffff"), 0);
}

static void request_of_a_limited_member_to_another_is_dropped(void **state)
{
	uint32_t listener, id;
	uint16_t port;

	listener = cm_listener(fd, RDMA_PS_TCP, CM_DPU, LISTENER, &port);
	id = cm_routed(fd, RDMA_PS_TCP, CM_DPU, port, ACTIVE);
	assert_int_equal(set_pkey("0x7fff"), 0);
	assert_int_equal(cm_connect(fd, id, NULL, 0), 0);
	let_messages_arrive(listener);
	assert_false(cm_readable(fd, 0));
	assert_int_equal(set_pkey("0xffff"), 0);
}

static void removed_device_ends_its_ids(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t id, any;

	assert_int_equal(cm_create(fd, RDMA_PS_TCP, ACTIVE, &id), 0);
	assert_int_equal(cm_create(fd, RDMA_PS_TCP, 1, &any), 0);
	assert_int_equal(cm_bind(fd, id, CM_DPU, 0), 0);
	assert_int_equal(cm_bind(fd, any, "0.0.0.0", 0), 0);
	assert_int_equal(fault("device"), 0);
	e = cm_expect(fd, CM_DEVICE_REMOVAL);
	assert_int_equal(e.uid, ACTIVE);
	assert_false(cm_readable(fd, 0));
	assert_int_equal(cm_route(fd, id), EIO);
	assert_int_equal(fault("clear"), 0);
	assert_int_equal(cm_destroy(fd, id, NULL), 0);
	assert_int_equal(cm_listen(fd, any, 0), 0);
}

#define cm_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cm_test(device_is_a_character_device_that_is_found),
		cm_test(other_descriptors_keep_their_errors),
		cm_test(malformed_commands_are_refused),
		cm_test(answer_that_cannot_be_stored_creates_nothing),
		cm_test(ids_belong_to_their_file),
		cm_test(events_can_be_polled_and_are_gone_with_their_id),
		cm_test(event_without_room_stays),
		cm_test(blocking_wait_ends_by_a_signal_or_an_event),
		cm_test(waiting_thread_can_be_cancelled),
		cm_test(wait_goes_on_when_another_file_takes_its_number),
		cm_test(descriptor_can_be_duplicated_inherited_and_passed_on),
		cm_test(ports_are_given_as_the_kernel_does),
		cm_test(host_address_is_bound_on_the_host_only),
		cm_test(address_without_a_device_is_an_event),
		cm_test(commands_in_the_wrong_state_are_refused),
		cm_test(an_option_needs_its_length_and_kind_of_id),
		cm_test(connection_begins_and_ends_in_the_kernels_order),
		cm_test(queue_pair_attributes_lead_to_the_peer),
		cm_test(rejection_brings_its_reason_and_data),
		cm_test(port_without_a_listener_is_rejected),
		cm_test(private_data_is_limited),
		cm_test(request_for_a_full_backlog_is_not_queued),
		cm_test(requests_end_with_their_listener),
		cm_test(destroyed_end_disconnects_the_other),
		cm_test(wildcard_listener_hears_every_address),
		cm_test(loopback_address_has_no_device),
		cm_test(datagram_service_is_resolved),
		cm_test(ids_can_have_gids_for_addresses),
		cm_test(path_of_a_program_replaces_the_route),
		cm_test(group_is_joined_and_left),
		cm_test(id_migrates_with_its_events),
		cm_test(id_migrates_to_its_own_file),
		cm_test(removed_device_ends_its_ids),
		cm_test(port_without_the_partition_has_no_queue_pairs),
		cm_test(request_of_a_limited_member_to_another_is_dropped),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
