/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "key_access.h"

#include "fixture.h"
#include "rc.h"

static int use_key(struct rc *rc, uint32_t key, uint64_t addr, enum key_use use)
{
	switch (use) {
	case KEY_REMOTE_READ:
		return rc_read(rc, key, addr, RC_ACCESS_LEN);
	case KEY_REMOTE_WRITE:
		return rc_write(rc, key, addr, RC_ACCESS_LEN);
	case KEY_LOCAL:
		return rc_gather(rc, key, addr, RC_ACCESS_LEN);
	}
	return -1;
}

int key_access(uint32_t key, uint64_t addr, enum key_use use)
{
	struct ibv_context *context = fixture_open_context();
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	int status = -1;
	struct rc rc;

	if (pd) {
		if (rc_open_loopback(&rc, pd))
			status = use_key(&rc, key, addr, use);
		rc_close(&rc);
		ibv_dealloc_pd(pd);
	}
	if (context)
		ibv_close_device(context);
	return status;
}
