/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Runs a group of checks in a child process. The child sends each finding as a line of JSON, in the
 * order of the table, so the parent knows which check hangs.
 */
#include "doctor/run_group.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "doctor/check_context.h"

#define LINE_MAX_BYTES (256 << 10)
#define STOP_CHECK_MS  100
#define SLACK_S	       10
#define REAP_TRIES     100 /* of 10 ms: a process stuck in the kernel may never end */

/* --- the child -------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

static bool send_finding(int fd, const struct check *check, struct finding *finding)
{
	struct json_object *object = doctor_finding_json(check->id, check->title, finding);
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	bool sent = text && write_all(fd, text, strlen(text)) && write_all(fd, "\n", 1);

	json_object_put(object);
	return sent;
}

static bool run_checks(const struct group *group, struct check_context *context, int fd)
{
	bool sent = true;

	for (const struct check *check = group->checks; check->id && sent; check++) {
		struct finding finding = {.state = DOCTOR_OK};

		check->run(context, &finding);
		sent = send_finding(fd, check, &finding);
	}
	return sent;
}

static _Noreturn void be_child(const struct group *group,
			       const struct dpumap_doctor_options *options,
			       struct json_object *findings, int fd, pid_t parent)
{
	struct check_context *context = calloc(1, sizeof(*context));
	bool sent;

	/* End with the parent, even if that is killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !context)
		_exit(DPUMAP_EXIT_FAILED);
	signal(SIGPIPE, SIG_IGN);
	context->options = options;
	context->findings = findings;
	sent = run_checks(group, context, fd);
	if (group->end)
		group->end(context);
	free(context);
	close(fd);
	json_object_put(findings);
	/* exit() in place of _exit(), for leak checkers; stdio was flushed before the fork. */
	exit(sent ? DPUMAP_EXIT_OK : DPUMAP_EXIT_FAILED);
}

/* --- the parent ------------------------------------------------------------------------------- */

struct child {
	const struct group *group;
	const struct dpumap_doctor_options *options;
	struct json_object *findings;
	const struct check *next; /* whose finding is expected next */
	pid_t pid;
	int fd;
	char *line;
	size_t len;
	int status; /* of the child that ended */
	bool timed_out;
};

static uint64_t limit_ns(const struct dpumap_doctor_options *options)
{
	unsigned int s = options->timeout_s ? options->timeout_s : DPUMAP_DOCTOR_TIMEOUT_S;

	/* Checks have their own limits; this one is for checks that hang. */
	return (s + SLACK_S) * NSEC_PER_SEC;
}

/* A skipped check refers to the original failure, not to another skipped check. */
static void refer_to_cause(struct json_object *findings, struct json_object *finding)
{
	const char *advice = doctor_json_text(finding, "advice");
	struct json_object *follows = NULL, *cause;

	if (!json_object_object_get_ex(finding, "follows", &follows) ||
	    !json_object_get_boolean(follows))
		return;
	cause = doctor_found(findings, advice + strlen("see "));
	if (cause && json_object_object_get_ex(cause, "follows", &follows) &&
	    json_object_get_boolean(follows))
		json_object_object_add(finding, "advice",
				       json_object_new_string(doctor_json_text(cause, "advice")));
}

static bool add_line(struct child *child, const char *line)
{
	struct json_object *finding = child->next->id ? json_tokener_parse(line) : NULL;

	if (!finding)
		return false;
	if (strcmp(doctor_json_text(finding, "id"), child->next->id) != 0) {
		json_object_put(finding);
		return false;
	}
	refer_to_cause(child->findings, finding);
	json_object_array_add(child->findings, finding);
	child->next++;
	return true;
}

/* False at the end of the child's output, or on invalid output. */
static bool take(struct child *child, bool *progress)
{
	ssize_t n = read(child->fd, child->line + child->len, LINE_MAX_BYTES - child->len - 1);
	char *end;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	child->len += (size_t)n;
	child->line[child->len] = '\0';
	while ((end = strchr(child->line, '\n'))) {
		*end = '\0';
		if (!add_line(child, child->line))
			return false;
		child->len -= (size_t)(end + 1 - child->line);
		memmove(child->line, end + 1, child->len + 1);
		*progress = true;
	}
	return child->len < LINE_MAX_BYTES - 1;
}

static bool is_stopped(const struct child *child)
{
	return child->options->stop && *child->options->stop;
}

/* Reads until the child has sent everything or times out. */
static void read_findings(struct child *child)
{
	uint64_t deadline = monotonic_ns() + limit_ns(child->options);
	bool goes_on = true;

	while (goes_on && !is_stopped(child)) {
		struct pollfd p = {.fd = child->fd, .events = POLLIN};
		bool progress = false;

		if (poll(&p, 1, STOP_CHECK_MS) > 0)
			goes_on = take(child, &progress);
		if (progress)
			deadline = monotonic_ns() + limit_ns(child->options);
		if (goes_on && monotonic_ns() >= deadline) {
			child->timed_out = true;
			goes_on = false;
		}
	}
}

/* Waits for the child to end; kills it after the time limit. */
static void reap(struct child *child)
{
	const struct timespec pause = {.tv_nsec = 10 * (long)NSEC_PER_MSEC};
	uint64_t deadline = monotonic_ns() + limit_ns(child->options);
	int tries = 0;

	while (waitpid(child->pid, &child->status, WNOHANG) == 0) {
		if (child->timed_out || is_stopped(child) || monotonic_ns() >= deadline) {
			kill(child->pid, SIGKILL);
			if (tries++ == REAP_TRIES)
				return;
		}
		nanosleep(&pause, NULL);
	}
}

static void report_end(const struct child *child, struct finding *finding)
{
	if (child->timed_out) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "timed out after %u s",
			    (unsigned int)(limit_ns(child->options) / NSEC_PER_SEC));
		doctor_advise(finding, "driver or firmware may hang: check dmesg, then reload the "
				       "driver or reset the card; --timeout sets the limit");
	} else if (WIFSIGNALED(child->status)) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "crashed: %s",
			    strsignal(WTERMSIG(child->status)));
		doctor_advise(finding, "report it, with the versions above and dmesg");
	} else {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "ended without a finding");
		doctor_advise(finding, "run again with --verbose, and report it");
	}
}

/* Blames the check that did not finish; later ones are skipped. */
static void add_missing(struct child *child)
{
	const char *culprit = child->next->id;

	for (; child->next->id; child->next++) {
		struct finding finding = {0};

		if (child->next->id == culprit)
			report_end(child, &finding);
		else
			doctor_skip(&finding, culprit);
		json_object_array_add(
			child->findings,
			doctor_finding_json(child->next->id, child->next->title, &finding));
	}
}

static doca_error_t run_child(struct child *child, struct dpumap_error *error)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe(fds) != 0)
		return dpumap_error_errno(error, errno, "cannot create a pipe");
	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0) {
		close(fds[0]);
		free(child->line);
		be_child(child->group, child->options, child->findings, fds[1], parent);
	}
	close(fds[1]);
	child->fd = fds[0];
	if (child->pid < 0) {
		close(fds[0]);
		return dpumap_error_errno(error, errno, "cannot start a process");
	}
	read_findings(child);
	close(child->fd);
	reap(child);
	add_missing(child);
	if (is_stopped(child))
		return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "interrupted");
	return DOCA_SUCCESS;
}

doca_error_t doctor_run_group(const struct group *group,
			      const struct dpumap_doctor_options *options,
			      struct json_object *findings, struct dpumap_error *error)
{
	struct child child = {.group = group,
			      .options = options,
			      .findings = findings,
			      .next = group->checks,
			      .line = malloc(LINE_MAX_BYTES)};
	doca_error_t result;

	if (!child.line)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for findings");
	result = run_child(&child, error);
	free(child.line);
	return result;
}
