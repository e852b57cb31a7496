/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Data encryption keys: which queues get one, and that the answer leaves no copy. The test replaces the processes, the
 * engines and the commands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/ipc/note.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/dek.h"
#include "tests/integration/support/copies.h"

#define QPN	  5u
#define QP_SERIAL 21u
#define DEK	  3u
#define SERIAL	  77u
#define FUNC	  2u
#define PD	  9u
#define SLOT	  4u

static const uint8_t inverted[32] = {
	0x3e, 0x99, 0x70, 0xc1, 0x0a, 0xd5, 0x4f, 0x86, 0x2b, 0xe7, 0x58,
	0x93, 0xbc, 0x61, 0x1d, 0xf4, 0x47, 0x8a, 0x05, 0xde, 0x32, 0x7b,
	0xc8, 0xa9, 0x16, 0xed, 0x50, 0x84, 0x6f, 0xb2, 0x29, 0xd3,
};

static struct emu_proc proc = {.slot = SLOT};
static bool has_process;
static unsigned int wakes;
static int engine_end;

struct emu_proc *emu_proc_by_slot(uint32_t slot)
{
	assert_int_equal(slot, SLOT);
	return has_process ? &proc : NULL;
}

void emu_engine_wake(uint32_t slot)
{
	assert_int_equal(slot, SLOT);
	wakes++;
}

void emu_grace(void)
{
}

int emu_refuse(struct emu_mbox *m, enum emu_cmd_syndrome syndrome)
{
	(void)m;
	(void)syndrome;
	return -1;
}

struct emu_pd *emu_pd_by_number(const struct emu_file *f, uint32_t pdn)
{
	(void)f;
	(void)pdn;
	return NULL;
}

static int setup(void **state)
{
	int fd[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd))
		return -1;
	proc.notes.fd = fd[0];
	engine_end = fd[1];
	has_process = true;
	wakes = 0;
	emu_queues->qp[QPN] = (struct emu_qp){
		.serial = QP_SERIAL, .engine = SLOT, .func = FUNC, .pdn = PD, .mmo.log_crypto = 20};
	emu_private->dek[DEK] = (struct emu_private_dek){.bytes = 32, .func = FUNC, .pdn = PD};
	for (size_t i = 0; i < sizeof(inverted); i++)
		emu_private->dek[DEK].raw[i] = (uint8_t)~inverted[i];
	atomic_store(&emu_tables->dek[DEK], SERIAL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return close(proc.notes.fd) || close(engine_end) ? -1 : 0;
}

static void serve(void *number)
{
	emu_dek_serve(QPN, *(uint32_t *)number);
}

static struct emu_key_given answer_for(uint32_t number)
{
	struct emu_key_given given;

	serve(&number);
	assert_int_equal(recv(engine_end, &given, sizeof(given), MSG_DONTWAIT), sizeof(given));
	assert_int_equal(given.qpn, QPN);
	assert_int_equal(given.qp_serial, QP_SERIAL);
	assert_int_equal(given.dek, number);
	return given;
}

static void expect_refusal(uint32_t number)
{
	static const uint8_t none[32];
	struct emu_key_given given = answer_for(number);

	assert_int_equal(given.bytes, 0);
	assert_memory_equal(given.raw, none, sizeof(none));
	assert_int_equal(emu_private->dek[DEK].given[0], 0);
}

static void a_queue_of_the_same_domain_gets_the_key(void **state)
{
	struct emu_key_given given = answer_for(DEK);

	assert_int_equal(given.bytes, 32);
	assert_int_equal(given.serial, SERIAL);
	assert_memory_equal(given.raw, emu_private->dek[DEK].raw, 32);
	assert_int_equal(emu_private->dek[DEK].given[0], 1ull << SLOT);
}

static void other_queues_get_no_key(void **state)
{
	struct emu_qp *q = &emu_queues->qp[QPN];

	q->pdn = PD + 1;
	expect_refusal(DEK);
	q->pdn = PD;
	q->func = FUNC + 1;
	expect_refusal(DEK);
	q->func = FUNC;
	q->mmo.log_crypto = 0;
	expect_refusal(DEK);
}

static void keys_that_do_not_exist_are_refused(void **state)
{
	const uint32_t numbers[] = {0, DEK + 1, DEK + EMU_MAX_DEKS, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		expect_refusal(numbers[i]);
	atomic_store(&emu_tables->dek[DEK], 0);
	expect_refusal(DEK);
}

/* An answer wakes the engine. Without room for it, the engine asks again. */
static void answers_wait_for_room(void **state)
{
	unsigned int answers = 0;
	struct emu_key_given given;
	uint32_t number = DEK;

	do
		serve(&number);
	while (wakes == ++answers);
	assert_int_equal(wakes, answers - 1);
	while (recv(engine_end, &given, sizeof(given), MSG_DONTWAIT) == sizeof(given))
		answers--;
	assert_int_equal(answers, 1);
}

static void a_queue_without_a_process_gets_no_answer(void **state)
{
	uint32_t number = DEK;
	char byte;

	has_process = false;
	serve(&number);
	assert_int_equal(recv(engine_end, &byte, 1, MSG_DONTWAIT), -1);
}

static void the_server_has_no_copy_of_an_answer(void **state)
{
	uint32_t number = DEK;
	int found = copies_left_by(serve, &number, inverted, sizeof(inverted));

	if (found < 0)
		skip();
	assert_int_equal(found, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_queue_of_the_same_domain_gets_the_key),
		TEST(other_queues_get_no_key),
		TEST(keys_that_do_not_exist_are_refused),
		TEST(answers_wait_for_room),
		TEST(a_queue_without_a_process_gets_no_answer),
		TEST(the_server_has_no_copy_of_an_answer),
	};

	return emu_segments_create() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
