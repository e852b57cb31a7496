/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * PRM, "Initialization Segment" and "Doorbells"; Linux, include/linux/mlx5/device.h: struct mlx5_init_seg.
 */
#include "emu/pci/function.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "emu/ipc/bytes.h"
#include "emu/ipc/codes.h"
#include "emu/ipc/limits.h"
#include "emu/prm/prm_cmd.h"
#include "emu/prm/prm_eq.h"
#include "emu/server/base/log.h"

#define UAR_BYTES 4096u
_Static_assert(EMU_FW_DM + EMU_DM_STRIDE <= EMU_PCI_BAR_BYTES, "the BAR has all device memory");

#define CMDIF_REV	 5u
#define EVENT_COMMAND	 0x0au
#define HEALTH_PERIOD_MS 10u

/* Offsets in the initialisation segment. */
enum {
	SEG_FW_REV = 0x00,
	SEG_CMDIF_REV = 0x04,
	SEG_CMDQ_ADDR_H = 0x10,
	SEG_CMDQ_ADDR_L = 0x14,
	SEG_CMD_DBELL = 0x18,
	SEG_INITIALIZING = 0x1fc,
	SEG_HEALTH_FW_VER = 0x230,
	SEG_HEALTH_SEVERITY = 0x238,
	SEG_HEALTH_SYNDROME = 0x23c,
	SEG_TIMER_H = 0x1000,
	SEG_TIMER_L = 0x1004,
	SEG_HEALTH_COUNTER = 0x1010,
};

/* Who may use the function: bits 10:8 of SEG_CMDQ_ADDR_L. */
enum emu_nic_state { NIC_FULL = 0, NIC_DISABLED = 1, NIC_RESET = 7 };

#define NIC_SHIFT	  8u
#define NIC_MASK	  7u
#define INITIALIZING	  (1u << 31)
#define RESET_SUPPORTED	  (1u << 30)
#define RESET_REQUIRED	  (0x80u << 24) /* of SEG_HEALTH_SEVERITY, */
#define SEVERITY_CRITICAL (0x0au << 24) /* with the bit that says that it is valid */
#define SYNDROME_FIRMWARE (0x01u << 16)

/* Offsets in a doorbell page. */
enum {
	UAR_EQ_ARM = 0x40,
	UAR_EQ_CI = 0x48,
};

/* --- commands --------------------------------------------------------------------------------- */

static void eq_created(struct emu_function *f, const uint8_t *in, const uint8_t *out,
		       struct emu_pages *pages)
{
	const uint8_t *eqc = emu_prm_at_const(in, EMU_CREATE_EQ_IN_EQC);
	const uint32_t eqn = (uint32_t)emu_prm_get(out, EMU_CREATE_EQ_OUT_EQ_NUMBER);

	emu_eq_create(&f->eqs, eqn, pages->view, (uint32_t)emu_prm_get(eqc, EMU_EQC_LOG_EQ_SIZE),
		      (uint32_t)emu_prm_get(eqc, EMU_EQC_INTR));
	pages->view = NULL;
	if (emu_prm_get(in, EMU_CREATE_EQ_IN_EVENT_BITMASK) & 1u << EVENT_COMMAND)
		f->command_eqn = eqn;
}

static void eq_destroyed(struct emu_function *f, const uint8_t *in)
{
	const uint32_t eqn = (uint32_t)emu_prm_get(in, EMU_EQ_IN_EQ_NUMBER);

	emu_function_events(f); /* the next queue may have the same number */
	emu_eq_destroy(&f->eqs, eqn);
	if (f->command_eqn == eqn)
		f->command_eqn = 0;
}

static void uar_allocated(struct emu_function *f, const uint8_t *out)
{
	const uint32_t page = (uint32_t)emu_prm_get(out, EMU_CMD_OUT_NUMBER);

	if (page < EMU_FW_UARS && !f->uar[page])
		f->uar[page] = emu_fw_uar(&f->firmware, page);
}

static void uar_freed(struct emu_function *f, uint32_t page)
{
	if (page >= EMU_FW_UARS || !f->uar[page])
		return;
	emu_fw_uar_end(f->uar[page]);
	f->uar[page] = NULL;
}

/* The objects of the driver have ended: what they used is free. */
static void forget_objects(struct emu_function *f)
{
	emu_objects_release_all(&f->objects);
	for (uint32_t page = 0; page < EMU_FW_UARS; page++)
		uar_freed(f, page);
	f->command_eqn = 0;
}

/* What the function itself has of the objects that a successful command is about. */
static void follow(struct emu_function *f, const uint8_t *in, const uint8_t *out,
		   struct emu_pages *pages)
{
	switch (emu_prm_get(in, EMU_CMD_IN_OPCODE)) {
	case EMU_CMD_CREATE_EQ:
		eq_created(f, in, out, pages);
		break;
	case EMU_CMD_DESTROY_EQ:
		eq_destroyed(f, in);
		break;
	case EMU_CMD_ALLOC_UAR:
		uar_allocated(f, out);
		break;
	case EMU_CMD_DEALLOC_UAR:
		uar_freed(f, (uint32_t)emu_prm_get(in, EMU_OBJECT_IN_NUMBER));
		break;
	case EMU_CMD_TEARDOWN_HCA:
		emu_eqs_destroy_all(&f->eqs);
		emu_function_events(f); /* they are for nobody */
		forget_objects(f);
		break;
	default:
		break;
	}
}

static void refuse(uint8_t *out)
{
	emu_prm_set(out, EMU_CMD_OUT_STATUS, EMU_STATUS_BAD_PARAM);
}

static bool execute(void *context, uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	struct emu_function *f = context;
	struct emu_pages pages;
	bool is_executed;

	if (emu_objects_umem(&f->objects, in, in_len, out))
		return true;
	emu_objects_hide_umems(&f->objects, in, in_len);
	if (emu_pages_replace(&f->objects.of, in, &in_len, &pages)) {
		refuse(out);
		return true;
	}
	is_executed = emu_fw_command(&f->firmware, in, in_len, out, out_len);
	if (!is_executed || emu_prm_get(out, EMU_CMD_OUT_STATUS)) {
		emu_pages_release(&f->objects.of, &pages);
		return is_executed;
	}
	follow(f, in, out, &pages);
	if (emu_prm_get(in, EMU_CMD_IN_OPCODE) == EMU_CMD_MODIFY_CQ)
		emu_objects_resized(&f->objects, in, &pages);
	else
		emu_objects_created(&f->objects, in, out, &pages);
	emu_objects_destroyed(&f->objects, in);
	return true;
}

/* The queue that reports commands does not report the command that creates it. */
static void ring(struct emu_function *f, uint32_t vector)
{
	const uint32_t eqn = f->command_eqn;
	struct emu_fw_event event = {.eqn = (uint8_t)eqn, .type = EVENT_COMMAND};

	vector = emu_cmdq_ring(&f->commands, vector);
	emu_put32(event.data, vector);
	if (vector && eqn && eqn == f->command_eqn)
		emu_eq_put(&f->eqs, &event, &f->irqs);
}

/* --- BAR 0 ------------------------------------------------------------------------------------ */

static uint32_t health_counter(const struct emu_function *f)
{
	return f->health.has_failed ? f->health.failed_at
				    : (uint32_t)(monotonic_ms() / HEALTH_PERIOD_MS);
}

static uint32_t firmware_revision(const struct emu_function *f)
{
	const uint64_t version = f->firmware.info.fw_ver;

	return (uint32_t)(version >> 16 & 0xffff) << 16 | (uint32_t)(version >> 32 & 0xffff);
}

static uint32_t segment_word(const struct emu_function *f, uint64_t at)
{
	switch (at) {
	case SEG_FW_REV:
	case SEG_HEALTH_FW_VER:
		return firmware_revision(f);
	case SEG_CMDIF_REV:
		return CMDIF_REV << 16 | (uint32_t)(f->firmware.info.fw_ver & 0xffff);
	case SEG_CMDQ_ADDR_H:
		return (uint32_t)(f->commands.address >> 32);
	case SEG_CMDQ_ADDR_L:
		return (uint32_t)f->commands.address | f->health.nic << NIC_SHIFT |
		       EMU_CMDQ_LOG_ENTRIES << 4 | EMU_CMDQ_LOG_STRIDE;
	case SEG_INITIALIZING:
		return RESET_SUPPORTED |
		       (f->health.is_broken && !f->health.has_failed ? INITIALIZING : 0);
	case SEG_HEALTH_SEVERITY:
		return f->health.has_failed ? RESET_REQUIRED | SEVERITY_CRITICAL : 0;
	case SEG_HEALTH_SYNDROME:
		return f->health.has_failed ? SYNDROME_FIRMWARE : 0;
	case SEG_TIMER_H:
		return (uint32_t)(monotonic_ns() >> 32);
	case SEG_TIMER_L:
		return (uint32_t)monotonic_ns();
	case SEG_HEALTH_COUNTER:
		return health_counter(f);
	default:
		return 0;
	}
}

/*
 * The lower half of the command queue's address, and who uses the function from now on. A driver disables the
 * function to end all work at once, or resets it, after which it is disabled.
 */
static void write_queue_address(struct emu_function *f, uint32_t word)
{
	const uint32_t nic = word >> NIC_SHIFT & NIC_MASK;

	if (nic == NIC_DISABLED || nic == NIC_RESET) {
		emu_function_reset(f);
		f->health.nic = NIC_DISABLED;
	} else if (nic == NIC_FULL) {
		f->health.nic = NIC_FULL;
		emu_cmdq_place(&f->commands, (uint64_t)f->address_high << 32 | (word & ~0xfffu));
	}
}

static void write_segment(struct emu_function *f, uint64_t at, uint32_t word)
{
	switch (at) {
	case SEG_CMDQ_ADDR_H:
		f->address_high = word;
		break;
	case SEG_CMDQ_ADDR_L:
		write_queue_address(f, word);
		break;
	case SEG_CMD_DBELL:
		ring(f, word);
		break;
	default:
		break;
	}
}

/* A store that the engine sees as that of a program. */
static void store(uint8_t *to, const uint8_t *data, uint32_t len)
{
	uint64_t eight;
	uint32_t four;

	for (; len >= 8 && !((uintptr_t)to % 8); len -= 8, to += 8, data += 8) {
		memcpy(&eight, data, 8);
		__atomic_store_n((uint64_t *)(void *)to, eight, __ATOMIC_RELEASE);
	}
	for (; len >= 4; len -= 4, to += 4, data += 4) {
		memcpy(&four, data, 4);
		__atomic_store_n((uint32_t *)(void *)to, four, __ATOMIC_RELEASE);
	}
}

static void write_uar(struct emu_function *f, uint64_t at, const uint8_t *data, uint32_t len)
{
	const uint64_t page = at / UAR_BYTES, in_page = at % UAR_BYTES;

	if (!f->uar[page] || at % 4 || len % 4 || len > UAR_BYTES - in_page)
		return;
	if (len == 4 && (in_page == UAR_EQ_ARM || in_page == UAR_EQ_CI))
		emu_eq_ring(&f->eqs, emu_get32(data), in_page == UAR_EQ_ARM, &f->irqs);
	else
		store(f->uar[page] + in_page, data, len);
}

/* A virtual machine that does not map device memory accesses it by messages. */
static uint8_t *dm_at(const struct emu_function *f, uint64_t at, uint32_t len)
{
	const struct emu_fw *fw = &f->firmware;

	return at - EMU_FW_DM < fw->dm.bytes && len <= fw->dm.bytes - (at - EMU_FW_DM)
		       ? fw->dm_bytes + (at - EMU_FW_DM)
		       : NULL;
}

static void write_bar(struct emu_function *f, uint64_t at, const uint8_t *data, uint32_t len)
{
	uint8_t *dm = dm_at(f, at, len);

	if (dm)
		memcpy(dm, data, len);
	else if (at >= EMU_FW_DM)
		return;
	else if (at >= EMU_FW_FIRST_UAR * UAR_BYTES)
		write_uar(f, at, data, len);
	else if (!(at % 4))
		for (; len >= 4; len -= 4, at += 4, data += 4)
			write_segment(f, at, emu_get32(data));
}

/* Doorbell pages are not read by drivers, and are zeros. */
static void read_bar(const struct emu_function *f, uint64_t at, uint8_t *data, uint32_t len)
{
	const uint8_t *dm = dm_at(f, at, len);
	uint8_t word[4];

	for (uint32_t i = 0; !dm && i < len; i++) {
		if (!i || !((at + i) % 4))
			emu_put32(word, at + i < EMU_FW_FIRST_UAR * UAR_BYTES
						? segment_word(f, (at + i) & ~3ull)
						: 0);
		data[i] = word[(at + i) % 4];
	}
	if (dm)
		memcpy(data, dm, len);
}

/* --- regions ---------------------------------------------------------------------------------- */

uint64_t emu_function_region(uint32_t index)
{
	static const uint64_t bytes[] = {
		[VFIO_PCI_BAR0_REGION_INDEX] = EMU_PCI_BAR_BYTES,
		[VFIO_PCI_BAR2_REGION_INDEX] = EMU_PCI_MSIX_BYTES,
		[VFIO_PCI_CONFIG_REGION_INDEX] = EMU_PCI_CONFIG_BYTES,
	};

	return index < ARRAY_SIZE(bytes) ? bytes[index] : 0;
}

bool emu_function_area(const struct emu_function *f, uint32_t index, struct emu_function_area *area)
{
	const struct emu_fw *fw = &f->firmware;

	if (index != VFIO_PCI_BAR0_REGION_INDEX || !fw->dm.bytes)
		return false;
	*area = (struct emu_function_area){EMU_FW_DM, fw->dm.bytes, fw->dm_fd,
					   fw->dm.offset - EMU_FW_DM};
	return true;
}

/* The table of vectors is the virtual machine's: it tells what matters by eventfds. */
void emu_function_read(const struct emu_function *f, uint32_t region, uint64_t at, uint8_t *data,
		       uint32_t len)
{
	if (region == VFIO_PCI_BAR0_REGION_INDEX)
		read_bar(f, at, data, len);
	else if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		memcpy(data, f->config.byte + at, len);
	else
		memset(data, 0, len);
}

void emu_function_write(struct emu_function *f, uint32_t region, uint64_t at, const uint8_t *data,
			uint32_t len)
{
	if (region == VFIO_PCI_BAR0_REGION_INDEX)
		write_bar(f, at, data, len);
	else if (region == VFIO_PCI_CONFIG_REGION_INDEX &&
		 emu_pci_config_write(&f->config, at, data, len))
		emu_function_reset(f);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void name_space(struct emu_function *f)
{
	f->objects.of.space =
		emu_fw_memory(&f->firmware, emu_guest_base(f->guest), EMU_GUEST_SPACE);
}

int emu_function_open(struct emu_function *f)
{
	int err = emu_fw_open(&f->firmware);

	if (err)
		return err;
	err = emu_guest_create(&f->guest);
	if (err) {
		emu_log("cannot reserve addresses for the memory of a virtual machine: %s; see "
			"ulimit -v",
			strerror(err));
		emu_fw_close(&f->firmware);
		return err;
	}
	emu_irqs_init(&f->irqs);
	emu_pci_config_init(&f->config, f->firmware.info.device);
	f->commands = (struct emu_cmdq){.guest = f->guest, .execute = execute, .context = f};
	f->objects.of = (struct emu_pages_of){.guest = f->guest, .firmware = &f->firmware};
	name_space(f);
	return 0;
}

/*
 * Events of the objects that end are for nobody, and those of the same numbers are not for the next ones. A failure
 * that is reported meanwhile may be one that the reset has ended: then the driver resets once more.
 */
void emu_function_reset(struct emu_function *f)
{
	emu_eqs_destroy_all(&f->eqs);
	emu_function_events(f);
	emu_fw_reset(&f->firmware);
	f->health = (struct emu_health){.is_broken = f->health.is_broken};
	emu_function_events(f);
	forget_objects(f);
	name_space(f);
	emu_cmdq_place(&f->commands, 0);
	f->address_high = 0;
	emu_pci_config_init(&f->config, f->firmware.info.device);
}

void emu_function_leave(struct emu_function *f)
{
	emu_function_reset(f);
	emu_irqs_clear(&f->irqs);
	emu_guest_unmap_all(f->guest);
}

static void change(struct emu_function *f, const struct emu_fw_event *event)
{
	f->health.is_broken = event->type == EMU_FW_FAILED;
	if (event->type != EMU_FW_FAILED || f->health.has_failed)
		return;
	f->health.failed_at = health_counter(f);
	f->health.has_failed = true;
}

bool emu_function_events(struct emu_function *f)
{
	struct emu_fw_event event;
	int err;

	while (!(err = emu_fw_event(&f->firmware, &event)))
		if (event.eqn)
			emu_eq_put(&f->eqs, &event, &f->irqs);
		else
			change(f, &event);
	return err == EAGAIN;
}
