/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names in a fleet, and the keys of its records. */
#ifndef DPUMAP_FLEET_NAMES_H
#define DPUMAP_FLEET_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <dpumap/fleet.h>

#include "local/error.h"

#define DPUMAP_FLEET_NAME_SIZE (DPUMAP_FLEET_NAME_MAX + 1)
#define DPUMAP_FLEET_URL_MAX   280 /* of an endpoint, with the NUL */
#define DPUMAP_FLEET_KEY_SIZE  256 /* of the longest key, with the NUL */

/* Copies a text, cut to the size with its NUL. */
void dpumap_fleet_copy(char *to, size_t size, const char *text);

bool dpumap_fleet_name_valid(const char *name);
/* INVALID_VALUE: "WHAT "NAME" ...". */
doca_error_t dpumap_fleet_name_check(const char *what, const char *name,
				     struct dpumap_error *error);
/* "KEY=VALUE": KEY is like a name, VALUE at most 63 printable characters. */
doca_error_t dpumap_fleet_label_check(const char *label, struct dpumap_error *error);
/* "http://HOST:PORT" or "https://HOST:PORT". */
doca_error_t dpumap_fleet_url_check(const char *url, struct dpumap_error *error);
/* "tls:HOST:PORT": the only addresses that a record may have. */
bool dpumap_fleet_address_valid(const char *address);

/* "/dpumap/v1/FLEET/dpus/", "/dpumap/v1/FLEET/dpus/DPU" */
void dpumap_fleet_key_dpu(const char *fleet, const char *dpu, char key[DPUMAP_FLEET_KEY_SIZE]);
/* "/dpumap/v1/FLEET/exports/", ".../exports/DPU/", ".../exports/DPU/NAME"; without NULL parts */
void dpumap_fleet_key_export(const char *fleet, const char *dpu, const char *name,
			     char key[DPUMAP_FLEET_KEY_SIZE]);
/* The end of the range of all keys that begin with key, which ends in '/'. */
void dpumap_fleet_key_end(const char *key, char end[DPUMAP_FLEET_KEY_SIZE]);

/* What a key names. name is empty for a DPU. */
struct dpumap_fleet_key {
	char dpu[DPUMAP_FLEET_NAME_SIZE];
	char name[DPUMAP_FLEET_NAME_SIZE];
};
/* false: the key is no record of this fleet. */
bool dpumap_fleet_key_parse(const char *fleet, const void *key, size_t len,
			    struct dpumap_fleet_key *parsed);
/* "DPU" or "DPU:EXPORT". INVALID_VALUE with the reason. */
doca_error_t dpumap_fleet_target_parse(const char *text, struct dpumap_fleet_key *parsed,
				       struct dpumap_error *error);

/* Bytes of a stranger for a line of the log: without control characters, and cut if they are long. */
#define DPUMAP_FLEET_SHOWN_SIZE 100
const char *dpumap_fleet_shown(const void *bytes, size_t len, char shown[DPUMAP_FLEET_SHOWN_SIZE]);

#endif
