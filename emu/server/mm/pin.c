/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/pin.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/server/card/topology.h"
#include "emu/server/mm/share.h"
#include "emu/server/mm/user_copy.h"

#define NO_PROCESS (-1) /* no process has this number */

/* The locked pages of one process, until it ends or executes another program. */
struct emu_mm {
	struct emu_mm *next;
	pid_t pid;
	uint64_t pages;
};

/* The page of a doorbell record, pinned once for all records in it (mlx5_ib_db_map_user). */
struct emu_db_page {
	struct emu_db_page *next;
	uint64_t addr;
	unsigned int users;
	struct emu_pin pin;
};

static struct emu_mm *mms;

bool emu_capable(pid_t pid, unsigned int cap)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, pid};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &hdr, data))
		return true;
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

/* A limit of 0 means EPERM (can_do_mlock). */
static int check_limit(const struct emu_pin_owner *owner, uint64_t pages)
{
	struct rlimit limit;

	if (!owner->limited || prlimit(owner->pid, RLIMIT_MEMLOCK, NULL, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY ||
	    (limit.rlim_cur && pages <= limit.rlim_cur / EMU_PAGE) ||
	    emu_capable(owner->pid, CAP_IPC_LOCK))
		return 0;
	return limit.rlim_cur ? -ENOMEM : -EPERM;
}

static struct emu_mm *mm_of(pid_t pid)
{
	struct emu_mm *mm = mms;

	while (mm && mm->pid != pid)
		mm = mm->next;
	if (mm)
		return mm;
	mm = calloc(1, sizeof(*mm));
	if (!mm)
		return NULL;
	mm->pid = pid;
	mm->next = mms;
	mms = mm;
	return mm;
}

static void put_pages(struct emu_mm *mm, uint64_t pages)
{
	struct emu_mm **link = &mms;

	mm->pages -= pages;
	if (mm->pages)
		return;
	while (*link != mm)
		link = &(*link)->next;
	*link = mm->next;
	free(mm);
}

static uint64_t pages_of(uint64_t addr, uint64_t len)
{
	return len ? (addr + len - 1) / EMU_PAGE - addr / EMU_PAGE + 1 : addr % EMU_PAGE != 0;
}

int emu_pin(const struct emu_pin_owner *owner, uint64_t addr, uint64_t len, bool write,
	    struct emu_pin *pin)
{
	uint64_t pages = pages_of(addr, len);
	struct emu_span span;
	struct emu_mm *mm;
	int err;

	if (!pages || pages > UINT32_MAX || addr + len < addr ||
	    addr + len + EMU_PAGE - 1 < addr + len)
		return -EINVAL; /* ib_umem_get() */
	if (!len)		/* the page has to be there */
		len = 1;
	mm = mm_of(owner->pid);
	if (!mm)
		return -ENOMEM;
	err = check_limit(owner, mm->pages + pages);
	if (!err)
		err = emu_find_range(owner->pid, addr, len,
				     write ? EMU_USE_PIN_WRITE : EMU_USE_READ, &span);
	if (err) {
		put_pages(mm, 0);
		return err;
	}
	mm->pages += pages;
	*pin = (struct emu_pin){mm, pages, emu_share_open(owner->pid, &span), span.offset};
	return 0;
}

void emu_unpin(struct emu_pin *pin)
{
	if (pin->mm)
		put_pages(pin->mm, pin->pages);
	emu_share_close(pin->shared);
	*pin = (struct emu_pin){0};
}

void emu_pin_forget(pid_t pid)
{
	for (struct emu_mm *mm = mms; mm; mm = mm->next)
		if (mm->pid == pid)
			mm->pid = NO_PROCESS;
}

/* --- queues ----------------------------------------------------------------------------------- */

static int pin_db_page(const struct emu_pin_owner *owner, struct emu_db_page **pages, uint64_t addr,
		       struct emu_db_page **out)
{
	struct emu_db_page *p = *pages;
	int err;

	while (p && (p->addr != addr || p->pin.mm->pid != owner->pid))
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		err = emu_pin(owner, addr, EMU_PAGE, false, &p->pin);
		if (err) {
			free(p);
			return err;
		}
		p->addr = addr;
		p->next = *pages;
		*pages = p;
	}
	p->users++;
	*out = p;
	return 0;
}

int emu_pin_queue(const struct emu_pin_owner *owner, struct emu_db_page **pages,
		  const struct emu_queue_memory *m, struct emu_queue_pins *pins)
{
	const uint64_t page = m->dbr & ~(uint64_t)(EMU_PAGE - 1);
	int err = m->len ? emu_pin(owner, m->ring, m->len, m->is_written, &pins->ring) : 0;

	return err ? err : pin_db_page(owner, pages, page, &pins->dbr);
}

void emu_unpin_queue(struct emu_db_page **pages, struct emu_queue_pins *pins)
{
	struct emu_db_page **link = pages;
	struct emu_db_page *p = pins->dbr;

	emu_unpin(&pins->ring);
	pins->dbr = NULL;
	if (!p || --p->users)
		return;
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	emu_unpin(&p->pin);
	free(p);
}
