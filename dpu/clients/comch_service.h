/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Offers the exports to programs of the host that connect with doca_comch. */
#ifndef DPUMAPD_COMCH_SERVICE_H
#define DPUMAPD_COMCH_SERVICE_H

#include <stdbool.h>

#include <doca_dev.h>

#include "dpu/base/loop.h"
#include "dpu/clients/server.h"
#include "local/error.h"

struct comch_service;

/*
 * Serves each function of the host that the device represents. Borrows its arguments until
 * comch_service_destroy(). NOT_SUPPORTED: the device cannot serve, for example because it is not a
 * DPU's; IN_USE: another program serves this name.
 */
doca_error_t comch_service_create(struct loop *loop, struct server *server, struct doca_dev *dev,
				  const char *name, struct comch_service **service,
				  struct dpumap_error *error);
/* Disconnects every client. To be called before server_destroy(). NULL is allowed. */
void comch_service_destroy(struct comch_service *service);

/* Is there work that no descriptor announces? comch_service_work() does a little of it. */
bool comch_service_has_work(const struct comch_service *service);
void comch_service_work(struct comch_service *service);
/* To be called about twice a second: ends connections that could not be ended before. */
void comch_service_tick(struct comch_service *service);

#endif
