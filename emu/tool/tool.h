/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command line tool: what its files share. */
#ifndef EMU_TOOL_H
#define EMU_TOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#include "emu/ipc/proto.h"
#include "emu/server/card/profile.h"

#define EXIT_USAGE	    2
#define EXIT_EMU	    125 /* as env(1) and timeout(1): the tool itself failed */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND	    127
#define TOOL_MAX_CAPS	    16

struct options {
	char dir[PATH_MAX];
	const char *role;
	const char *cpus; /* of run */
	const char *config, *profile, *nodes, *cards;
	const char *cap[TOOL_MAX_CAPS];
	const char *gid[EMU_MAX_GID_LINES];
	const char *wire[EMU_MAX_ENDPOINTS];
	char **argv;	    /* the command of run */
	const char *socket; /* of pci */
	const char *plan;
	uint64_t seed, speed;
	struct emu_fault_request fault;
	struct emu_port_request port;
	struct emu_capture_request capture;
	const char *file, *peer; /* of capture */
	struct emu_topology_spec topology;
	unsigned int fault_words; /* enum fault_word: which were given */
	unsigned int port_words;  /* enum port_word: which were given */
	unsigned int ncaps, ngids, nwires;
	unsigned int interval_ms; /* of top */
	int ready_fd, hold_fd;
	bool dir_is_default; /* neither the user nor the environment names it */
	bool topology_given; /* the server's --node options */
	unsigned int trace_flags;
	bool json;
	bool seed_given, dry_run, once, foreground;
	bool list_faults; /* `fault' without a kind and options */
	bool wire_only, local_only;
};

/* control.c */
/* Connect to the emulator of a directory. Returns a descriptor or a negative errno. */
int tool_connect(const char *dir);
/* The same, with an error message. */
int tool_connect_running(const struct options *o);
const char *tool_error(int err);
/* Print an error, with --json also as JSON. */
void tool_fail(const struct options *o, int err, const char *what, const char *why);
/*
 * Send a request to the running emulator, and wait for its answer however long that takes. Returns the connection, or a
 * negative errno after an error message.
 */
int tool_request(const struct options *o, const struct emu_request *req, size_t len);
/* Send a request and receive its answer: 0 or a negative errno; -EAGAIN: the time limit of the socket. */
int tool_exchange(int fd, const void *req, size_t len, struct emu_reply *rep);
/* The text that follows the answer to some requests; the caller frees it. NULL: there is none. */
char *tool_receive_text(int fd);
int tool_ask(int fd, uint32_t op, uint64_t arg, struct emu_reply *rep);

/* status.c */
/*
 * The status, which the caller puts. Returns 0 or a negative errno: -EPROTO if the server is ending,
 * -EPROTONOSUPPORT if it is of another build.
 */
int tool_ask_status(int fd, struct json_object **status);

/* The commands; each returns the tool's exit code. */
int tool_run(struct options *o);
int tool_start(struct options *o);
int tool_pci(struct options *o);
int tool_offer(struct options *o); /* internal: `pci' executes it */
int tool_serve(struct options *o); /* internal: `start' and `run' execute it */
int tool_status(struct options *o);
int tool_list(struct options *o);
int tool_stop(struct options *o);
int tool_trace(struct options *o);
/* `fault' without a kind and options: print the active faults. */
int tool_list_faults(struct options *o);
int tool_fault(struct options *o);
int tool_gid(struct options *o);
int tool_list_gids(struct options *o);
int tool_port(struct options *o);
int tool_chaos(struct options *o);
int tool_capture(struct options *o);
int tool_top(struct options *o);

/* list.c: does the emulator have the function? Else print which ones it has. */
bool tool_has_function(const char *dir, const char *role);
/* list.c: after the start of an emulator in the default directory: report other ones of this user. */
void tool_report_others(const struct options *o);

/* Options of `fault' that not every kind of fault has. */
enum fault_word {
	W_METHOD = 1 << 0,
	W_ERRNO = 1 << 1,
	W_STATUS = 1 << 2,
	W_SYNDROME = 1 << 3,
	W_LOSE = 1 << 4,
	W_DELAY = 1 << 5,
	W_LEFT = 1 << 6,
	W_NTH = 1 << 7,
	W_AS = 1 << 8,
	W_COUNT = 1 << 9,
	W_DUPLICATE = 1 << 10,
	W_SILENT = 1 << 11,
	W_RNR = 1 << 12,
	W_QPN = 1 << 13,
	W_PEER = 1 << 14,
	W_OFF = 1 << 15,
};

/* fault.c: parse an option of `fault'. Each returns NULL or an error message. */
const char *tool_fault_kind(struct options *o, const char *word);
const char *tool_fault_method(struct options *o, const char *arg);
const char *tool_fault_nth(struct options *o, const char *arg);
const char *tool_fault_count(struct options *o, const char *arg);
const char *tool_fault_errno(struct options *o, const char *arg);
const char *tool_fault_status(struct options *o, const char *arg);
const char *tool_fault_syndrome(struct options *o, const char *arg);
const char *tool_fault_lose(struct options *o, const char *arg);
const char *tool_fault_delay(struct options *o, const char *arg);
const char *tool_fault_duplicate(struct options *o, const char *arg);
const char *tool_fault_silent(struct options *o, const char *arg);
const char *tool_fault_rnr(struct options *o, const char *arg);
const char *tool_fault_qpn(struct options *o, const char *arg);
const char *tool_fault_peer(struct options *o, const char *arg);
const char *tool_fault_off(struct options *o, const char *arg);
const char *tool_fault_left(struct options *o, const char *arg);
/* Check that the options together are one fault. */
const char *tool_fault_check(const struct options *o);
void tool_fault_names(FILE *out);
/* Why the emulator refused a fault. */
const char *tool_fault_error(int err);
/* Complete the request from the options. */
void tool_fault_complete(struct options *o);
/* Does the first fault, when it is set, take the place of the second one? */
bool tool_fault_replaces(const struct emu_fault_request *a, const struct emu_fault_request *b);
/* The request that ends a fault. */
void tool_fault_end(const struct emu_fault_request *f, struct emu_fault_request *end);

/* main.c: parse the words of a fault as after `dpumap-emu fault'. Else `wrong' says what is wrong. */
bool tool_fault_parse(const char *words, struct emu_fault_request *r, char *wrong, size_t size);

/* Options of `gid' and `port' that not every action has. */
enum port_word {
	W_INDEX = 1 << 0,
	W_TYPE = 1 << 1,
	W_VLAN = 1 << 2,
	W_DEVICE = 1 << 3,
	W_JSON = 1 << 4,
};

/* port.c: a request without options; parse an option's value. Each returns NULL or an error message. */
void tool_port_default(struct emu_port_request *r);
const char *tool_port_index(struct emu_port_request *r, const char *arg);
const char *tool_port_type(struct emu_port_request *r, const char *arg);
const char *tool_port_vlan(struct emu_port_request *r, const char *arg);
const char *tool_port_device(struct emu_port_request *r, const char *arg);
/* Parse "FUNCTION ADDRESS [NAME=VALUE]...", the argument of --gid. */
const char *tool_port_parse_gid(const char *text, struct emu_port_request *r);
/* Parse "[FUNCTION=]ADDRESS [device=NAME]", the argument of --wire. "loopback" leaves the address zero. */
const char *tool_port_parse_wire(const char *text, struct emu_port_request *r);
/* Check the words of `gid' or `port' together with the options; `arg' may be NULL. */
const char *tool_port_check(struct options *o, const char *group, const char *name,
			    const char *arg);

/* capture.c: is the argument of --peer an IP address? And check the options together. */
bool tool_capture_peer(struct options *o, const char *arg);
const char *tool_capture_check(struct options *o, const char *file);

/* usage.c: what follows the options in the help of a command. */
void tool_more_machines(FILE *out);
void tool_more_faults(FILE *out);
void tool_more_chaos(FILE *out);

#endif
