/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rules of the transport, one case each, as data: tests/emu/unit/wire.txt says which packets a queue pair
 * gets, and which packets, completions and calls must follow. The file explains its words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/wire/aeth.h"
#include "emu/wire/qp.h"
#include "wire_calls.h"

#define MAX_CASES 192
#define MAX_LOG	  64
#define WORDS	  16
#define LINE	  256

struct name {
	const char *name;
	unsigned int value;
};

#define ROW(prefix, name)           \
	{                           \
#name, prefix##name \
	}

static const struct name operations[] = {
	ROW(WIRE_, SEND_FIRST),
	ROW(WIRE_, SEND_MIDDLE),
	ROW(WIRE_, SEND_LAST),
	ROW(WIRE_, SEND_LAST_IMM),
	ROW(WIRE_, SEND_ONLY),
	ROW(WIRE_, SEND_ONLY_IMM),
	ROW(WIRE_, WRITE_FIRST),
	ROW(WIRE_, WRITE_MIDDLE),
	ROW(WIRE_, WRITE_LAST),
	ROW(WIRE_, WRITE_LAST_IMM),
	ROW(WIRE_, WRITE_ONLY),
	ROW(WIRE_, WRITE_ONLY_IMM),
	ROW(WIRE_, READ_REQUEST),
	ROW(WIRE_, READ_FIRST),
	ROW(WIRE_, READ_MIDDLE),
	ROW(WIRE_, READ_LAST),
	ROW(WIRE_, READ_ONLY),
	ROW(WIRE_, ACK),
	ROW(WIRE_, ATOMIC_ACK),
	ROW(WIRE_, COMPARE_SWAP),
	ROW(WIRE_, FETCH_ADD),
	ROW(WIRE_, SEND_LAST_INV),
	ROW(WIRE_, SEND_ONLY_INV),
	ROW(WIRE_, CNP),
	{NULL, 0},
};

static const struct name works[] = {
	ROW(WIRE_WORK_, SEND),	       ROW(WIRE_WORK_, SEND_IMM),  ROW(WIRE_WORK_, SEND_INV),
	ROW(WIRE_WORK_, WRITE),	       ROW(WIRE_WORK_, WRITE_IMM), ROW(WIRE_WORK_, READ),
	ROW(WIRE_WORK_, COMPARE_SWAP), ROW(WIRE_WORK_, FETCH_ADD), {NULL, 0},
};

static const struct name answers[] = {
	ROW(WIRE_, DONE),
	ROW(WIRE_, LATER),
	ROW(WIRE_, NOT_READY),
	ROW(WIRE_, REFUSE_REQUEST),
	ROW(WIRE_, REFUSE_ACCESS),
	ROW(WIRE_, CANNOT),
	{NULL, 0},
};

static const struct name events[] = {
	ROW(WIRE_EVENT_, ESTABLISHED),	ROW(WIRE_EVENT_, REQUEST_ERROR),
	ROW(WIRE_EVENT_, ACCESS_ERROR), ROW(WIRE_EVENT_, ERROR),
	ROW(WIRE_EVENT_, SEND_ERROR),	{NULL, 0},
};

static const struct name services[] = {
	ROW(WIRE_, RC),
	ROW(WIRE_, UC),
	ROW(WIRE_, XRC),
	{NULL, 0},
};

#define SYNDROME(name, number, vendor, word, meaning) {#name, EMU_SYN_##name},
static const struct name syndromes[] = {{"OK", EMU_SYN_OK}, EMU_CQE_SYNDROMES(SYNDROME){NULL, 0}};

#define DROP(name, words) {#name, WIRE_DROP_##name},
static const struct name drops[] = {{"ACCEPTED", WIRE_ACCEPTED}, WIRE_DROPS(DROP){NULL, 0}};

#define COUNT(name, words) {#name, WIRE_COUNT_##name},
static const struct name counts[] = {WIRE_COUNTS(COUNT){NULL, 0}};

static unsigned int value_of(const struct name *table, const char *name)
{
	for (; table->name; table++) {
		if (!strcmp(table->name, name))
			return table->value;
	}
	fail_msg("unknown word %s", name);
	return 0;
}

static const char *name_of(const struct name *table, unsigned int value)
{
	for (; table->name; table++) {
		if (table->value == value)
			return table->name;
	}
	return "?";
}

/* What happened and was not asked for yet: "finished 0 OK", "write va=... len=4", "event ERROR". */
struct log {
	char line[MAX_LOG][LINE];
	unsigned int count, read;
};

static struct {
	struct wire_attr attr;
	struct wire_qp qp;
	bool open;
	uint64_t now;
	uint64_t cookies;
	struct log log;
	int receives;
	uint64_t room;
	enum wire_answer check_access, read, write, atomic, fill, invalidate;
	enum emu_syndrome gather, scatter;
	uint64_t original;
	unsigned int counts[WIRE_COUNT_COUNT];
} t;

__attribute__((format(printf, 1, 2))) static void record(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	(void)vsnprintf(t.log.line[t.log.count % MAX_LOG], LINE, format, args);
	va_end(args);
	assert_true(++t.log.count < MAX_LOG);
}

static enum emu_syndrome on_gather(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				   uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = (uint8_t)(at + i);
	return t.gather;
}

static enum emu_syndrome on_scatter(void *ctx, const struct wire_wr *wr, uint32_t at,
				    const uint8_t *in, uint32_t len)
{
	record("scatter %llu at=%u len=%u", (unsigned long long)wr->cookie, at, len);
	return t.scatter;
}

static void on_finished(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome)
{
	record("finished %llu %s", (unsigned long long)wr->cookie, name_of(syndromes, syndrome));
}

static enum wire_answer on_check_access(void *ctx, enum wire_access access,
					const struct wire_remote *m)
{
	return t.check_access;
}

static enum wire_answer on_read(void *ctx, const struct wire_remote *m, uint8_t *out)
{
	memset(out, 0, m->len);
	record("read va=%llx len=%u", (unsigned long long)m->va, m->len);
	return t.read;
}

static enum wire_answer on_write(void *ctx, const struct wire_remote *m, const uint8_t *in)
{
	record("write va=%llx len=%u", (unsigned long long)m->va, m->len);
	return t.write;
}

static enum wire_answer on_atomic(void *ctx, const struct wire_remote *m, enum wire_work work,
				  uint64_t swap_add, uint64_t compare, uint64_t *original)
{
	if (t.atomic == WIRE_DONE)
		record("atomic %s va=%llx", name_of(works, work), (unsigned long long)m->va);
	*original = t.original;
	return t.atomic;
}

static enum wire_answer on_take(void *ctx, uint32_t srqn, uint64_t *room)
{
	if (!t.receives)
		return WIRE_NOT_READY;
	t.receives--;
	*room = t.room;
	record("take srqn=%u", srqn);
	return WIRE_DONE;
}

static enum wire_answer on_fill(void *ctx, uint32_t at, const uint8_t *in, uint32_t len)
{
	record("fill at=%u len=%u", at, len);
	return t.fill;
}

static void on_put_back(void *ctx)
{
	t.receives++;
	record("put_back");
}

static enum wire_answer on_invalidate(void *ctx, uint32_t srqn, uint32_t rkey,
				      enum emu_syndrome *why)
{
	*why = EMU_SYN_MW_BIND;
	if (t.invalidate != WIRE_LATER)
		record("invalidate rkey=%x", rkey);
	return t.invalidate;
}

static void on_received(void *ctx, const struct wire_receipt *r)
{
	if (r->syndrome != EMU_SYN_OK)
		record("received %s", name_of(syndromes, r->syndrome));
	else
		record("received %s len=%u imm=%x%s", name_of(works, r->work), r->len, r->imm,
		       r->solicited ? " solicited" : "");
}

static int on_receives(void *ctx)
{
	return t.receives;
}

static void on_event(void *ctx, enum wire_event event)
{
	if (event != WIRE_EVENT_ESTABLISHED)
		record("event %s", name_of(events, event));
}

static void on_count(void *ctx, enum wire_count what)
{
	t.counts[what]++;
}

static const struct wire_ops ops = WIRE_CALLS;

/* The words of a line; "name=value" and flags are looked up among them. */
struct words {
	char text[LINE];
	char *word[WORDS];
	unsigned int count;
};

static void split(const char *line, struct words *w)
{
	char *save = NULL;

	(void)snprintf(w->text, sizeof(w->text), "%s", line);
	w->count = 0;
	for (char *word = strtok_r(w->text, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save)) {
		assert_true(w->count < WORDS);
		w->word[w->count++] = word;
	}
}

static const char *find(const struct words *w, const char *name)
{
	size_t len = strlen(name);

	for (unsigned int i = 1; i < w->count; i++) {
		if (!strncmp(w->word[i], name, len) && w->word[i][len] == '=')
			return w->word[i] + len + 1;
	}
	return NULL;
}

static bool flag(const struct words *w, const char *name)
{
	for (unsigned int i = 1; i < w->count; i++) {
		if (!strcmp(w->word[i], name))
			return true;
	}
	return false;
}

static uint64_t number(const struct words *w, const char *name, uint64_t otherwise)
{
	const char *text = find(w, name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void start(void)
{
	memset(&t, 0, sizeof(t));
	t.now = 1000;
	t.room = 1u << 20;
	t.attr = (struct wire_attr){
		.service = WIRE_RC,
		.qpn = 0x10,
		.dest_qpn = 0x20,
		.mtu = 256,
		.pkey = 0xffff,
		.sq_psn = 100,
		.rq_psn = 200,
		.timeout = 10,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.min_rnr_timer = 12,
		.max_rd_atomic = 2,
		.max_dest_rd_atomic = 2,
		.window = 64,
	};
	t.attr.path.src[15] = 1;
	t.attr.path.dst[15] = 2;
}

static void set_attr(const struct words *w)
{
	struct wire_attr *a = &t.attr;

	a->service = find(w, "service") ? value_of(services, find(w, "service")) : a->service;
	a->mtu = (uint32_t)number(w, "mtu", a->mtu);
	a->pkey = (uint16_t)number(w, "pkey", a->pkey);
	a->sq_psn = (uint32_t)number(w, "sq_psn", a->sq_psn);
	a->rq_psn = (uint32_t)number(w, "rq_psn", a->rq_psn);
	a->timeout = (uint8_t)number(w, "timeout", a->timeout);
	a->retry_cnt = (uint8_t)number(w, "retry_cnt", a->retry_cnt);
	a->rnr_retry = (uint8_t)number(w, "rnr_retry", a->rnr_retry);
	a->max_rd_atomic = (uint8_t)number(w, "max_rd_atomic", a->max_rd_atomic);
	a->max_dest_rd_atomic = (uint8_t)number(w, "max_dest_rd_atomic", a->max_dest_rd_atomic);
	a->window = (uint32_t)number(w, "window", a->window);
}

static enum wire_answer answer(const struct words *w, const char *call, enum wire_answer now)
{
	const char *word = find(w, call);

	return word ? value_of(answers, word) : now;
}

static void set_answers(const struct words *w)
{
	t.check_access = answer(w, "check_access", t.check_access);
	t.read = answer(w, "read", t.read);
	t.write = answer(w, "write", t.write);
	t.atomic = answer(w, "atomic", t.atomic);
	t.fill = answer(w, "fill", t.fill);
	t.invalidate = answer(w, "invalidate", t.invalidate);
	t.gather = find(w, "gather") ? value_of(syndromes, find(w, "gather")) : t.gather;
	t.scatter = find(w, "scatter") ? value_of(syndromes, find(w, "scatter")) : t.scatter;
	t.original = number(w, "original", t.original);
	t.room = number(w, "room", t.room);
	t.receives = (int)number(w, "receives", (uint64_t)t.receives);
}

static void post(const struct words *w)
{
	struct wire_wr wr = {
		.cookie = t.cookies++,
		.work = (uint8_t)value_of(works, w->word[1]),
		.len = (uint32_t)number(w, "len", 0),
		.raddr = number(w, "va", 0x1000),
		.rkey = (uint32_t)number(w, "rkey", 7),
		.imm = (uint32_t)number(w, "imm", 0),
		.srqn = (uint32_t)number(w, "srqn", 0),
		.fence = flag(w, "fence"),
		.solicited = flag(w, "solicited"),
	};

	assert_int_equal(wire_qp_post(&t.qp, &wr), !flag(w, "refused"));
}

static struct wire_packet described(const struct words *w)
{
	uint8_t operation = (uint8_t)value_of(operations, w->word[1]);
	struct wire_packet p = {
		.opcode = operation == WIRE_CNP ? operation : (uint8_t)(t.attr.service | operation),
		.psn = (uint32_t)number(w, "psn", 0),
		.len = (uint32_t)number(w, "len", operation == WIRE_CNP ? WIRE_CNP_BYTES : 0),
		.ack_req = flag(w, "ack"),
		.solicited = flag(w, "solicited"),
		.migrated = flag(w, "migrated"),
		.pkey = (uint16_t)number(w, "pkey", 0xffff),
		.dest_qpn = (uint32_t)number(w, "qpn", t.attr.qpn),
		.va = number(w, "va", 0x1000),
		.rkey = (uint32_t)number(w, "rkey", 7),
		.dma_len = (uint32_t)number(w, "dma_len", 0),
		.syndrome = (uint8_t)number(w, "syndrome", WIRE_ACK_UNLIMITED),
		.msn = (uint32_t)number(w, "msn", 0),
		.original = number(w, "original", 0),
		.imm = (uint32_t)number(w, "imm", 0),
		.invalidate = (uint32_t)number(w, "imm", 0),
		.srqn = (uint32_t)number(w, "srqn", 0),
	};

	return p;
}

/* A packet comes in: through its bytes, as on a network. "in OP ... -> DROP". */
static void input(struct words *w)
{
	uint8_t bytes[WIRE_MAX_PACKET] = {0};
	struct wire_path from = {.tclass = flag(w, "congested") ? 3 : 2};
	struct wire_packet p = described(w);
	enum wire_drop expected = WIRE_ACCEPTED;
	enum wire_drop drop;
	size_t len = wire_build(&p, bytes) + p.len;

	from.src[15] = (uint8_t)number(w, "from", 2);
	from.dst[15] = 1;
	if (w->count > 3 && !strcmp(w->word[w->count - 2], "->"))
		expected = value_of(drops, w->word[w->count - 1]);
	drop = wire_parse(bytes, ((len + 3) & ~(size_t)3) + WIRE_ICRC, &p);
	if (drop == WIRE_ACCEPTED)
		drop = wire_qp_input(&t.qp, t.now, &from, &p);
	assert_string_equal(name_of(drops, drop), name_of(drops, expected));
}

static void check_number(const struct words *w, const char *name, uint64_t got)
{
	uint64_t expected = number(w, name, got);

	if (got != expected)
		fail_msg("%s is 0x%llx instead of 0x%llx", name, (unsigned long long)got,
			 (unsigned long long)expected);
}

/* The next packet that goes out: "out OP psn=... [ack]", or "out -": none. */
static void output(const struct words *w)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_packet p;
	size_t len = wire_qp_output(&t.qp, t.now, bytes);

	if (!strcmp(w->word[1], "-")) {
		assert_int_equal(len, 0);
		return;
	}
	assert_int_not_equal(len, 0);
	len = (len + 3) & ~(size_t)3;
	assert_int_equal(wire_parse(bytes, len + WIRE_ICRC, &p), WIRE_ACCEPTED);
	assert_string_equal(
		name_of(operations, p.opcode == WIRE_CNP ? p.opcode : WIRE_OPERATION(p.opcode)),
		w->word[1]);
	assert_int_equal(p.dest_qpn, t.attr.dest_qpn);
	check_number(w, "psn", p.psn);
	check_number(w, "len", p.len);
	check_number(w, "va", p.va);
	check_number(w, "rkey", p.rkey);
	check_number(w, "dma_len", p.dma_len);
	check_number(w, "syndrome", p.syndrome);
	check_number(w, "msn", p.msn);
	check_number(w, "original", p.original);
	check_number(w, "imm", p.op.headers & WIRE_H_IETH ? p.invalidate : p.imm);
	check_number(w, "srqn", p.srqn);
	assert_int_equal(p.ack_req, flag(w, "ack"));
	assert_int_equal(p.solicited, flag(w, "solicited"));
	for (uint32_t i = 1; i < p.len && find(w, "at"); i++)
		assert_int_equal(p.payload[i], (uint8_t)(number(w, "at", 0) + i));
}

/* The next line of the log; "log -": nothing else has happened. */
static void check_log(const char *line)
{
	char want[LINE];

	(void)snprintf(want, sizeof(want), "%s", line);
	want[strcspn(want, "\n")] = 0;
	if (!strcmp(want, "-")) {
		if (t.log.read < t.log.count)
			fail_msg("unexpected: %s", t.log.line[t.log.read]);
		return;
	}
	assert_true(t.log.read < t.log.count);
	assert_string_equal(t.log.line[t.log.read++], want);
}

/* "counted NAME=N...": these, and no others. */
static void check_counts(const struct words *w)
{
	for (unsigned int i = 0; i < WIRE_COUNT_COUNT; i++) {
		const char *name = name_of(counts, i);
		uint64_t expected = number(w, name, 0);

		if (t.counts[i] != expected)
			fail_msg("%s is %u instead of %llu", name, t.counts[i],
				 (unsigned long long)expected);
	}
}

static void step(const char *line)
{
	struct words w;

	split(line, &w);
	if (!w.count || w.word[0][0] == '#')
		return;
	if (!strcmp(w.word[0], "set")) {
		set_attr(&w);
		return;
	}
	if (!t.open) {
		wire_qp_open(&t.qp, &t.attr, &ops, NULL);
		t.open = true;
	}
	if (!strcmp(w.word[0], "answer"))
		set_answers(&w);
	else if (!strcmp(w.word[0], "post"))
		post(&w);
	else if (!strcmp(w.word[0], "in"))
		input(&w);
	else if (!strcmp(w.word[0], "out"))
		output(&w);
	else if (!strcmp(w.word[0], "log"))
		check_log(line + 4);
	else if (!strcmp(w.word[0], "counted"))
		check_counts(&w);
	else if (!strcmp(w.word[0], "wait"))
		t.now += strtoull(w.word[1], NULL, 0);
	else if (!strcmp(w.word[0], "fail"))
		wire_qp_fail(&t.qp);
	else if (!strcmp(w.word[0], "deadline"))
		assert_true(wire_qp_deadline(&t.qp) ==
			    (strcmp(w.word[1], "-") != 0 ? t.now + strtoull(w.word[1], NULL, 0)
							 : UINT64_MAX));
	else
		fail_msg("unknown line: %s", line);
}

struct wire_case {
	char title[LINE];
	long at; /* in the file */
};

static struct wire_case cases[MAX_CASES];
static FILE *file;

static void run_case(void **state)
{
	const struct wire_case *c = *state;
	char line[LINE];

	start();
	assert_int_equal(fseek(file, c->at, SEEK_SET), 0);
	while (fgets(line, sizeof(line), file) && strncmp(line, "case ", 5) != 0) {
		print_message("    %s", line);
		step(line);
	}
	check_log("-");
}

static unsigned int read_cases(void)
{
	unsigned int count = 0;
	char line[LINE];

	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "case ", 5) != 0)
			continue;
		if (count == MAX_CASES) {
			fprintf(stderr, "more than %u cases\n", MAX_CASES);
			exit(2);
		}
		line[strcspn(line, "\n")] = 0;
		(void)snprintf(cases[count].title, LINE, "%s", line + 5);
		cases[count++].at = ftell(file);
	}
	return count;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[MAX_CASES] = {0};
	unsigned int count;
	int failed;

	file = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (!file) {
		fprintf(stderr, "usage: test_wire_rules FILE\n");
		return 2;
	}
	count = read_cases();
	for (unsigned int i = 0; i < count; i++) {
		tests[i].name = cases[i].title;
		tests[i].test_func = run_case;
		tests[i].initial_state = &cases[i];
	}
	failed = _cmocka_run_group_tests("wire", tests, count, NULL, NULL);
	fclose(file);
	return count && !failed ? 0 : 1;
}
