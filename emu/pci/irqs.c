/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/irqs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Anything else could make this process wait. */
bool emu_irqs_is_eventfd(int fd)
{
	static const char name[] = "anon_inode:[eventfd]";
	char path[32], target[sizeof(name)] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target)) == sizeof(name) - 1 &&
	       !memcmp(target, name, sizeof(name) - 1);
}

void emu_irqs_init(struct emu_irqs *irqs)
{
	for (uint32_t i = 0; i < EMU_PCI_VECTORS; i++)
		irqs->fd[i] = -1;
}

void emu_irqs_set(struct emu_irqs *irqs, uint32_t vector, int fd)
{
	if (irqs->fd[vector] >= 0)
		close(irqs->fd[vector]);
	irqs->fd[vector] = fd;
	if (fd >= 0) /* a counter at its limit */
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void emu_irqs_clear(struct emu_irqs *irqs)
{
	for (uint32_t i = 0; i < EMU_PCI_VECTORS; i++)
		emu_irqs_set(irqs, i, -1);
}

void emu_irqs_raise(const struct emu_irqs *irqs, uint32_t vector)
{
	if (vector < EMU_PCI_VECTORS && irqs->fd[vector] >= 0)
		eventfd_write(irqs->fd[vector], 1);
}
