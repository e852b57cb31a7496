/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The peers of all exports against a walk through the exports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dpu/exports/importers.h"

#define NUM   60u
#define PEERS 40u
#define STEPS 20000u

static bool exhausted;

/* What importers.c calls. */
void *scarce_calloc(size_t num, size_t size);

void *scarce_calloc(size_t num, size_t size)
{
	return exhausted ? NULL : calloc(num, size);
}

static void add_peer(struct export_spec *spec, const char *peer)
{
	struct dpumap_error error;

	assert_int_equal(export_peers_add(&spec->allow, peer, &error), DOCA_SUCCESS);
}

/* The last export allows everyone. */
static void make_specs(struct export_spec specs[NUM], unsigned short seed[3])
{
	char name[16];

	for (size_t i = 0; i < NUM; i++) {
		specs[i] = (struct export_spec){.via = (enum export_via)(i % EXPORT_VIAS)};
		for (long peers = nrand48(seed) % 4; peers > 0; peers--) {
			snprintf(name, sizeof(name), "cert:h%ld", nrand48(seed) % (long)PEERS);
			add_peer(&specs[i], name);
		}
	}
	add_peer(&specs[NUM - 1], "*");
}

static bool walk(const struct export_spec specs[NUM], const bool is_there[NUM], const char *peer,
		 enum export_via via)
{
	for (size_t i = 0; i < NUM; i++)
		if (is_there[i] && specs[i].via == via &&
		    (export_peers_have(specs[i].allow, "*") ||
		     export_peers_have(specs[i].allow, peer)))
			return true;
	return false;
}

static void random_changes_keep_the_peers_exact(void **state)
{
	struct export_spec specs[NUM];
	bool is_there[NUM] = {false};
	struct importers importers = {0};
	unsigned short seed[3] = {1};
	char name[16];

	make_specs(specs, seed);
	for (size_t step = 0; step < STEPS; step++) {
		/* Most exports are absent, so that a peer can lose its last one. */
		size_t i = (size_t)nrand48(seed) % NUM;
		enum export_via via = (enum export_via)(nrand48(seed) % EXPORT_VIAS);

		if (is_there[i])
			importers_remove(&importers, &specs[i]);
		else if (nrand48(seed) % 8 == 0)
			importers_add(&importers, &specs[i]);
		else
			continue;
		is_there[i] = !is_there[i];
		snprintf(name, sizeof(name), "cert:h%ld", nrand48(seed) % (long)PEERS);
		assert_int_equal(importers_have(&importers, name, via),
				 walk(specs, is_there, name, via));
	}
	for (size_t i = 0; i < NUM; i++)
		if (is_there[i])
			importers_remove(&importers, &specs[i]);
	assert_null(importers.by_name);
	for (size_t i = 0; i < NUM; i++)
		export_peers_free(specs[i].allow);
}

/* The rights to each export are checked with each request: connecting is no right. */
static void without_memory_any_peer_may_connect(void **state)
{
	struct importers importers = {0};
	struct export_spec spec = {.via = EXPORT_VIA_PCI};

	add_peer(&spec, "cert:a");
	exhausted = true;
	importers_add(&importers, &spec);
	exhausted = false;
	assert_true(importers_have(&importers, "cert:a", EXPORT_VIA_PCI));
	assert_true(importers_have(&importers, "cert:b", EXPORT_VIA_PCI));
	importers_remove(&importers, &spec);
	export_peers_free(spec.allow);
	importers_free(&importers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes_keep_the_peers_exact),
		cmocka_unit_test(without_memory_any_peer_may_connect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
