/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A group of checks in a process of its own. Each finding comes back as a line of JSON, in the
 * order of the table: so the parent knows which check it is that does not end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "doctor/check.h"
#include "doctor/patient.h"

#define LINE_MAX_BYTES (256 << 10)
#define STOP_CHECK_MS  100
#define SLACK_S	       10
#define REAP_TRIES     100 /* of 10 ms: a process that the kernel holds may never end */

/* -- the child -- */

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
	struct json_object *object = doctor_finding_json(check, finding);
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	bool sent = text && write_all(fd, text, strlen(text)) && write_all(fd, "\n", 1);

	json_object_put(object);
	return sent;
}

static bool run_checks(const struct group *group, struct patient *patient, int fd)
{
	bool sent = true;

	for (const struct check *check = group->checks; check->id && sent; check++) {
		struct finding finding = {.state = DOCTOR_OK};

		check->run(patient, &finding);
		sent = send_finding(fd, check, &finding);
	}
	return sent;
}

static _Noreturn void be_child(const struct group *group,
			       const struct dpumap_doctor_options *options,
			       struct json_object *findings, int fd, pid_t parent)
{
	struct patient *patient = calloc(1, sizeof(*patient));
	bool sent;

	/* Nobody is to be left behind by whoever kills the parent. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !patient)
		_exit(DPUMAP_EXIT_FAILED);
	signal(SIGPIPE, SIG_IGN);
	patient->options = options;
	patient->findings = findings;
	sent = run_checks(group, patient, fd);
	if (group->end)
		group->end(patient);
	free(patient);
	close(fd);
	json_object_put(findings);
	/* exit() runs what looks for leaks, but what stdio holds is the parent's. */
	exit(sent ? DPUMAP_EXIT_OK : DPUMAP_EXIT_FAILED);
}

/* -- the parent -- */

struct ward {
	const struct group *group;
	const struct dpumap_doctor_options *options;
	struct json_object *findings;
	const struct check *next; /* whose finding comes next */
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

	/* Checks have limits of their own: this is for those that cannot keep them. */
	return (s + SLACK_S) * DPUMAP_NSEC_PER_SEC;
}

/* What follows from what follows itself is told to follow from the origin. */
static void trace_back(struct json_object *findings, struct json_object *finding)
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

static bool add_line(struct ward *ward, const char *line)
{
	struct json_object *finding = ward->next->id ? json_tokener_parse(line) : NULL;

	if (!finding)
		return false;
	if (strcmp(doctor_json_text(finding, "id"), ward->next->id) != 0) {
		json_object_put(finding);
		return false;
	}
	trace_back(ward->findings, finding);
	json_object_array_add(ward->findings, finding);
	ward->next++;
	return true;
}

/* False when the child says nothing more that can be used. */
static bool take(struct ward *ward, bool *progress)
{
	ssize_t n = read(ward->fd, ward->line + ward->len, LINE_MAX_BYTES - ward->len - 1);
	char *end;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	ward->len += (size_t)n;
	ward->line[ward->len] = '\0';
	while ((end = strchr(ward->line, '\n'))) {
		*end = '\0';
		if (!add_line(ward, ward->line))
			return false;
		ward->len -= (size_t)(end + 1 - ward->line);
		memmove(ward->line, end + 1, ward->len + 1);
		*progress = true;
	}
	return ward->len < LINE_MAX_BYTES - 1;
}

static bool is_stopped(const struct ward *ward)
{
	return ward->options->stop && *ward->options->stop;
}

/* Until the child has said everything, or does not say the next thing in time. */
static void listen_to(struct ward *ward)
{
	uint64_t deadline = dpumap_clock_ns() + limit_ns(ward->options);
	bool goes_on = true;

	while (goes_on && !is_stopped(ward)) {
		struct pollfd p = {.fd = ward->fd, .events = POLLIN};
		bool progress = false;

		if (poll(&p, 1, STOP_CHECK_MS) > 0)
			goes_on = take(ward, &progress);
		if (progress)
			deadline = dpumap_clock_ns() + limit_ns(ward->options);
		if (goes_on && dpumap_clock_ns() >= deadline) {
			ward->timed_out = true;
			goes_on = false;
		}
	}
}

/* With what it holds given back, a child ends soon; if not, it is ended. */
static void reap(struct ward *ward)
{
	const struct timespec pause = {.tv_nsec = 10 * (long)DPUMAP_NSEC_PER_MSEC};
	uint64_t deadline = dpumap_clock_ns() + limit_ns(ward->options);
	int tries = 0;

	while (waitpid(ward->pid, &ward->status, WNOHANG) == 0) {
		if (ward->timed_out || is_stopped(ward) || dpumap_clock_ns() >= deadline) {
			kill(ward->pid, SIGKILL);
			if (tries++ == REAP_TRIES)
				return;
		}
		nanosleep(&pause, NULL);
	}
}

static void tell_end(const struct ward *ward, struct finding *finding)
{
	if (ward->timed_out) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED,
			    "it did not end within %u s and was given up",
			    (unsigned int)(limit_ns(ward->options) / DPUMAP_NSEC_PER_SEC));
		doctor_advise(finding,
			      "driver or firmware hang: look at dmesg, then reload the driver or "
			      "reset the card; --timeout waits longer");
	} else if (WIFSIGNALED(ward->status)) {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "it crashed: %s",
			    strsignal(WTERMSIG(ward->status)));
		doctor_advise(finding, "please report it, with the versions above and dmesg");
	} else {
		doctor_fail(finding, DPUMAP_EXIT_FAILED, "it ended without a finding");
		doctor_advise(finding, "run it again with --verbose; please report it");
	}
}

/* The check that did not end is to blame; those behind it were not reached. */
static void fill_up(struct ward *ward)
{
	const char *culprit = ward->next->id;

	for (; ward->next->id; ward->next++) {
		struct finding finding = {0};

		if (ward->next->id == culprit)
			tell_end(ward, &finding);
		else
			doctor_follows(&finding, culprit);
		json_object_array_add(ward->findings, doctor_finding_json(ward->next, &finding));
	}
}

static doca_error_t attend(struct ward *ward, struct dpumap_fault *fault)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe(fds) != 0)
		return dpumap_fault_errno(fault, errno, "cannot make a pipe");
	fflush(NULL);
	ward->pid = fork();
	if (ward->pid == 0) {
		close(fds[0]);
		free(ward->line);
		be_child(ward->group, ward->options, ward->findings, fds[1], parent);
	}
	close(fds[1]);
	ward->fd = fds[0];
	if (ward->pid < 0) {
		close(fds[0]);
		return dpumap_fault_errno(fault, errno, "cannot start a process");
	}
	listen_to(ward);
	close(ward->fd);
	reap(ward);
	fill_up(ward);
	if (is_stopped(ward))
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	return DOCA_SUCCESS;
}

doca_error_t doctor_run_group(const struct group *group,
			      const struct dpumap_doctor_options *options,
			      struct json_object *findings, struct dpumap_fault *fault)
{
	struct ward ward = {.group = group,
			    .options = options,
			    .findings = findings,
			    .next = group->checks,
			    .line = malloc(LINE_MAX_BYTES)};
	doca_error_t result;

	if (!ward.line)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for findings");
	result = attend(&ward, fault);
	free(ward.line);
	return result;
}
