/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/counters.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/base/log.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/sysfs.h"

#define FILE_BYTES  192
#define NAME_(name) [EMU_COUNTER_##name] = #name,

static const char *const names[EMU_COUNTERS] = {EMU_PORT_COUNTERS(NAME_) EMU_HW_COUNTERS(NAME_)
							EMU_VIOLATION_COUNTERS(NAME_)};

/* What cannot happen on a link without noise and switches. */
static const char *const zeros[] = {
	"counters/symbol_error",
	"counters/link_error_recovery",
	"counters/port_rcv_errors",
	"counters/port_rcv_remote_physical_errors",
	"counters/port_rcv_switch_relay_errors",
	"counters/port_xmit_discards",
	"counters/port_xmit_constraint_errors",
	"counters/port_rcv_constraint_errors",
	"counters/local_link_integrity_errors",
	"counters/excessive_buffer_overrun_errors",
	"counters/VL15_dropped",
	"counters/port_xmit_wait",
	"hw_counters/rx_dct_connect",
	"hw_counters/rp_cnp_ignored",
};

static uint64_t past[EMU_MAX_FUNCS][EMU_COUNTERS];
static uint64_t shown[EMU_MAX_FUNCS][EMU_COUNTERS];

const char *emu_counter_name(enum emu_counter id)
{
	return names[id];
}

uint64_t emu_counter_value(const struct emu_func *f, enum emu_counter id)
{
	uint64_t sum = past[f->index][id];

	for (const struct emu_proc *p = emu_procs; p; p = p->next)
		sum += atomic_load(&emu_queues->counter[p->slot][f->index][id]);
	return id == EMU_COUNTER_port_xmit_data || id == EMU_COUNTER_port_rcv_data ? sum / 4 : sum;
}

const char *emu_counter_hw(const struct emu_func *f, unsigned int i, uint64_t *value)
{
	static const char dir[] = "hw_counters/";
	unsigned int id = EMU_COUNTER_FIRST_HW + i;
	size_t z = 0;

	*value = 0;
	if (id < EMU_FILE_COUNTERS) {
		*value = emu_counter_value(f, (enum emu_counter)id);
		return names[id];
	}
	for (id -= EMU_FILE_COUNTERS; z < ARRAY_SIZE(zeros); z++)
		if (!strncmp(zeros[z], dir, sizeof(dir) - 1) && !id--)
			return zeros[z] + sizeof(dir) - 1;
	return NULL;
}

void emu_counter_add(const struct emu_func *f, enum emu_counter id, uint64_t n)
{
	past[f->index][id] += n;
}

void emu_counters_keep_ended(uint32_t slot)
{
	for (unsigned int f = 0; f < EMU_MAX_FUNCS; f++)
		for (unsigned int id = 0; id < EMU_COUNTERS; id++)
			past[f][id] += atomic_exchange(&emu_queues->counter[slot][f][id], 0);
}

/* --- files ------------------------------------------------------------------------------------ */

static const char *file_of(const struct emu_func *f, const char *name, char file[FILE_BYTES])
{
	char ib[EMU_IBDEV_PATH];

	emu_func_ibdev(f, ib);
	snprintf(file, FILE_BYTES, "%s/ports/1/%s", ib, name);
	return file;
}

static const char *file_of_counter(const struct emu_func *f, unsigned int id, char file[FILE_BYTES])
{
	char name[64];

	snprintf(name, sizeof(name), "%s/%s",
		 id < EMU_COUNTER_FIRST_HW ? "counters" : "hw_counters", names[id]);
	return file_of(f, name, file);
}

int emu_counters_create(const struct emu_func *f)
{
	char file[FILE_BYTES];
	int err = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(zeros) && !err; i++)
		err = emu_sysfs_put(f, file_of(f, zeros[i], file), "0");
	for (unsigned int i = 0; i < EMU_FILE_COUNTERS && !err; i++)
		err = emu_sysfs_put(f, file_of_counter(f, i, file), "0");
	/* Milliseconds for which a driver may show the same numbers. */
	return err ? err : emu_sysfs_put(f, file_of(f, "hw_counters/lifespan", file), "10");
}

static void refresh(const struct emu_func *f, unsigned int id)
{
	uint64_t value = emu_counter_value(f, (enum emu_counter)id);
	char file[FILE_BYTES];
	int err;

	if (value == shown[f->index][id])
		return;
	err = emu_sysfs_overwrite(f, file_of_counter(f, id, file), value);
	if (err)
		emu_log("%s: mlx5_%u: %s still shows its former number: %s", f->role, f->dev,
			names[id], strerror(-err));
	else
		shown[f->index][id] = value;
}

void emu_counters_refresh(void)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		for (unsigned int id = 0; id < EMU_FILE_COUNTERS; id++)
			refresh(&emu_topology.func[i], id);
}
