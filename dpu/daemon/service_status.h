/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What "systemctl status" shows of dpumapd: exports, clients, addresses and the registry. */
#ifndef DPUMAPD_SERVICE_STATUS_H
#define DPUMAPD_SERVICE_STATUS_H

#include "dpu/daemon/daemon.h"

/* What the service manager was told last; all zero at the beginning. */
struct service_status {
	char *text;
};

/* Tells that dpumapd is ready, and the status. */
void service_status_ready(struct service_status *status, struct daemon *daemon);
/* Tells the status if it has changed. */
void service_status_update(struct service_status *status, struct daemon *daemon);
void service_status_free(struct service_status *status);

#endif
