/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * XRC domains, and the targets that the processes of a domain share: each process that opens a
 * target (ibv_open_qp) has a handle of the same QP, as in the kernel's ib_open_qp(). The QP is
 * destroyed with its last handle, and each handle has its own events.
 */
#ifndef EMU_XRC_H
#define EMU_XRC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/ipc/shm.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_qp_obj;

/* The objects of all processes that opened the same file have the same number. */
struct emu_xrcd {
	struct emu_uobj obj;
	uint32_t number;
	ino_t ino; /* 0: the domain is private */
	dev_t dev;
};

extern const struct emu_method emu_methods_xrc[];

/* A number that no domain has had. */
uint32_t emu_xrcd_number(void);
/* The file's domain of that number, of verbs or of a command, or NULL. */
struct emu_xrcd *emu_xrcd_by_number(const struct emu_file *f, uint64_t number);
/* Legacy commands. */
int emu_write_open_xrcd(struct emu_cmd *c);
int emu_write_open_qp(struct emu_cmd *c);
/* The next handle of a QP after `after`, which is NULL for the first; NULL: no more. */
struct emu_qp_obj *emu_qp_next(uint32_t qpn, const struct emu_qp_obj *after);
/* Does the QP have other handles? */
bool emu_qp_shared(const struct emu_qp_obj *qp);
/* Copy what the driver keeps in one handle to the QP's other handles. */
void emu_qp_copy_access(const struct emu_qp_obj *qp);
/* The engine, other than `slot`, of a process that has a handle of the target, or EMU_NO_ENGINE. */
uint32_t emu_xrc_other_engine(uint32_t qpn, uint32_t slot);
/* Tell the engines that may have to execute messages to a new target. */
void emu_xrc_announce(const struct emu_qp *tgt);

#endif
