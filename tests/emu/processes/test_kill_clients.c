/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hundreds of programs that are killed, or end by themselves, at random points, four at a time.
 * Nothing of them remains on the device or in its server, importers of their memory are refused,
 * and unrelated programs are not disturbed. DPUMAP_KILLS sets the number of programs,
 * DPUMAP_RANDOM_SEED repeats a run.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator.h"
#include "fixture.h"
#include "footprint.h"
#include "peer.h"
#include "random_client.h"

#define AT_ONCE	   4
#define KILLS	   500
#define CLIENT_MS  150 /* override: DPUMAP_LIFE_MS */
#define LONGEST_MS 30000
#define WARM_UP	   (AT_ONCE * 20) /* before the server's memory is measured */
/* How much the heap may grow: tables of a fixed size fill as numbers are used for the first time. */
#define GROWTH_KIB     128
#define DENIAL_MS      60000
#define SEED_ENV       "DPUMAP_TEST_SEED"
#define STEADY_CLIENTS 2

/* LeakSanitizer asks this. Clients exit, too, in the middle of their work. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return 1;
}

struct client {
	pid_t pid;
	int to, from;
	uint32_t seed;
	uint64_t deadline; /* ms: the program is killed then */
};

static struct storm {
	uint64_t random;
	struct emulator emu; /* the emulator of this test */
	struct sharer parent;
	struct descriptor desc; /* of the map that the programs read */
	struct client clients[AT_ONCE];
	uint32_t longest; /* ms: what a program lives at most */
	unsigned int killed, ended, wrong, denied;
} storm;

/* --- random clients --------------------------------------------------------------------------- */

/* One in eight by the tool, which is also killed then. */
static pid_t spawn(struct client *c, const char *as)
{
	const char *const argv[] = {test_options.self, "--emu", test_options.emu, NULL};
	pid_t pid;

	if (!test_draw(&storm.random, 8))
		return emulator_spawn(&storm.emu, as, "random", &c->to, &c->from);
	setenv(EMULATOR_ROLE_ENV, "random", 1);
	pid = process_spawn_as(as, argv, &c->to, &c->from);
	unsetenv(EMULATOR_ROLE_ENV);
	return pid;
}

static void start(struct client *c)
{
	uint32_t longest = storm.longest;
	char seed[16];

	c->seed = test_draw(&storm.random, 1u << 30);
	snprintf(seed, sizeof(seed), "%u", c->seed);
	setenv(SEED_ENV, seed, 1);
	c->pid = spawn(c, test_draw(&storm.random, 4) ? "host" : "dpu");
	unsetenv(SEED_ENV);
	assert_true(c->pid > 0);
	/* Twice, for it may execute another program. */
	for (int i = 0; i < 2; i++)
		if (write(c->to, &storm.desc, sizeof(storm.desc)) != (ssize_t)sizeof(storm.desc))
			break;
	/* A quarter of the programs is killed while it starts. */
	c->deadline = monotonic_ms() +
		      test_draw(&storm.random, test_draw(&storm.random, 4) ? longest : longest / 8);
}

static bool reads(const struct client *c)
{
	uint8_t got[CLIENT_BYTES], wanted[CLIENT_BYTES];

	if (sharer_read(&storm.parent, 1, 0, got, sizeof(got)) != DOCA_SUCCESS)
		return false;
	fixture_fill(wanted, sizeof(wanted), c->seed);
	assert_memory_equal(got, wanted, sizeof(got));
	return true;
}

/* Import what it has exported, if anything. */
static bool import_from(const struct client *c)
{
	struct pollfd in = {.fd = c->from, .events = POLLIN};
	struct descriptor desc;

	if (poll(&in, 1, 0) != 1 || !(in.revents & POLLIN) ||
	    read(c->from, &desc, sizeof(desc)) != (ssize_t)sizeof(desc))
		return false;
	if (sharer_import(&storm.parent, 1, &desc) != DOCA_SUCCESS)
		return false; /* it is on the same function, or it has just ended by itself */
	if (reads(c))
		return true;
	sharer_drop(&storm.parent, 1);
	return false;
}

static void assert_denied(void)
{
	uint64_t deadline = monotonic_ms() + DENIAL_MS;
	doca_error_t result;
	uint8_t got[64];

	do {
		result = sharer_read(&storm.parent, 1, 0, got, sizeof(got));
	} while (result == DOCA_SUCCESS && monotonic_ms() < deadline);
	assert_error(result, DOCA_ERROR_NOT_PERMITTED);
	assert_ok(sharer_drop(&storm.parent, 1));
	storm.denied++;
}

static void judge(const struct client *c, int status)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM)) {
		storm.killed++;
		return;
	}
	storm.ended++;
	if ((WIFEXITED(status) && !WEXITSTATUS(status)) ||
	    (WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1))
		return;
	storm.wrong++;
	print_error("the client of seed %u ended with status 0x%x\n", c->seed,
		    (unsigned int)status);
}

static void finish(struct client *c)
{
	bool imported = import_from(c);

	kill(c->pid, test_draw(&storm.random, 5) ? SIGKILL : SIGTERM);
	judge(c, process_reap(c->pid));
	if (imported)
		assert_denied();
	close(c->to);
	close(c->from);
}

static void sleep_until(uint64_t deadline)
{
	uint64_t now = monotonic_ms();

	if (now < deadline)
		usleep((useconds_t)(deadline - now) * 1000);
}

static void run_clients(unsigned int n)
{
	unsigned int i;
	struct client *c;

	for (i = 0; i < AT_ONCE; i++)
		start(&storm.clients[i]);
	for (unsigned int started = AT_ONCE; started < n; started++) {
		for (c = storm.clients, i = 1; i < AT_ONCE; i++)
			if (storm.clients[i].deadline < c->deadline)
				c = &storm.clients[i];
		sleep_until(c->deadline);
		finish(c);
		start(c);
	}
	for (i = 0; i < AT_ONCE; i++)
		finish(&storm.clients[i]);
}

/* --- the test --------------------------------------------------------------------------------- */

static void open_storm(void)
{
	const struct map_spec what = {FROM_MEMORY, CLIENT_BYTES, LOCAL_RW | PCI_RW, CLIENT_SEED};
	const char *dir = getenv("DPUMAP_EMU_DIR");
	struct rlimit no_core = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGPIPE, SIG_IGN);
	storm.longest = (uint32_t)test_setting("DPUMAP_LIFE_MS", CLIENT_MS);
	storm.random = test_setting("DPUMAP_RANDOM_SEED", (unsigned long)monotonic_ms());
	printf("seed %llu\n", (unsigned long long)storm.random);
	assert_non_null(dir);
	snprintf(storm.emu.dir, sizeof(storm.emu.dir), "%s", dir);
	storm.emu.server = emulator_server_of(dir);
	assert_true(storm.emu.server > 0);
	assert_ok(sharer_open(&storm.parent));
	assert_ok(sharer_export(&storm.parent, 0, &what, &storm.desc));
}

/*
 * On a network, the sockets of engines that have ended stay for others: as many for each function
 * as there were at once.
 */
static long most_descriptors(const struct footprint *before)
{
	return before->descriptors + (getenv("DPUMAP_EMU_WIRE") ? 2L * AT_ONCE : 0);
}

static void assert_no_growth(const struct footprint *before)
{
	uint64_t deadline = monotonic_ms() + 60000;
	struct footprint now;

	do {
		usleep(20000);
		now = footprint_of(storm.emu.server);
	} while (now.descriptors > most_descriptors(before) && monotonic_ms() < deadline);
	printf("server: %ld KiB, %ld descriptors, %ld threads; was %ld, %ld, %ld\n", now.heap_kib,
	       now.descriptors, now.threads, before->heap_kib, before->descriptors,
	       before->threads);
	/* The server may have held some of a program of the warm-up. */
	assert_true(now.descriptors <= most_descriptors(before));
	assert_int_equal(now.threads, before->threads);
	if (!now.sanitized)
		assert_true(now.heap_kib > 0 && now.heap_kib - before->heap_kib <= GROWTH_KIB);
}

static void killed_programs_leave_nothing_behind(void **state)
{
	static const char *const functions[STEADY_CLIENTS] = {"dpu", "host"};
	unsigned int kills = (unsigned int)test_setting("DPUMAP_KILLS", KILLS), i;
	struct client steady[STEADY_CLIENTS];
	struct footprint before;
	struct objects counts;
	uint64_t begin;

	open_storm();
	for (i = 0; i < STEADY_CLIENTS; i++)
		steady[i].pid =
			emulator_spawn(&storm.emu, functions[i], "steady", &steady[i].to, NULL);
	run_clients(WARM_UP);
	assert_true(objects_read(&counts));
	before = footprint_of(storm.emu.server);
	begin = monotonic_ms();
	run_clients(kills);
	/* On a busy machine the programs may need longer until they export anything. */
	for (; !storm.denied && storm.longest < LONGEST_MS; storm.longest *= 2)
		run_clients(AT_ONCE * 4);
	printf("%u killed, %u ended by themselves; %u exports denied; %llu s\n", storm.killed,
	       storm.ended, storm.denied, (unsigned long long)(monotonic_ms() - begin) / 1000);
	assert_no_growth(&before);
	for (i = 0; i < STEADY_CLIENTS; i++) {
		assert_int_equal(waitpid(steady[i].pid, NULL, WNOHANG), 0);
		close(steady[i].to);
		assert_int_equal(process_reap(steady[i].pid), 0);
	}
	assert_int_equal(storm.wrong, 0);
	assert_true(storm.killed > kills / 2 && storm.denied > 0);
	assert_ok(sharer_close(&storm.parent));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(killed_programs_leave_nothing_behind),
	};
	const char *role = getenv(EMULATOR_ROLE_ENV);

	test_parse_options(argc, argv);
	if (!role)
		return cmocka_run_group_tests(tests, NULL, NULL);
	return strcmp(role, "steady") != 0 ? random_client_run((uint32_t)test_setting(SEED_ENV, 1))
					   : steady_client_run();
}
