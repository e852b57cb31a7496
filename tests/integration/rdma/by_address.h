/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections by address: `there` is the server, `here` the client. */
#ifndef DPUMAP_TESTS_RDMA_BY_ADDRESS_H
#define DPUMAP_TESTS_RDMA_BY_ADDRESS_H

#include "side.h"

#define BY_ADDRESS_PORT	     13579
#define BY_ADDRESS_NO_SERVER 13580 /* a port without listener */

/* What the server does with a request. */
extern enum by_address_answer {
	BY_ADDRESS_ACCEPT,
	BY_ADDRESS_REJECT,
	BY_ADDRESS_WAIT
} by_address_answer;
/* The address of the server; teardown destroys it unless it is NULL. */
extern struct doca_rdma_addr *by_address_server;

/* The server's reaction to a word of its log. */
void by_address_serve(struct side *side, const char *word);

/* Both sides are IDLE, or run, and the server listens. */
int by_address_idle_setup(void **state);
int by_address_setup(void **state);
int by_address_teardown(void **state);
#define by_address_idle_test(function) \
	cmocka_unit_test_setup_teardown(function, by_address_idle_setup, by_address_teardown)
#define by_address_test(function) \
	cmocka_unit_test_setup_teardown(function, by_address_setup, by_address_teardown)

/* One more connection; its user data is 7. */
void by_address_connect(void);
/* Send a message through connection i. */
void by_address_exchange(unsigned int i);

#endif
