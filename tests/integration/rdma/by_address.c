/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "by_address.h"

enum by_address_answer by_address_answer;
struct doca_rdma_addr *by_address_server;

void by_address_serve(struct side *side, const char *word)
{
	unsigned int i;

	if (sscanf(word, "request:%u", &i) != 1)
		return;
	if (by_address_answer == BY_ADDRESS_REJECT)
		assert_ok(doca_rdma_connection_reject(side->connections[i]));
	if (by_address_answer != BY_ADDRESS_ACCEPT)
		return;
	assert_ok(doca_rdma_connection_set_user_data(side->connections[i],
						     (union doca_data){.u64 = 100 + i}));
	assert_ok(doca_rdma_connection_accept(side->connections[i], NULL, 0));
}

int by_address_idle_setup(void **state)
{
	char text[SIDE_TEXT];

	by_address_answer = BY_ADDRESS_ACCEPT;
	by_address_server = NULL;
	if (side_setup(state) || side_set_callbacks(&here) != DOCA_SUCCESS ||
	    side_set_callbacks(&there) != DOCA_SUCCESS)
		return -1;
	there.on_word = by_address_serve;
	if (!side_address(there.dev, DOCA_RDMA_ADDR_TYPE_IPv4, text))
		return -1;
	return doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, BY_ADDRESS_PORT,
				     &by_address_server) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

int by_address_setup(void **state)
{
	if (by_address_idle_setup(state) || side_start(&here) != DOCA_SUCCESS ||
	    side_start(&there) != DOCA_SUCCESS)
		return -1;
	return doca_rdma_start_listen_to_port(there.rdma, BY_ADDRESS_PORT) == DOCA_SUCCESS ? 0 : -1;
}

int by_address_teardown(void **state)
{
	here.on_word = there.on_word = NULL;
	if (here.ctx)
		side_stop(&here);
	if (by_address_server && doca_rdma_addr_destroy(by_address_server) != DOCA_SUCCESS)
		return -1;
	return side_teardown(state);
}

void by_address_connect(void)
{
	unsigned int n = here.n_connections;
	char word[32];

	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server,
					    (union doca_data){.u64 = 7}));
	snprintf(word, sizeof(word), "established:%u", n);
	assert_true(side_wait_word(&here, word, 1));
	assert_true(side_wait_word(&there, word, 1));
}

void by_address_exchange(unsigned int i)
{
	unsigned int n = there.n_done + 1;

	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 4096, 64));
	fixture_fill(here.bytes, 64, i);
	side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[i],
		.src = side_data(&here, 0, 64));
	assert_true(side_wait(&there, n));
	assert_ok(there.done[n - 1].status);
	assert_ptr_equal(there.done[n - 1].connection, there.connections[i]);
	assert_memory_equal(there.bytes + 4096, here.bytes, 64);
}
