/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two connection managers, a clock that the test turns, and a fabric that loses what the test wants. */
#ifndef CM_FIXTURE_H
#define CM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/server/cm/cm.h"

#define SERVICE	   0x0000000001061234u
#define MAX_EVENTS 64

struct machine {
	struct emu_cm *cm;
	uint8_t gid[16];
	bool listens;
	int verdict; /* what the handler of events returns */
	uint64_t wake;
	struct {
		enum emu_cm_event_type type;
		struct emu_cm_conn *conn;
		struct emu_cm_msg msg;
		bool has_msg;
	} event[MAX_EVENTS];
	unsigned int nevents, seen;
};

/* One message, for cm_deliver: what becomes of it. */
enum delivery { DELIVER, LOSE, DUPLICATE };

extern struct machine cm_a, cm_b;
extern uint64_t cm_clock;
/* Asked for every message, NULL: deliver all. */
extern enum delivery (*cm_deliver)(const struct emu_cm_msg *m);
extern unsigned int cm_sent[EMU_CM_ATTRS]; /* messages on the wire, by attribute */

int cm_setup(void **state);
int cm_teardown(void **state);
/* Deliver what is on its way, until nothing is. */
void cm_deliver_all(void);
/* Turn the clock to the next deadline of either machine, and deliver all. False: there is none. */
bool cm_next_deadline(void);
/* Inject bytes into a machine, as if the other had sent them. */
void cm_inject(struct machine *m, const struct emu_cm_msg *msg);

struct emu_cm_path cm_path_from(const struct machine *m);
/* The next event of a machine, which must be of this type. */
struct emu_cm_conn *cm_expect(struct machine *m, enum emu_cm_event_type type);
const struct emu_cm_msg *cm_last_msg(const struct machine *m);
void cm_expect_nothing(const struct machine *m);

/* a connects to b; what comes next is the caller's. */
struct emu_cm_conn *cm_connect(const void *data, size_t len);
int cm_reply(struct emu_cm_conn *c, const void *data, size_t len);
/* Both ends of an established connection. */
void cm_establish(struct emu_cm_conn **a, struct emu_cm_conn **b);

#endif
