/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/firmware.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/ipc/proto.h"
#include "emu/server/base/log.h"

#define MAX_ATTRS	 4
#define UAR_BYTES	 4096u
#define STATUS_INTERNAL	 0x01u /* in the first byte of an answer */
#define UAR_MMAP_COMMAND 10u   /* a doorbell page: EMU_MMAP_ALLOC_WC */

union call {
	struct ib_uverbs_ioctl_hdr head;
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		     MAX_ATTRS * sizeof(struct ib_uverbs_attr)];
};

static void begin(union call *c, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->head.object_id = EMU_OBJECT_FUNCTION;
	c->head.method_id = method;
	c->head.driver_id = RDMA_DRIVER_MLX5;
}

static struct ib_uverbs_attr *add(union call *c, uint16_t attr, uint16_t len, const void *data)
{
	struct ib_uverbs_attr *a = &c->head.attrs[c->head.num_attrs++];

	a->attr_id = attr;
	a->len = len;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	a->data = (uintptr_t)data;
	return a;
}

static int issue(int fd, union call *c)
{
	c->head.length = (uint16_t)(sizeof(c->head) + c->head.num_attrs * sizeof(c->head.attrs[0]));
	return ioctl(fd, RDMA_VERBS_IOCTL, &c->head) ? errno : 0;
}

/* The whole memory of the card, as the BAR has it. */
static int open_dm(struct emu_fw *fw)
{
	struct ib_uverbs_attr *file;
	union call c;
	void *p;
	int err;

	begin(&c, EMU_FUNCTION_DM);
	add(&c, EMU_FUNCTION_DM_PLACE, sizeof(fw->dm), &fw->dm);
	file = add(&c, EMU_FUNCTION_DM_FILE, 0, NULL);
	err = issue(fw->fd, &c);
	if (err)
		return err == EOPNOTSUPP ? 0 : err;
	fw->dm_fd = (int)file->data_s64;
	p = mmap(NULL, fw->dm.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fw->dm_fd,
		 (off_t)fw->dm.offset);
	if (p == MAP_FAILED)
		return errno;
	fw->dm_bytes = p;
	return 0;
}

/* A function has one device file, whose number is that of the card. */
static int open_device(void)
{
	const char *dir = getenv(EMU_ENV_DIR), *role = getenv(EMU_ENV_ROLE);
	char path[PATH_MAX], device[64] = "";
	struct dirent *entry;
	unsigned int number;
	DIR *files;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", role ? role : "");
	files = opendir(path);
	if (!files)
		return -1;
	while ((entry = readdir(files)))
		if (sscanf(entry->d_name, "uverbs%u", &number) == 1)
			snprintf(device, sizeof(device), "/dev/infiniband/uverbs%u", number);
	closedir(files);
	return open(device, O_RDWR | O_CLOEXEC);
}

static int open_function(struct emu_fw *fw)
{
	struct ib_uverbs_attr *events;
	union call c;
	int err;

	begin(&c, EMU_FUNCTION_OPEN);
	add(&c, EMU_FUNCTION_INFO, sizeof(fw->info), &fw->info);
	events = add(&c, EMU_FUNCTION_EVENTS, 0, NULL);
	err = issue(fw->fd, &c);
	fw->events = err ? -1 : (int)events->data_s64;
	return err;
}

int emu_fw_open(struct emu_fw *fw)
{
	int err = 0;

	fw->events = fw->dm_fd = -1;
	fw->fd = open_device();
	err = fw->fd < 0 ? errno : open_function(fw);
	if (!err)
		err = open_dm(fw);
	if (!err)
		return 0;
	emu_log("cannot open the function: %s%s", strerror(err),
		err == EBUSY ? "; another dpumap-emu pci offers it" : "");
	emu_fw_close(fw);
	return err;
}

void emu_fw_close(struct emu_fw *fw)
{
	if (fw->dm_bytes)
		munmap(fw->dm_bytes, fw->dm.bytes);
	if (fw->dm_fd >= 0)
		close(fw->dm_fd);
	if (fw->events >= 0)
		close(fw->events);
	if (fw->fd >= 0)
		close(fw->fd);
}

/* An answer longer than an attribute can be is cut: no command has one. */
bool emu_fw_command(const struct emu_fw *fw, const uint8_t *in, size_t in_len, uint8_t *out,
		    size_t out_len)
{
	union call c;
	int err;

	begin(&c, EMU_FUNCTION_COMMAND);
	add(&c, EMU_FUNCTION_IN, (uint16_t)(in_len < UINT16_MAX ? in_len : UINT16_MAX), in);
	add(&c, EMU_FUNCTION_OUT, (uint16_t)(out_len < UINT16_MAX ? out_len : UINT16_MAX), out);
	err = issue(fw->fd, &c);
	if (!err || err == EREMOTEIO)
		return true;
	if (err == EINPROGRESS)
		return false;
	memset(out, 0, out_len);
	out[0] = STATUS_INTERNAL;
	return true;
}

uint32_t emu_fw_memory(const struct emu_fw *fw, uint64_t address, uint64_t len)
{
	uint32_t id = 0;
	union call c;

	begin(&c, EMU_FUNCTION_MEMORY);
	add(&c, EMU_FUNCTION_ADDRESS, sizeof(address), NULL)->data = address;
	add(&c, EMU_FUNCTION_LENGTH, sizeof(len), NULL)->data = len;
	add(&c, EMU_FUNCTION_MEMORY_ID, sizeof(id), &id);
	return issue(fw->fd, &c) ? 0 : id;
}

bool emu_fw_memory_end(const struct emu_fw *fw, uint32_t id)
{
	union call c;

	begin(&c, EMU_FUNCTION_MEMORY_END);
	add(&c, EMU_FUNCTION_MEMORY_ID, sizeof(id), NULL)->data = id;
	return !issue(fw->fd, &c);
}

uint8_t *emu_fw_uar(const struct emu_fw *fw, uint32_t page)
{
	const uint64_t pages = (uint64_t)(page >> 8) << 16 | UAR_MMAP_COMMAND << 8 | (page & 0xff);
	void *p = mmap(NULL, UAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fw->fd,
		       (off_t)(pages * UAR_BYTES));

	return p == MAP_FAILED ? NULL : p; // NOLINT(performance-no-int-to-ptr)
}

void emu_fw_uar_end(uint8_t *uar)
{
	munmap(uar, UAR_BYTES);
}

int emu_fw_event(const struct emu_fw *fw, struct emu_fw_event *event)
{
	struct pollfd ready = {.fd = fw->events, .events = POLLIN};
	ssize_t n;

	if (poll(&ready, 1, 0) != 1)
		return EAGAIN;
	n = read(fw->events, event, sizeof(*event));
	if (n == sizeof(*event))
		return 0;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? EAGAIN : EPIPE;
}

void emu_fw_reset(const struct emu_fw *fw)
{
	union call c;

	begin(&c, EMU_FUNCTION_RESET);
	issue(fw->fd, &c);
}
