/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/tool/plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/base/log.h"

#define MAX_LINES   256
#define MAX_ACTIONS 10000
#define MAX_TEXT    1024
#define MAX_MS	    86400000u /* a day */
#define NEVER	    UINT32_MAX
#define BLANKS	    " \t\r\n"

/* A time in milliseconds, or any number: drawn from low to high. */
struct range {
	uint64_t low, high;
};

struct statement {
	unsigned int number; /* of its line */
	bool repeats;
	struct range when; /* `at' or `every' */
	bool ends;
	struct range length; /* `for' */
	uint64_t chance;     /* in percent */
	char fault[EMU_FAULT_WORDS];
};

struct plan {
	const char *name;
	uint32_t duration;
	struct statement statement[MAX_LINES];
	unsigned int count;
};

/* What is wrong with a line: a sentence, and the word that it is about. */
struct error {
	char text[256];
};

static bool fail(struct error *e, const char *why, const char *word)
{
	snprintf(e->text, sizeof(e->text), "%s%s%s%s", why, word ? ": '" : "", word ? word : "",
		 word ? "'" : "");
	return false;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Parse digits; returns what follows them, or NULL. */
static const char *parse_digits(const char *text, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*v = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

static const char *parse_time(const char *text, uint64_t *ms)
{
	static const struct {
		const char *unit;
		unsigned int ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};

	text = parse_digits(text, ms);
	for (size_t i = 0; text && i < ARRAY_SIZE(units); i++) {
		size_t len = strlen(units[i].unit);

		if (strncmp(text, units[i].unit, len) != 0 || isalpha((unsigned char)text[len]))
			continue;
		if (*ms > MAX_MS / units[i].ms)
			return NULL;
		*ms *= units[i].ms;
		return text + len;
	}
	return NULL;
}

/* A number, or two with ".." between them. */
static bool parse_range(const char *text, const char *(*parse)(const char *text, uint64_t *v),
			struct range *r)
{
	r->low = 0;
	text = parse(text, &r->low);
	r->high = r->low;
	if (text && !strncmp(text, "..", 2))
		text = parse(text + 2, &r->high);
	return text && !*text && r->low <= r->high;
}

/* --- the generator: splitmix64 of Steele, Lea and Flood, public domain ------------------------ */

static uint64_t next_number(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t draw(uint64_t *state, const struct range *r)
{
	uint64_t span = r->high - r->low + 1, n = next_number(state);

	return span ? r->low + n % span : n;
}

/* --- choices: {a|b|c} and {1..9} in the words of a fault -------------------------------------- */

/* How to choose: at random, or choice number `nth` of group number `group` and else the first. */
struct chooser {
	uint64_t *state; /* NULL: not at random */
	unsigned int group, nth;
	bool exists; /* the group has such a choice */
};

static size_t count_choices(const char *group)
{
	size_t n = 1;

	for (; *group; group++)
		n += *group == '|';
	return n;
}

static uint64_t choose(struct chooser *c, unsigned int group, uint64_t choices)
{
	const struct range all = {0, choices - 1};

	if (c->state)
		return draw(c->state, &all);
	if (c->group != group)
		return 0;
	c->exists = c->nth < choices;
	return c->exists ? c->nth : 0;
}

/* Write the chosen word of a group; false if there is no room. */
static bool put_choice(struct chooser *c, unsigned int group, char *words, FILE *out)
{
	struct range r;
	uint64_t n;

	if (parse_range(words, parse_digits, &r)) {
		if (c->state)
			n = draw(c->state, &r);
		else /* its bounds */
			n = choose(c, group, 2) ? r.high : r.low;
		return fprintf(out, "%llu", (unsigned long long)n) > 0;
	}
	for (n = choose(c, group, count_choices(words)); n; n--)
		words = strchr(words, '|') + 1;
	return fprintf(out, "%.*s", (int)strcspn(words, "|"), words) >= 0;
}

static bool write_words(const char *text, struct chooser *c, FILE *out, struct error *e)
{
	char group[EMU_FAULT_WORDS];
	unsigned int n = 0;
	size_t len;

	for (; *text; text++) {
		if (*text == '}')
			return fail(e, "'}' without '{'", NULL);
		if (*text != '{') {
			fputc(*text, out);
			continue;
		}
		len = strcspn(++text, "{}");
		if (text[len] != '}' || len >= sizeof(group))
			return fail(e, "'{' without '}'", NULL);
		if (!len)
			return fail(e, "no choices between '{' and '}'", NULL);
		memcpy(group, text, len);
		group[len] = '\0';
		put_choice(c, n++, group, out);
		text += len;
	}
	return true;
}

/* Write the words of a fault with the choices made. */
static bool choose_words(const char *text, struct chooser *c, char words[static EMU_FAULT_WORDS],
			 struct error *e)
{
	FILE *out = fmemopen(words, EMU_FAULT_WORDS, "w");
	bool ok;

	if (!out)
		return fail(e, "out of memory", NULL);
	setbuf(out, NULL); /* so that an error is seen when it happens */
	ok = write_words(text, c, out, e);
	if (ok && ferror(out))
		ok = fail(e, "the fault is too long", NULL);
	fclose(out);
	words[EMU_FAULT_WORDS - 1] = '\0';
	return ok;
}

static bool make_fault(const char *text, struct chooser *c, struct emu_fault_request *r,
		       struct error *e)
{
	char words[EMU_FAULT_WORDS];

	return choose_words(text, c, words, e) &&
	       tool_fault_parse(words, r, e->text, sizeof(e->text));
}

/* Check the fault with every choice, whatever a seed will draw. */
static bool check_fault(const char *text, struct error *e)
{
	struct emu_fault_request r;
	struct chooser c = {0};

	do {
		c.nth = 0;
		do {
			c.exists = false;
			if (!make_fault(text, &c, &r, e))
				return false;
			c.nth++;
		} while (c.exists);
		c.group++;
	} while (c.nth > 1);
	return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool parse_word(struct statement *s, const char *word, const char *value, struct error *e)
{
	const char *end;

	if (!value)
		return fail(e, "a value is missing after", word);
	if (!strcmp(word, "for")) {
		s->ends = true;
		if (!parse_range(value, parse_time, &s->length) || !s->length.low)
			return fail(e, "not a duration such as 500ms, 2s or 1s..3s", value);
		return true;
	}
	if (strcmp(word, "chance") != 0)
		return fail(e, "unknown word; use 'for' or 'chance'", word);
	end = parse_digits(value, &s->chance);
	if (!end || strcmp(end, "%") != 0 || !s->chance || s->chance > 100)
		return fail(e, "not a chance from 1% to 100%", value);
	return true;
}

/* "at TIME" or "every TIME", then options. */
static bool parse_head(struct statement *s, char *head, struct error *e)
{
	char *save, *word = strtok_r(head, BLANKS, &save);
	const char *value = word ? strtok_r(NULL, BLANKS, &save) : NULL;

	if (!word)
		return fail(e, "the time is missing before ':'", NULL);
	s->repeats = !strcmp(word, "every");
	if (!s->repeats && strcmp(word, "at") != 0)
		return fail(e, "unknown word; use 'at', 'every' or 'duration'", word);
	if (!value || !parse_range(value, parse_time, &s->when))
		return fail(e, "not a time such as 500ms, 2s or 1s..3s", value ? value : "");
	if (s->repeats && !s->when.low)
		return fail(e, "the interval must be at least 1ms", value);
	while ((word = strtok_r(NULL, BLANKS, &save)))
		if (!parse_word(s, word, strtok_r(NULL, BLANKS, &save), e))
			return false;
	return true;
}

static bool parse_duration(struct plan *p, char *text, struct error *e)
{
	char *save, *value = strtok_r(text, BLANKS, &save);
	uint64_t ms;
	const char *end = value ? parse_time(value, &ms) : NULL;

	if (p->duration)
		return fail(e, "the plan has a duration already", NULL);
	if (!end || *end || !ms || strtok_r(NULL, BLANKS, &save))
		return fail(e, "not a duration such as 60s", value ? value : "");
	p->duration = (uint32_t)ms;
	return true;
}

static void trim(char *text)
{
	size_t len = strlen(text);

	while (len && strchr(BLANKS, text[len - 1]))
		text[--len] = '\0';
}

static bool parse_statement(struct plan *p, unsigned int number, char *head, char *fault,
			    struct error *e)
{
	struct statement *s = &p->statement[p->count];

	if (p->count == MAX_LINES)
		return fail(e, "the plan has more than 256 faults", NULL);
	*s = (struct statement){.number = number, .chance = 100};
	fault += strspn(fault, BLANKS);
	trim(fault);
	if (!*fault)
		return fail(e, "the fault is missing after ':'", NULL);
	if (strlen(fault) >= sizeof(s->fault))
		return fail(e, "the fault is too long", NULL);
	memcpy(s->fault, fault, strlen(fault) + 1);
	if (!parse_head(s, head, e) || !check_fault(s->fault, e))
		return false;
	if (s->ends && (strstr(s->fault, "--off") || !strncmp(s->fault, "clear", 5)))
		return fail(e, "'for' does not apply to a fault that ends another one", NULL);
	p->count++;
	return true;
}

static bool parse_line(struct plan *p, unsigned int number, char *text, struct error *e)
{
	char *colon;

	text[strcspn(text, "#")] = '\0';
	text += strspn(text, BLANKS);
	if (!*text)
		return true;
	if (!strncmp(text, "duration", 8) && (!text[8] || strchr(BLANKS, text[8])))
		return parse_duration(p, text + 8, e);
	colon = strchr(text, ':');
	if (!colon) {
		trim(text);
		return fail(e, "not 'at TIME: FAULT', 'every TIME: FAULT' or 'duration TIME'",
			    text);
	}
	*colon = '\0';
	return parse_statement(p, number, text, colon + 1, e);
}

static bool read_lines(struct plan *p, FILE *in, unsigned int *number, struct error *e)
{
	char text[MAX_TEXT];

	while (fgets(text, sizeof(text), in)) {
		++*number;
		if (!strchr(text, '\n') && !feof(in))
			return fail(e, "the line is too long, or contains a NUL character", NULL);
		if (!parse_line(p, *number, text, e))
			return false;
	}
	if (p->duration)
		return true;
	++*number;
	return fail(e, "the plan has no line 'duration TIME'", NULL);
}

struct plan *plan_read(FILE *in, const char *name, bool *usage)
{
	struct plan *p = calloc(1, sizeof(*p));
	unsigned int number = 0;
	struct error e;

	*usage = false;
	if (!p) {
		emu_log("cannot read %s: out of memory", name);
		return NULL;
	}
	p->name = name;
	if (!read_lines(p, in, &number, &e)) {
		*usage = true;
		emu_log("%s:%u: %s", name, number, e.text);
	} else if (ferror(in)) {
		emu_log("cannot read %s", name);
	} else {
		return p;
	}
	free(p);
	return NULL;
}

void plan_free(struct plan *p)
{
	free(p);
}

uint32_t plan_duration(const struct plan *p)
{
	return p->duration;
}

/* --- the sequence ----------------------------------------------------------------------------- */

/* A fault and when it ends. */
struct event {
	struct plan_action action;
	uint32_t end; /* or NEVER */
	size_t order; /* among events of the same time */
};

struct sequence {
	struct event *event;
	size_t count;
};

static bool add(struct sequence *q, const struct event *ev)
{
	if (q->count == MAX_ACTIONS)
		return false;
	q->event[q->count] = *ev;
	q->event[q->count].order = q->count;
	q->count++;
	return true;
}

/* Each statement draws numbers of its own, so that a new one does not change the others. */
static bool draw_events(const struct plan *p, const struct statement *s, uint64_t seed,
			struct sequence *q, struct error *e)
{
	struct chooser c = {.state = &seed};
	uint64_t at = draw(&seed, &s->when);
	const struct range percent = {1, 100};
	struct event ev = {.action.line = s->number};

	for (; at < p->duration; at += draw(&seed, &s->when)) {
		bool happens = draw(&seed, &percent) <= s->chance;

		if (!make_fault(s->fault, &c, &ev.action.fault, e))
			return false;
		ev.action.at = (uint32_t)at;
		ev.end = s->ends ? (uint32_t)(at + draw(&seed, &s->length)) : NEVER;
		if (happens && !add(q, &ev))
			return fail(e, "the plan has more than 10000 actions", NULL);
		if (!s->repeats)
			break;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	bool ends_x = x->action.fault.off, ends_y = y->action.fault.off;

	if (x->action.at != y->action.at)
		return x->action.at < y->action.at ? -1 : 1;
	if (ends_x != ends_y)
		return ends_x ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort(struct sequence *q)
{
	if (q->count)
		qsort(q->event, q->count, sizeof(q->event[0]), compare);
}

/* If two events overlap, only the end of the later one counts. */
static void merge_ends(struct event *first, struct event *second)
{
	if (first->end <= second->action.at || first->end == NEVER)
		return;
	if (second->end == NEVER || second->end >= first->end)
		first->end = NEVER;
	else
		second->end = NEVER;
}

static void resolve_overlaps(struct sequence *q)
{
	for (size_t i = 0; i < q->count; i++)
		for (size_t k = 0; k < i; k++)
			if (tool_fault_replaces(&q->event[i].action.fault,
						&q->event[k].action.fault))
				merge_ends(&q->event[k], &q->event[i]);
}

static bool add_ends(const struct plan *p, struct sequence *q)
{
	size_t i, count = q->count;

	for (i = 0; i < count; i++) {
		struct event ev = q->event[i];

		if (ev.end >= p->duration)
			continue;
		ev.action.at = ev.end;
		ev.end = NEVER;
		tool_fault_end(&q->event[i].action.fault, &ev.action.fault);
		if (!add(q, &ev))
			return false;
	}
	return true;
}

static struct plan_action *actions_of(const struct sequence *q)
{
	struct plan_action *a = calloc(q->count + 1, sizeof(*a));

	for (size_t i = 0; a && i < q->count; i++)
		a[i] = q->event[i].action;
	return a;
}

static struct plan_action *expand(const struct plan *p, uint64_t seed, struct sequence *q)
{
	struct plan_action *a;
	struct error e;

	for (unsigned int i = 0; i < p->count; i++) {
		uint64_t own = seed + i;

		own = next_number(&own) ^ seed;
		if (draw_events(p, &p->statement[i], own, q, &e))
			continue;
		emu_log("%s:%u: %s", p->name, p->statement[i].number, e.text);
		return NULL;
	}
	sort(q);
	resolve_overlaps(q);
	if (!add_ends(p, q)) {
		emu_log("%s: the plan has more than 10000 actions", p->name);
		return NULL;
	}
	sort(q);
	a = actions_of(q);
	if (!a)
		emu_log("%s: out of memory", p->name);
	return a;
}

struct plan_action *plan_expand(const struct plan *p, uint64_t seed, size_t *count)
{
	struct sequence q = {.event = calloc(MAX_ACTIONS, sizeof(q.event[0]))};
	struct plan_action *a = q.event ? expand(p, seed, &q) : NULL;

	if (!q.event)
		emu_log("%s: out of memory", p->name);
	*count = q.count;
	free(q.event);
	return a;
}
