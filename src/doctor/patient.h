/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the checks of a group share. All zero at the beginning; each group uses its part. */
#ifndef DPUMAP_DOCTOR_PATIENT_H
#define DPUMAP_DOCTOR_PATIENT_H

#include <infiniband/verbs.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dma.h>

#include "channel/channel.h"
#include "doctor/check.h"

/* One device, as libibverbs and the library have it. */
struct device {
	struct ibv_device **list;
	struct doca_devinfo **infos; /* of those that the library can use */
	struct ibv_device *ibdev;    /* the one that is looked at; NULL: none */
	struct doca_devinfo *info;   /* the same; NULL when the library does not know it */
	struct ibv_context *context;
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	int num;
	uint32_t num_infos;
	bool is_mlx5;
	bool devx;
	bool has_attr;
	bool has_port;
};

struct trial {
	void *page; /* two: a source and a target */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct dpumap_dma *dma;
	unsigned int num_left; /* what could not be given back */
	char left[240];
	char said[320]; /* the library's last word */
};

struct line {
	struct dpumap_address address;
	struct dpumap_tls *tls;
	int fd; /* of the connection that is looked at, plus 1; 0: none */
	char peer[DPUMAP_PEER_NAME_MAX];
	bool has_greeted;
	struct dpumap_client *client; /* NULL: greeting says why */
	struct dpumap_fault greeting;
	char export_name[DPUMAP_EXPORT_NAME_MAX]; /* of one that we may import */
	bool is_pci;
	char why[32]; /* id of the check that ended it */
};

struct patient {
	const struct dpumap_doctor_options *options;
	struct json_object *findings; /* of the groups before */
	struct device device;
	struct trial trial;
	struct line line;
};

/* In device.c: chooses as the agents do, or what findings say was chosen before. */
void doctor_device_list(struct device *device);
void doctor_device_choose(struct device *device, const struct dpumap_doctor_options *options);
bool doctor_device_open(struct device *device);
void doctor_device_close(struct device *device);
const char *doctor_device_name(const struct device *device);

#endif
