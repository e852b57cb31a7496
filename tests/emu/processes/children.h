/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* This program as another process on a function of the card, which is told what to do, and stopped and continued. */
#ifndef DPUMAP_TESTS_CHILDREN_H
#define DPUMAP_TESTS_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CHILD_ENV "DPUMAP_TEST_SOCKET"

struct child {
	pid_t pid;
	int socket;
};

/* Messages between a child and its parent; false: the other one has ended. */
bool child_tell(int socket, const void *what, size_t len);
bool child_hear(int socket, void *what, size_t len);
/* The same without a content. */
bool child_signal(int socket);
bool child_await(int socket);

/* The parent's side; these fail the test. The child hears `part` first. */
void child_start(struct child *c, const char *as, int part);
void child_stop(const struct child *c);
void child_continue(const struct child *c);
void child_finish(struct child *c);
/* It ends by a signal. */
void child_finish_by(struct child *c, int number);

/* The thread of its engine, 0 if that has not begun; stopped while the others run. False: not possible here. */
pid_t child_engine(const struct child *c);
bool child_stop_thread(pid_t thread);
/* True as well if its process has ended: over the wire, other threads may do the work of the engine. */
bool child_continue_thread(pid_t thread);

#endif
