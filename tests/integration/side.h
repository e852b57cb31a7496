/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One side of the card: it exports maps and imports those of the other, by number. A test has a
 * side of its own and, in another process on the other function, a peer with the same operations.
 */
#ifndef DPUMAP_TESTS_SIDE_H
#define DPUMAP_TESTS_SIDE_H

#include "rig.h"

#define SIDE_MAPS      8
#define SIDE_DESC_ROOM 512

enum side_source { SIDE_MEMORY = 1, SIDE_DEVICE_MEMORY = 2 };

struct side_desc {
	uint8_t bytes[SIDE_DESC_ROOM];
	size_t len;
};

struct side_map {
	struct doca_mmap *mmap;
	uint8_t *bytes; /* memory behind an export, NULL for device memory and imports */
	struct dpumap_dm *dm;
	void *addr;
	size_t len;
};

struct side {
	struct rig rig;
	struct rig_buf bounce;
	struct side_map maps[SIDE_MAPS];
};

struct side_export {
	enum side_source source;
	size_t len;
	uint32_t access;
	uint32_t seed; /* of the contents */
};

#define SIDE_BOUNCE_LEN (1u << 20)

doca_error_t side_open(struct side *side);
doca_error_t side_close(struct side *side);
doca_error_t side_export_map(struct side *side, unsigned int map, const struct side_export *what,
			     struct side_desc *desc);
doca_error_t side_import_map(struct side *side, unsigned int map, const struct side_desc *desc);

/* Through the device: between the bounce buffer and a map. */
doca_error_t side_read(struct side *side, unsigned int map, size_t offset, uint8_t *dst,
		       size_t len);
doca_error_t side_write(struct side *side, unsigned int map, size_t offset, const uint8_t *src,
			size_t len);

/* Through the CPU: what an exporter itself finds in its memory. */
doca_error_t side_peek(struct side *side, unsigned int map, size_t offset, uint8_t *dst,
		       size_t len);
doca_error_t side_stop(struct side *side, unsigned int map);
doca_error_t side_drop(struct side *side, unsigned int map);

/* Plain verbs with a key of somebody else: an ibv_wc_status, or -1 if the test itself failed. */
enum raw_use { RAW_REMOTE_READ, RAW_REMOTE_WRITE, RAW_LOCAL };
int raw_access(uint32_t key, uint64_t addr, enum raw_use use);

#endif
