/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A command to the kernel as a row of a table, from which its errors follow: each attribute missing, twice, too short,
 * too long, without memory or of a wrong object, and each field of its payload with values at the limits. Each call
 * prints one line: what differs from a valid command, the errno, and the answer without what depends on the machine.
 */
#ifndef DPUMAP_TESTS_ANSWERS_H
#define DPUMAP_TESTS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uverbs_queues.h"

#define MOST_ARGS   16
#define MOST_FIELDS 48
#define ARG_ROOM    384
#define MISSING	    0xdeadu /* no object has this handle or number */

enum type { NO_TYPE, PD, CQ, QP, SRQ, MR, MW, AH, XRCD, DM, UAR, UMEM, MKEY, DEVX_PD, NTYPES };

enum kind { END, NEW, OBJECT, INPUT, OUTPUT };

/* Values that a field gets one after the other. */
enum values {
	FIXED,	 /* none */
	COUNT,	 /* 0, 1, and limits of its width */
	CODE,	 /* all small numbers */
	FLAGS,	 /* the valid value with each bit changed */
	ADDRESS, /* beside the valid one, and without memory or without a right */
	LENGTH,	 /* of memory */
	HANDLE,	 /* a missing object, and one of another type */
	NUMBER,	 /* one that nothing has */
	ZERO,	 /* it is reserved */
};

struct field {
	const char *name; /* NULL: end of the list */
	uint16_t arg, at, width;
	enum values values;
};

/* What an answer has: its value, or only whether it is set, since kernels and cards choose it. */
enum show { VALUE, SET };

struct answer {
	const char *name;
	uint16_t arg, at, width;
	enum show show;
};

#define MEMBER(arg, type, member) \
	arg, offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define ASK(arg, type, member, values)                     \
	{                                                  \
#member, MEMBER(arg, type, member), values \
	}
#define SHOW(arg, type, member)                           \
	{                                                 \
#member, MEMBER(arg, type, member), VALUE \
	}
#define SHOW_SET(arg, type, member)                     \
	{                                               \
#member, MEMBER(arg, type, member), SET \
	}

struct arg {
	uint16_t id;
	enum kind kind;
	uint16_t len;
};

struct call;

struct request {
	const char *name;
	uint16_t object, method;
	uint32_t write; /* the number of a legacy command in INVOKE_WRITE */
	struct arg args[MOST_ARGS];
	const struct field *fields;
	const struct answer *answers;
	void (*fill)(struct call *c); /* with valid values */
	enum type creates;
	uint16_t handle; /* the attribute with the new object's handle: at its beginning */
};

struct call {
	const struct request *request;
	uint8_t bytes[MOST_ARGS][ARG_ROOM]; /* handles of objects too */
	bool left_out[MOST_ARGS];
	char objects[128]; /* the names of those that a random call uses */
};

extern int answers_fd; /* of the context */
extern uint8_t *answers_ring, *answers_constant;
extern uint32_t answers_doorbells;

/* Each file of this program has its own memory of uverbs_queues.h: make it the same. */
static inline void use_memory(void)
{
	ring = answers_ring;
	constant = answers_constant;
	doorbells = answers_doorbells;
}

/* The next random number below a limit; 0 before answers_seed(). */
uint32_t draw(uint32_t below);
bool drawing(void);

/* An object of the type: the first one; in random calls any, or one of another type, or a missing one. */
uint32_t pick(struct call *c, enum type type);
void *payload(struct call *c, uint16_t id);
void put(struct call *c, uint16_t id, const void *from, size_t len);
void put_value(struct call *c, uint16_t id, uint64_t value);

/* The objects of the context, by the order in which they were created. */
void pool_add(enum type type, uint32_t handle);
void pool_drop(uint32_t index);
uint32_t pool_handle(enum type type);
int pool_destroy(enum type type, uint32_t handle);

/* A command of the firmware on an object, through DEVX. Returns the errno. */
int devx_query(uint32_t handle, void *in, size_t in_len, void *out, size_t out_len);
int devx_modify(uint32_t handle, void *in, size_t in_len, void *out, size_t out_len);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The end of a line: an errno. */
void say_errno(int err);

/* A valid call, whose object is kept. Returns the errno. */
int keep(const struct request *command);
/* The same without a line, whose object is the caller's; its number is the first word of an answer. */
int make_numbered(const struct request *command, uint16_t answer, uint32_t *handle,
		  uint32_t *number);
/* All errors of a command; objects that a call creates are destroyed. */
void sweep(const struct request *command);
/* The fields only. */
void sweep_fields(const struct request *command, const char *which);
/*
 * A random command, valid or not. An object is kept if all values were valid: one difference does not lead to others.
 */
void random_call(const struct request *const *commands, size_t n);

/* The words of the context of a "qp", a "cq", an "rmp", an "xrc srq" or an "srq" (contexts.c). */
void say_context(const char *kind, const char *what, uint32_t handle, uint32_t number);

/* The tables. */
extern const struct request *const all_requests[];
extern const size_t num_requests;
/* Those of random sequences: what the function of a virtual machine lacks is not among them. */
extern const struct request *const random_requests[];
extern const size_t num_random;
extern const struct request *request_named(const char *name);

/* The sections of the program; each begins with a new context. */
void ask_verbs(void);
void ask_before_context(void);
void ask_queue_pairs(void);
void ask_contexts(void);
void ask_firmware(void);
void ask_completions(void);
void ask_event_files(void);
void ask_at_random(uint32_t seed, unsigned int steps);

#endif
