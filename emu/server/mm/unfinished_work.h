/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef EMU_UNFINISHED_WORK_H
#define EMU_UNFINISHED_WORK_H

#include <stdbool.h>

#include "emu/ipc/shm.h"

/*
 * Has an engine work of this queue pair that it has not finished: requests that its program has rung for, or a message
 * that has arrived?
 */
bool emu_has_unfinished_work(const struct emu_qp *q);

#endif
