/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/file.h"

struct emu_file *emu_files;

struct emu_file *emu_file_by_ino(uint64_t ino)
{
	struct emu_file *f = emu_files;

	while (f && f->ino != ino)
		f = f->next;
	return f;
}

bool emu_file_has_process(const struct emu_file *f, pid_t pid)
{
	const struct emu_chan *c = f->chans;

	while (c && c->pid != pid)
		c = c->next;
	return c;
}

bool emu_is_client(pid_t pid)
{
	const struct emu_file *f = emu_files;

	while (f && !emu_file_has_process(f, pid))
		f = f->next;
	return f;
}

struct emu_pin_owner emu_pin_owner(const struct emu_chan *c)
{
	return (struct emu_pin_owner){c->pid, c->file->func->card->profile->memlock != 0};
}
