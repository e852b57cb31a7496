/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processes that tests start, and bytes to and from them. */
#ifndef DPUMAP_TESTS_PROCESS_H
#define DPUMAP_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

/* Is --emu the dpumap-emu that runs this program? On real devices it is another program. */
bool process_is_emulated(void);

/* Is it translated for another processor (qemu), and its system calls as well? */
bool process_is_translated(void);

/* Start a program with pipes to its stdin and from its stdout; NULL: it inherits that one. */
pid_t process_spawn(const char *const argv[], int *to, int *from);
/* The same on that function, as `dpumap-emu run --as AS -- ARGV...` does. */
pid_t process_spawn_as(const char *as, const char *const argv[], int *to, int *from);
/* Start this program as "dpu" or "host"; the environment `env` has the number of its socket. */
pid_t process_spawn_self(const char *as, const char *env, int *socket);
/* The socket that `env` names; -1 in a process that process_spawn_self() did not start. */
int process_inherited(const char *env);
/* Wait for its end; returns the status of waitpid(), or -1. */
int process_reap(pid_t pid);
/* The same; returns its exit code, or minus the signal that ended it. */
int process_exit_code(pid_t pid);
/* Run a program to its end; its exit code. */
int process_run(const char *const argv[]);

/* A process that serves the parent. */
struct process {
	pid_t pid;
	int to, from; /* the same if it is a socket */
};

/* This program with --be-peer, on that function: its stdin and stdout are pipes. */
bool process_start_peer(struct process *peer, const char *as);
/* This program on that function: its socket is process_inherited(env). */
bool process_start_on_socket(struct process *peer, const char *as, const char *env);
/* Close its pipes or socket, so it ends; true if its exit code is 0. */
bool process_finish(struct process *peer);
/* End it by SIGKILL; true if that ended it. */
bool process_kill(struct process *peer);

/* Transfer all of it through a pipe or a socket; false if the peer has closed it. */
bool process_send(int fd, const void *buf, size_t len);
bool process_receive(int fd, void *buf, size_t len);

/* Connect to a Unix socket of packets; returns a descriptor, or -1. */
int process_connect(const char *path);
/* One message over a Unix socket, with a file descriptor. */
bool process_send_fd(int socket, int fd, const void *data, size_t len);
/* Receive a message of that length; returns its descriptor, or -1. */
int process_receive_fd(int socket, void *data, size_t len);

#endif
