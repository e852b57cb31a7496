/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One row for each command: its name in faults and traces, its handler, the attributes that it
 * knows, and the fields that a trace shows. The rows stand beside the handlers, in the table at the
 * end of each file.
 */
#ifndef EMU_METHOD_H
#define EMU_METHOD_H

#include <stdbool.h>
#include <stdint.h>

struct emu_cmd;

enum emu_attr_kind {
	EMU_A_END,    /* of a method's list */
	EMU_A_IN,     /* input of at least `min` bytes */
	EMU_A_VALUE,  /* input of exactly `min` bytes */
	EMU_A_STRUCT, /* input of at least `min` bytes, with zeros behind them */
	EMU_A_FLAGS,  /* input of 4 or 8 bytes */
	EMU_A_OUT,    /* output of at least `min` bytes */
	EMU_A_RESULT, /* output of exactly `min` bytes */
	EMU_A_OBJ,    /* handle of an object of type `min` */
	EMU_A_NEW,    /* handle of the object that the command creates */
	EMU_A_FD,     /* number of a descriptor */
	EMU_A_NEWFD,
	EMU_A_ENUM, /* one of `min` values, without data */
};

struct emu_attr_spec {
	uint16_t id;
	uint8_t kind;
	bool mandatory;
	uint16_t min;
};

/* How a trace prints a field. */
enum emu_format {
	EMU_DECIMAL,
	EMU_HEX,
	EMU_ADDRESS, /* hidden unless the trace shows addresses */
	EMU_ACCESS,  /* IBV_ACCESS_* */
	EMU_QP_TYPE,
	EMU_QP_STATE,
	EMU_GID, /* 16 bytes; hidden if it is zero */
};

enum emu_field_part {
	EMU_FIELD_IN,	/* `at` and `width` are bytes of an attribute */
	EMU_FIELD_OUT,	/* likewise */
	EMU_FIELD_MBOX, /* bits of a mailbox */
	EMU_FIELD_MBOX_OUT,
};

/* A field of a command that a trace shows. */
struct emu_field {
	const char *name; /* NULL: end of the list */
	enum emu_field_part part;
	uint16_t attr, at, width;
	enum emu_format format;
};

#define EMU_FIELD_OF(name, part, attr, at, width, format) \
	{                                                 \
		name, part, attr, at, width, format       \
	}

/* An input or an output that is an attribute of its own. */
#define EMU_IN(name, attr, width, format)  EMU_FIELD_OF(name, EMU_FIELD_IN, attr, 0, width, format)
#define EMU_OUT(name, attr, width, format) EMU_FIELD_OF(name, EMU_FIELD_OUT, attr, 0, width, format)
/* A member of the core struct of a legacy command, or of its response. */
#define EMU_MEMBER_AS(name, part, attr, type, member, format)         \
	EMU_FIELD_OF(name, part, attr, offsetof(struct type, member), \
		     sizeof(((struct type *)0)->member), format)
#define EMU_MEMBER(part, attr, type, member, format) \
	EMU_MEMBER_AS(#member, part, attr, type, member, format)
#define EMU_CORE_IN(type, member, format) \
	EMU_MEMBER(EMU_FIELD_IN, UVERBS_ATTR_CORE_IN, type, member, format)
#define EMU_CORE_IN_AS(name, type, member, format) \
	EMU_MEMBER_AS(name, EMU_FIELD_IN, UVERBS_ATTR_CORE_IN, type, member, format)
#define EMU_CORE_OUT(type, member, format) \
	EMU_MEMBER(EMU_FIELD_OUT, UVERBS_ATTR_CORE_OUT, type, member, format)
#define EMU_FIELDS_END EMU_FIELD_OF(NULL, EMU_FIELD_IN, 0, 0, 0, EMU_DECIMAL)

struct emu_command {
	const char *name;		/* NULL: it cannot be named, and is not traced */
	const struct emu_field *fields; /* NULL: none are shown */
};

/* A uverbs method. A table of methods ends with a row without a handler. */
struct emu_method {
	struct emu_command command;
	uint16_t object, method;
	uint16_t out_mailbox; /* the attribute that takes the firmware's answer; 0: none */
	bool outlives_device; /* it is executed although the device has failed */
	int (*handler)(struct emu_cmd *c);
	struct emu_attr_spec attr[18];
	/* The command that its payload carries (legacy or firmware command), or NULL; may be NULL. */
	const struct emu_command *(*payload)(const struct emu_cmd *c);
};

#endif
