/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A process that shares memory with the other function of the card: it exports maps and imports
 * those of the other process, by number. The parent has a sharer of its own, and so has its peer.
 */
#ifndef DPUMAP_TESTS_SHARER_H
#define DPUMAP_TESTS_SHARER_H

#include "fixture.h"

#define SHARER_MAPS	  8
#define DESCRIPTOR_ROOM	  512
#define SHARER_BOUNCE_LEN (1u << 20)

enum map_source { FROM_MEMORY = 1, FROM_DEVICE_MEMORY = 2 };

struct descriptor {
	uint8_t bytes[DESCRIPTOR_ROOM];
	size_t len;
};

struct shared_map {
	struct doca_mmap *mmap;
	uint8_t *bytes; /* memory behind an export, NULL for device memory and imports */
	struct dpumap_dm *dm;
	void *addr;
	size_t len;
};

struct sharer {
	struct fixture fixture;
	struct fixture_buf bounce;
	struct shared_map maps[SHARER_MAPS];
};

struct map_spec {
	enum map_source source;
	size_t len;
	uint32_t access;
	uint32_t seed; /* of the contents */
};

doca_error_t sharer_open(struct sharer *sharer);
doca_error_t sharer_close(struct sharer *sharer);
doca_error_t sharer_export(struct sharer *sharer, unsigned int map, const struct map_spec *what,
			   struct descriptor *desc);
doca_error_t sharer_import(struct sharer *sharer, unsigned int map, const struct descriptor *desc);

/* Through the device: between the bounce buffer and a map. */
doca_error_t sharer_read(struct sharer *sharer, unsigned int map, size_t offset, uint8_t *dst,
			 size_t len);
doca_error_t sharer_write(struct sharer *sharer, unsigned int map, size_t offset,
			  const uint8_t *src, size_t len);

/* Through the CPU: the memory of an export, in its own process. */
doca_error_t sharer_peek(struct sharer *sharer, unsigned int map, size_t offset, uint8_t *dst,
			 size_t len);
doca_error_t sharer_stop(struct sharer *sharer, unsigned int map);
doca_error_t sharer_drop(struct sharer *sharer, unsigned int map);

/*
 * Check the result of an export: false if it succeeded; true if it was refused, on a device that does
 * not share memory of that source with other functions.
 */
bool sharer_was_refused(doca_error_t result, enum map_source source);

#endif
