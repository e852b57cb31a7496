/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "answers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

#define UNTOUCHED    0xee
#define MOST_OBJECTS 256

int answers_fd = -1;
uint8_t *answers_ring, *answers_constant;
uint32_t answers_doorbells;

/* --- random numbers -------------------------------------------------------------------------- */

static uint64_t state;

bool drawing(void)
{
	return state != 0;
}

uint32_t draw(uint32_t below)
{
	if (!state)
		return 0;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % below);
}

/* --- objects --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint16_t object, method, attr;
} types[] = {
	[NO_TYPE] = {"none", 0, 0, 0},
	[PD] = {"pd", UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 0},
	[CQ] = {"cq", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 0},
	[QP] = {"qp", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 0},
	[SRQ] = {"srq", UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, 0},
	[MR] = {"mr", UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 0},
	[MW] = {"mw", UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, 0},
	[AH] = {"ah", UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 0},
	[XRCD] = {"xrcd", UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, 0},
	[DM] = {"dm", UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, 0},
	[UAR] = {"uar", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, 0x1000},
	[UMEM] = {"umem", MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, 0x1000},
	[MKEY] = {"mkey", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, 0x1000},
	[DEVX_PD] = {"devx_pd", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, 0x1000},
};

static struct {
	enum type type;
	unsigned int serial; /* its number among those of its type */
	uint32_t handle;
} pool[MOST_OBJECTS];
static uint32_t pooled;
static unsigned int serials[NTYPES];

void pool_add(enum type type, uint32_t handle)
{
	if (pooled == MOST_OBJECTS)
		return;
	pool[pooled].type = type;
	pool[pooled].serial = ++serials[type];
	pool[pooled++].handle = handle;
}

void pool_drop(uint32_t index)
{
	memmove(&pool[index], &pool[index + 1], (--pooled - index) * sizeof(pool[0]));
}

/* CQs, QPs and SRQs say how many events they reported. */
int pool_destroy(enum type type, uint32_t handle)
{
	uint8_t answer[8];
	union command c;

	begin(&c, types[type].object, types[type].method);
	add(&c, types[type].attr, 0, handle);
	if (type == CQ || type == QP || type == SRQ)
		add_buf(&c, 1, answer, type == CQ ? 8 : 4);
	return issue(answers_fd, &c);
}

uint32_t pool_handle(enum type type)
{
	for (uint32_t i = 0; i < pooled; i++)
		if (pool[i].type == type)
			return pool[i].handle;
	return MISSING;
}

static void note(struct call *c, const char *name, unsigned int serial)
{
	size_t len = strlen(c->objects);

	snprintf(c->objects + len, sizeof(c->objects) - len, " %s%u", name, serial);
}

uint32_t pick(struct call *c, enum type type)
{
	uint32_t found = 0, nth, what;

	if (!drawing())
		return pool_handle(type);
	what = draw(16);
	for (uint32_t i = 0; i < pooled; i++)
		found += pool[i].type == type;
	if (!what || (!found && what < 8) || !pooled) {
		note(c, "missing", 0);
		return MISSING;
	}
	nth = draw(what == 1 || !found ? pooled : found);
	for (uint32_t i = 0; i < pooled; i++)
		if ((what == 1 || !found || pool[i].type == type) && !nth--) {
			note(c, types[pool[i].type].name, pool[i].serial);
			return pool[i].handle;
		}
	return MISSING;
}

static uint32_t other_type(enum type type)
{
	return pool_handle(type == PD ? CQ : PD);
}

/* --- calls ----------------------------------------------------------------------------------- */

static size_t place(const struct call *c, uint16_t id)
{
	size_t i = 0;

	while (c->request->args[i].id != id)
		i++;
	return i;
}

void *payload(struct call *c, uint16_t id)
{
	return c->bytes[place(c, id)];
}

void put(struct call *c, uint16_t id, const void *from, size_t len)
{
	memcpy(payload(c, id), from, len);
}

void put_value(struct call *c, uint16_t id, uint64_t value)
{
	put(c, id, &value, sizeof(value));
}

/* What is done to one argument. */
enum how {
	AS_IT_IS,
	LEFT_OUT,
	TWICE,
	SHORTER,
	EMPTY,
	LONGER_BY_ZEROS,
	LONGER,
	NO_MEMORY,
	MISSING_OBJECT,
	OTHER_OBJECT,
	WITH_LENGTH,
	WITH_RESERVED,
	NUM_HOW,
};

static const char *const how_names[] = {
	[AS_IT_IS] = "",
	[LEFT_OUT] = "missing",
	[TWICE] = "twice",
	[SHORTER] = "one byte less",
	[EMPTY] = "empty",
	[LONGER_BY_ZEROS] = "with zeros behind",
	[LONGER] = "with ones behind",
	[NO_MEMORY] = "without memory",
	[MISSING_OBJECT] = "of a missing object",
	[OTHER_OBJECT] = "of another type",
	[WITH_LENGTH] = "with a length",
	[WITH_RESERVED] = "with a reserved bit",
};

static bool applies(const struct arg *a, enum how how)
{
	bool is_buffer = a->kind == INPUT || a->kind == OUTPUT;

	switch (how) {
	case SHORTER:
	case EMPTY:
	case NO_MEMORY:
		return is_buffer && a->len && (how != NO_MEMORY || a->kind == OUTPUT || a->len > 8);
	case LONGER_BY_ZEROS:
	case LONGER:
		return a->kind == INPUT;
	case MISSING_OBJECT:
	case OTHER_OBJECT:
		return a->kind == OBJECT;
	case WITH_LENGTH:
		return !is_buffer;
	default:
		return true;
	}
}

static size_t changed_len(const struct arg *a, enum how how)
{
	switch (how) {
	case SHORTER:
		return a->len - 1u;
	case EMPTY:
		return 0;
	case LONGER_BY_ZEROS:
	case LONGER:
		return a->len + 8u;
	case WITH_LENGTH:
		return 4;
	default:
		return a->len;
	}
}

/* Some bytes that are readable behind an argument. */
static uint8_t behind[MOST_ARGS][ARG_ROOM];

static uint64_t changed_data(struct call *c, size_t i, enum how how, size_t len)
{
	const struct arg *a = &c->request->args[i];
	uint64_t data = 0;

	if (how == NO_MEMORY)
		return (uintptr_t)ring + RING_BYTES; /* nothing is mapped there */
	if (how == MISSING_OBJECT)
		return MISSING;
	if (how == LONGER) {
		memcpy(behind[i], c->bytes[i], a->len);
		memset(behind[i] + a->len, 0xff, 8);
	} else {
		memcpy(behind[i], c->bytes[i], ARG_ROOM);
	}
	if (a->kind == OUTPUT) {
		memset(c->bytes[i], UNTOUCHED, ARG_ROOM);
		return (uintptr_t)c->bytes[i];
	}
	if (a->kind == INPUT && len > sizeof(data))
		return (uintptr_t)behind[i];
	memcpy(&data, behind[i], a->kind == INPUT && len ? len : sizeof(data));
	return data;
}

static void add_arg(union command *u, struct call *c, size_t i, enum how how)
{
	const struct arg *a = &c->request->args[i];
	size_t len = changed_len(a, how);
	struct ib_uverbs_attr *at = add(u, a->id, (uint16_t)len, changed_data(c, i, how, len));

	if (how == WITH_RESERVED)
		at->attr_data.reserved = 1;
}

/* The type of the object that an argument names follows from its valid value. */
static void use_other_object(struct call *c, size_t i)
{
	uint32_t handle = 0;

	memcpy(&handle, c->bytes[i], sizeof(handle));
	handle = other_type(handle == pool_handle(PD) ? PD : CQ);
	memcpy(c->bytes[i], &handle, sizeof(handle));
}

/* Returns the errno. */
static int send_call(struct call *c, size_t which, enum how how)
{
	union command u;
	int err;

	begin(&u, c->request->object, c->request->method);
	if (c->request->write)
		add(&u, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), c->request->write);
	if (how == OTHER_OBJECT)
		use_other_object(c, which);
	for (size_t i = 0; c->request->args[i].kind; i++) {
		enum how now = i == which ? how : AS_IT_IS;

		if (now == LEFT_OUT || c->left_out[i])
			continue;
		add_arg(&u, c, i, now);
		if (now == TWICE)
			add_arg(&u, c, i, AS_IT_IS);
	}
	err = issue(answers_fd, &u);
	for (size_t i = 0, k = c->request->write ? 1 : 0; c->request->args[i].kind; i++) {
		if (c->left_out[i] || (i == which && how == LEFT_OUT))
			continue;
		if (c->request->args[i].kind == NEW)
			memcpy(c->bytes[i], &u.hdr.attrs[k].data, sizeof(uint64_t));
		k += i == which && how == TWICE ? 2 : 1;
	}
	return err;
}

static int devx_on_object(union command *c, uint16_t base, uint32_t handle, void *in, size_t in_len,
			  void *out, size_t out_len)
{
	memset(out, 0, out_len);
	add(c, base, 0, handle);
	add_buf(c, base + 1, in, in_len);
	add_buf(c, base + 2, out, out_len);
	return issue(answers_fd, c);
}

int devx_query(uint32_t handle, void *in, size_t in_len, void *out, size_t out_len)
{
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	return devx_on_object(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle, in, in_len, out,
			      out_len);
}

int devx_modify(uint32_t handle, void *in, size_t in_len, void *out, size_t out_len)
{
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	return devx_on_object(&c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle, in, in_len, out,
			      out_len);
}

/* --- lines ----------------------------------------------------------------------------------- */

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

void say_errno(int err)
{
	say(": %s", err ? strerrorname_np(err) : "ok");
}

static bool is_untouched(const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] != UNTOUCHED)
			return false;
	return true;
}

static void say_answer(struct call *c, const struct answer *a)
{
	const uint8_t *at = (const uint8_t *)payload(c, a->arg) + a->at;
	uint64_t value = 0;

	if (is_untouched(at, a->width)) {
		say(" %s=-", a->name);
		return;
	}
	for (size_t i = a->width; i--;)
		value = value << 8 | at[i];
	if (a->show == SET)
		say(" %s=%s", a->name, value ? "set" : "0");
	else
		say(value > 99999 ? " %s=0x%lx" : " %s=%lu", a->name, value);
}

static void say_end(struct call *c, int err)
{
	say_errno(err);
	for (const struct answer *a = c->request->answers; !err && a && a->name; a++)
		say_answer(c, a);
	say("\n");
}

/* --- sweeps ---------------------------------------------------------------------------------- */

static void prepare(struct call *c, const struct request *command)
{
	use_memory();
	memset(c, 0, sizeof(*c));
	c->request = command;
	if (command->fill)
		command->fill(c);
}

static uint32_t new_handle(struct call *c)
{
	uint32_t handle;

	memcpy(&handle, payload(c, c->request->handle), sizeof(handle));
	return handle;
}

static void undo(struct call *c)
{
	int err = pool_destroy(c->request->creates, new_handle(c));

	if (err)
		say("%s: its object cannot be destroyed: %s\n", c->request->name,
		    strerrorname_np(err));
}

static void one(struct call *c, size_t which, enum how how)
{
	int err = send_call(c, which, how);

	say_end(c, err);
	if (!err && c->request->creates)
		undo(c);
}

int keep(const struct request *command)
{
	struct call c;
	int err;

	prepare(&c, command);
	say("%s, kept", command->name);
	err = send_call(&c, MOST_ARGS, AS_IT_IS);
	say_end(&c, err);
	if (!err && command->creates)
		pool_add(command->creates, new_handle(&c));
	return err;
}

int make_numbered(const struct request *command, uint16_t answer, uint32_t *handle,
		  uint32_t *number)
{
	struct call c;
	int err;

	prepare(&c, command);
	err = send_call(&c, MOST_ARGS, AS_IT_IS);
	if (err) {
		say("%s fails", command->name);
		say_errno(err);
		say("\n");
		return err;
	}
	*handle = new_handle(&c);
	memcpy(number, payload(&c, answer), sizeof(*number));
	return 0;
}

static uint64_t read_field(const struct field *f, struct call *c)
{
	uint64_t value = 0;

	memcpy(&value, (uint8_t *)payload(c, f->arg) + f->at, f->width);
	return value;
}

static void write_field(const struct field *f, struct call *c, uint64_t value)
{
	memcpy((uint8_t *)payload(c, f->arg) + f->at, &value, f->width);
}

/* The n-th value of a field, and its name; false after the last one. */
static bool nth_value(const struct field *f, uint64_t valid, unsigned int n, uint64_t *value,
		      char name[32])
{
	const uint64_t most = f->width == 8 ? UINT64_MAX : (1ull << 8 * f->width) - 1;
	const uint64_t counts[] = {0,	1,    2,     3,	    5,	   31,	     32,	64,
				   255, 1000, 32767, 32768, 65535, 1u << 22, INT32_MAX, most};
	const uint64_t lengths[] = {0,		1,	    PAGE - 1,
				    PAGE,	RING_BYTES, RING_BYTES + 1,
				    1ull << 40, INT64_MAX,  UINT64_MAX};
	const struct {
		const char *name;
		uint64_t value;
	} addresses[] = {
		{"0", 0},
		{"valid+1", valid + 1},
		{"valid+4", valid + 4},
		{"valid+8", valid + 8},
		{"valid+64", valid + 64},
		{"valid+page", valid + PAGE},
		{"nowhere", (uintptr_t)ring + RING_BYTES},
		{"read-only", (uintptr_t)constant},
		{"last page", (uintptr_t)ring + RING_BYTES - PAGE},
		{"most", UINT64_MAX},
		{"kernel", 0xffff888000000000u},
	};

	snprintf(name, 32, "%s", "");
	switch (f->values) {
	case COUNT:
		if (n >= ARRAY_SIZE(counts) || counts[n] > most)
			return false;
		*value = counts[n];
		break;
	case CODE:
		if (n > 12)
			return false;
		*value = n == 12 ? most : n;
		break;
	case FLAGS:
		if (n >= 8u * f->width)
			return false;
		*value = valid ^ 1ull << n;
		break;
	case ADDRESS:
		if (n >= ARRAY_SIZE(addresses))
			return false;
		*value = addresses[n].value;
		snprintf(name, 32, "%s", addresses[n].name);
		return true;
	case LENGTH:
		if (n >= ARRAY_SIZE(lengths) || (f->width < 8 && lengths[n] > most))
			return false;
		*value = lengths[n];
		break;
	case HANDLE:
		if (n > 1)
			return false;
		*value = n ? other_type(valid == pool_handle(PD) ? PD : CQ) : MISSING;
		snprintf(name, 32, "%s", n ? "another type" : "missing");
		return true;
	case NUMBER:
		if (n)
			return false;
		*value = MISSING;
		snprintf(name, 32, "missing");
		return true;
	case ZERO:
		if (n)
			return false;
		*value = 1;
		break;
	default:
		return false;
	}
	snprintf(name, 32, "0x%lx", *value);
	return true;
}

static void sweep_field(const struct request *command, const struct field *f)
{
	uint64_t value;
	char name[32];
	struct call c;

	for (unsigned int n = 0;; n++) {
		prepare(&c, command);
		if (!nth_value(f, read_field(f, &c), n, &value, name))
			return;
		write_field(f, &c, value);
		say("%s %s=%s", command->name, f->name, name);
		one(&c, MOST_ARGS, AS_IT_IS);
	}
}

void sweep_fields(const struct request *command, const char *which)
{
	for (const struct field *f = command->fields; f && f->name; f++)
		if (!which || !strcmp(f->name, which))
			sweep_field(command, f);
}

static void sweep_args(const struct request *command)
{
	struct call c;

	for (size_t i = 0; command->args[i].kind; i++)
		for (enum how how = LEFT_OUT; how < NUM_HOW; how++) {
			if (!applies(&command->args[i], how))
				continue;
			prepare(&c, command);
			say("%s attribute 0x%x %s", command->name, command->args[i].id,
			    how_names[how]);
			one(&c, i, how);
		}
}

void sweep(const struct request *command)
{
	struct call c;

	prepare(&c, command);
	say("%s", command->name);
	one(&c, MOST_ARGS, AS_IT_IS);
	sweep_args(command);
	sweep_fields(command, NULL);
}

/* --- random calls ---------------------------------------------------------------------------- */

static bool change_at_random(struct call *c)
{
	const struct field *f = c->request->fields;
	unsigned int n = 0, nth;
	uint64_t value;
	char name[32];

	while (f && f[n].name)
		n++;
	if (!n || draw(3))
		return false;
	f += draw(n);
	nth = draw(16);
	if (!nth_value(f, read_field(f, c), nth, &value, name))
		return false;
	write_field(f, c, value);
	say(" %s=%s", f->name, name);
	return true;
}

static void destroy_at_random(void)
{
	uint32_t i = draw(pooled);
	int err = pool_destroy(pool[i].type, pool[i].handle);

	say("%s.destroy %s%u", types[pool[i].type].name, types[pool[i].type].name, pool[i].serial);
	say_errno(err);
	say("\n");
	if (!err)
		pool_drop(i);
}

void random_call(const struct request *const *commands, size_t n)
{
	const struct request *command = commands[draw((uint32_t)n)];
	struct call c;
	bool changed;
	int err;

	if (pooled > 40 || (pooled && !draw(4))) {
		destroy_at_random();
		return;
	}
	prepare(&c, command);
	say("%s%s", command->name, c.objects);
	changed = change_at_random(&c);
	err = send_call(&c, MOST_ARGS, AS_IT_IS);
	say_end(&c, err);
	if (err || !command->creates)
		return;
	if (changed)
		undo(&c);
	else
		pool_add(command->creates, new_handle(&c));
}

void ask_at_random(uint32_t seed, unsigned int steps)
{
	use_memory();
	pooled = 0;
	memset(serials, 0, sizeof(serials));
	state = seed * 0x9e3779b97f4a7c15u | 1;
	for (unsigned int i = 0; i < steps; i++) {
		say("seed %u step %u: ", seed, i);
		random_call(random_requests, num_random);
	}
	state = 0;
}
