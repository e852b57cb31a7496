/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the checks of a group share. All zero at the beginning; each group uses its part. */
#ifndef DPUMAP_DOCTOR_CHECK_CONTEXT_H
#define DPUMAP_DOCTOR_CHECK_CONTEXT_H

#include <doca_mmap.h>
#include <dpumap/dma.h>

#include "channel/client.h"
#include "doctor/check.h"
#include "doctor/device.h"
#include "doctor/doctor.h"

struct trial {
	void *page; /* two pages: source and target */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct dpumap_dma *dma;
	unsigned int num_left; /* objects that could not be released */
	char left[240];
	char library_error[320]; /* last line of the library's log */
};

struct connection {
	struct dpumap_address address;
	struct dpumap_tls *tls;
	int fd; /* descriptor of the connection plus 1; 0: none */
	char peer[DPUMAP_PEER_NAME_MAX];
	bool has_hello;
	struct dpumap_client *client; /* NULL: greeting has the error */
	struct dpumap_error hello_error;
	char export_name[DPUMAP_EXPORT_NAME_MAX]; /* of one that may be imported */
	bool is_pci;
	bool can_import; /* the chosen device is on the card of the export */
	char why[32];	 /* id of the check that failed */
};

struct check_context {
	const struct dpumap_doctor_options *options;
	struct json_object *findings; /* of earlier groups */
	struct device device;
	struct trial trial;
	struct connection connection;
};

#endif
