/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu chaos': inject the faults of a plan. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/server/base/log.h"
#include "emu/tool/plan.h"

#define MAX_SEED 1000000u /* that is chosen here: short to type */

struct run {
	const struct options *o;
	const struct plan_action *action;
	size_t count;
	uint32_t duration;
	uint64_t start; /* ms */
	int server, signals;
};

enum pause { PAUSE_OVER, PAUSE_SIGNAL, PAUSE_ABANDONED };

static bool print_action(uint32_t at, const char *words)
{
	printf("at %ums: %s\n", at, words);
	return !fflush(stdout);
}

/* Until this time of the plan, a signal, or the end of the emulator. */
static enum pause pause_until(const struct run *r, uint32_t at)
{
	struct pollfd p[2] = {{.fd = r->server, .events = POLLIN},
			      {.fd = r->signals, .events = POLLIN}};
	uint64_t due = r->start + at / r->o->speed, now = monotonic_ms();

	while (poll(p, 2, due > now ? (int)(due - now) : 0) >= 0 || errno == EINTR) {
		if (p[1].revents)
			return PAUSE_SIGNAL;
		if (p[0].revents)
			return PAUSE_ABANDONED;
		now = monotonic_ms();
		if (now >= due)
			return PAUSE_OVER;
	}
	return PAUSE_ABANDONED;
}

static int give_up(const struct run *r)
{
	emu_log("the emulator in %s has ended", r->o->dir);
	return 1;
}

/* Without a queue pair none can fail: that depends on the programs, not on the plan. */
static int inject(const struct run *r, const struct plan_action *a)
{
	struct emu_reply rep = {0};
	int err = tool_exchange(r->server, &a->fault, sizeof(a->fault), &rep);

	if (!print_action(a->at, a->fault.words))
		return 1;
	if (!err || (err == -ENOENT && a->fault.kind == EMU_RULE_QUEUE))
		return 0;
	emu_log("%s:%u: the emulator refused '%s': %s", r->o->plan, a->line, a->fault.words,
		tool_fault_error(err));
	return 1;
}

/* The faults end here, and not when the connection ends, which would be after this program. */
static int clear(const struct run *r, uint32_t at)
{
	struct emu_fault_request f;
	struct emu_reply rep = {0};
	char wrong[64];

	if (!tool_fault_parse("clear", &f, wrong, sizeof(wrong)) ||
	    tool_exchange(r->server, &f, sizeof(f), &rep))
		return give_up(r);
	return print_action(at, "clear") ? 0 : 1;
}

static int run_plan(struct run *r)
{
	enum pause pause = PAUSE_OVER;
	int err = 0;

	r->start = monotonic_ms();
	for (size_t i = 0; i < r->count && !err && pause == PAUSE_OVER; i++) {
		pause = pause_until(r, r->action[i].at);
		if (pause == PAUSE_OVER)
			err = inject(r, &r->action[i]);
	}
	if (pause == PAUSE_OVER && !err)
		pause = pause_until(r, r->duration);
	if (pause == PAUSE_ABANDONED)
		return give_up(r);
	if (pause == PAUSE_SIGNAL)
		return clear(r, (uint32_t)((monotonic_ms() - r->start) * r->o->speed));
	return err ? err : clear(r, r->duration);
}

/* SIGINT and SIGTERM end the plan: the faults must not outlive it. */
static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int run_on_emulator(struct run *r)
{
	struct emu_reply rep = {0};
	int err;

	r->signals = watch_signals();
	r->server = tool_connect_running(r->o);
	if (r->signals < 0 || r->server < 0)
		return 1;
	err = tool_ask(r->server, EMU_OP_CHAOS, r->o->seed, &rep);
	if (!err)
		return run_plan(r);
	emu_log("cannot start in %s: %s", r->o->dir,
		err == -EALREADY ? "another plan is running" : tool_error(err));
	return 1;
}

static int print_all(const struct run *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (!print_action(r->action[i].at, r->action[i].fault.words))
			return 1;
	return print_action(r->duration, "clear") ? 0 : 1;
}

static struct plan *read_plan(const char *name, int *status)
{
	bool usage = false, is_stdin = !strcmp(name, "-");
	FILE *in = is_stdin ? stdin : fopen(name, "re");
	struct plan *p;

	*status = EXIT_USAGE;
	if (!in) {
		emu_log("cannot open the plan %s: %s", name, strerror(errno));
		return NULL;
	}
	p = plan_read(in, is_stdin ? "standard input" : name, &usage);
	if (!is_stdin)
		fclose(in);
	if (!p && !usage)
		*status = 1;
	return p;
}

static bool choose_seed(struct options *o)
{
	if (!o->seed_given && getrandom(&o->seed, sizeof(o->seed), 0) != sizeof(o->seed)) {
		emu_log("cannot choose a seed: %s; use --seed", strerror(errno));
		return false;
	}
	if (!o->seed_given)
		o->seed %= MAX_SEED;
	return true;
}

int tool_chaos(struct options *o)
{
	struct plan_action *action = NULL;
	struct run r = {.o = o};
	struct plan *p;
	int status;

	if (!choose_seed(o))
		return 1;
	p = read_plan(o->plan, &status);
	if (p)
		action = plan_expand(p, o->seed, &r.count);
	if (action) {
		r.action = action;
		r.duration = plan_duration(p);
		printf("# seed %llu\nduration %ums\n", (unsigned long long)o->seed, r.duration);
		status = o->dry_run ? print_all(&r) : run_on_emulator(&r);
	}
	free(action);
	plan_free(p);
	return status;
}
