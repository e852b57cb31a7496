/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

/* Another screen, without a cursor. */
#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"
#define HOME	     "\033[H"
#define ERASE_LINE   "\033[K"
#define ERASE_BELOW  "\033[J"
#define LAST_ROOM    48
#define TIME_SIZE    16

enum next_step { NEXT_SAMPLE, NEXT_DRAW, NEXT_STOP, NEXT_END };

struct screen {
	bool used;
	bool has_keys;
	struct termios before;
	int signals;
};

static int put_all(const char *text, size_t len)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
	ssize_t n;

	while (len) {
		n = write(STDOUT_FILENO, text, len);
		if (n < 0 && errno == EAGAIN)
			poll(&p, 1, -1);
		else if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* --- terminal --------------------------------------------------------------------------------- */

static bool has_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* Keys come one by one and are not shown. */
static void take_keys(const struct screen *s)
{
	struct termios keys = s->before;

	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

static int enter(struct screen *s)
{
	if (!s->used)
		return 0;
	s->has_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &s->before);
	if (s->has_keys)
		take_keys(s);
	return put_all(ENTER_SCREEN, sizeof(ENTER_SCREEN) - 1);
}

static void leave(const struct screen *s)
{
	if (!s->used)
		return;
	put_all(LEAVE_SCREEN, sizeof(LEAVE_SCREEN) - 1);
	if (s->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
}

/* Ctrl-Z: the shell gets its terminal back, and the view comes back with `fg'. */
static int suspend(struct screen *s)
{
	leave(s);
	raise(SIGSTOP);
	return enter(s);
}

static void size_of_screen(unsigned int *rows, unsigned int *columns)
{
	struct winsize size = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*rows = size.ws_row ? size.ws_row : 24;
	*columns = size.ws_col ? size.ws_col : 80;
}

/* --- the view --------------------------------------------------------------------------------- */

/* Names come from others: what is not printable ASCII must not reach a terminal. */
static void clean(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
			text[i] = '?';
}

static unsigned int count_lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* As many lines and columns as there is room for; the last line says how many others there are. */
static void fit(FILE *out, const char *text)
{
	unsigned int rows, columns, lines = count_lines(text), row = 0;
	char last[LAST_ROOM];

	size_of_screen(&rows, &columns);
	fputs(HOME, out);
	for (; *text && row < rows; row++) {
		const char *line = text;
		size_t len = strcspn(text, "\n");

		text += len + (text[len] == '\n');
		if (row == rows - 1 && lines > rows) {
			snprintf(last, sizeof(last), "... %u more lines", lines - rows + 1);
			line = last;
			len = strlen(last);
		}
		fprintf(out, "%s%.*s" ERASE_LINE, row ? "\r\n" : "",
			(int)(len < columns ? len : columns), line);
	}
	fputs(ERASE_BELOW, out);
}

static int show(const struct cli_live *live, void *arg, const struct screen *s)
{
	char *text = NULL, *fitted = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = ENOMEM;

	if (!out)
		return ENOMEM;
	live->draw(arg, out);
	if (fclose(out))
		goto free_text;
	if (!live->plain)
		clean(text, len);
	if (!s->used) {
		err = put_all(text, len);
		goto free_text;
	}
	out = open_memstream(&fitted, &len);
	if (!out)
		goto free_text;
	fit(out, text);
	if (!fclose(out))
		err = put_all(fitted, len);
	free(fitted);
free_text:
	free(text);
	return err;
}

/* --- what happens meanwhile ------------------------------------------------------------------- */

static int watch_signals(struct screen *s)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&set, numbers[i]);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return errno;
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static enum next_step take_signal(const struct screen *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return NEXT_DRAW;
	switch (info.ssi_signo) {
	case SIGWINCH:
		return NEXT_DRAW;
	case SIGTSTP:
		return NEXT_STOP;
	default:
		return NEXT_END;
	}
}

/* Without a key, the terminal is gone. */
static enum next_step take_key(void)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')
		return NEXT_END;
	return NEXT_DRAW;
}

static enum next_step wait_until(const struct screen *s, uint64_t due)
{
	struct pollfd p[2] = {{.fd = s->signals, .events = POLLIN},
			      {.fd = s->has_keys ? STDIN_FILENO : -1, .events = POLLIN}};
	uint64_t now = monotonic_ms();

	if (poll(p, 2, due > now ? (int)(due - now) : 0) <= 0)
		return NEXT_SAMPLE;
	return p[0].revents ? take_signal(s) : take_key();
}

static int follow(const struct cli_live *live, void *arg, struct screen *s)
{
	uint64_t due = monotonic_ms() + live->interval_ms;
	enum next_step next_step = NEXT_DRAW;
	int err = 0;

	while (!err && next_step != NEXT_END) {
		if (next_step == NEXT_STOP)
			err = suspend(s);
		if (next_step == NEXT_SAMPLE) {
			due += live->interval_ms;
			if (due < monotonic_ms())
				due = monotonic_ms() + live->interval_ms;
			if (!live->sample(arg))
				return 0;
		}
		/* Without a screen, a view is shown once. */
		if (!err && (s->used || next_step == NEXT_SAMPLE))
			err = show(live, arg, s);
		if (next_step == NEXT_SAMPLE && live->once)
			return err;
		next_step = wait_until(s, due);
	}
	return err;
}

int cli_live_run(const struct cli_live *live, void *arg)
{
	struct screen screen = {.used = !live->once && !live->plain && has_screen(), .signals = -1};
	int err = 0;

	if (!live->sample(arg))
		return 0;
	/* One view alone: a signal ends the program without it. */
	if (!live->once)
		err = watch_signals(&screen);
	if (err)
		return err;
	err = enter(&screen);
	if (!err)
		err = follow(live, arg, &screen);
	leave(&screen);
	if (screen.signals >= 0)
		close(screen.signals);
	return err;
}

/* --- numbers ---------------------------------------------------------------------------------- */

bool cli_live_interval(const char *text, unsigned int *interval_ms)
{
	char *end;
	double seconds;

	if (text[strspn(text, "0123456789.")])
		return false;
	seconds = strtod(text, &end);
	if (end == text || *end || !(seconds >= 0.1 && seconds <= 3600))
		return false;
	*interval_ms = (unsigned int)(seconds * 1000);
	return true;
}

double cli_live_rate(uint64_t before, uint64_t after, uint64_t ns)
{
	return after < before ? 0 : (double)(after - before) * 1e9 / (double)ns;
}

static void put_number(FILE *out, double number)
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;
	bool is_whole;

	while (number >= 9999.5 && units[unit + 1]) {
		number /= 1024;
		unit++;
	}
	is_whole = !unit && number == (double)(uint64_t)number;
	fprintf(out, "%10.*f%c", is_whole || number >= 99.95 ? 0 : 1, number, units[unit]);
}

void cli_live_row(FILE *out, const char *head, const double *numbers, size_t count)
{
	fprintf(out, "%-24.24s", head);
	for (size_t i = 0; i < count; i++)
		put_number(out, numbers[i]);
	fputc('\n', out);
}

void cli_live_head(FILE *out, const char *head, const char *const *names)
{
	fprintf(out, "%-24.24s", head);
	for (; *names; names++)
		fprintf(out, "%10s ", *names);
	fputc('\n', out);
}

void cli_live_time(FILE *out)
{
	char text[TIME_SIZE] = "";
	const time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm) && strftime(text, sizeof(text), "%H:%M:%S", &tm))
		fputs(text, out);
}
