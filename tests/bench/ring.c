/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "ring.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static bool protect(const struct bench_ring *ring, bool on)
{
	struct uffdio_writeprotect wp = {.range = {(uintptr_t)ring->page, PAGE},
					 .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};

	return !ioctl(ring->uffd, UFFDIO_WRITEPROTECT, &wp);
}

static void *answer(void *arg)
{
	const struct bench_ring *ring = arg;
	struct pollfd p = {.fd = ring->uffd, .events = POLLIN};
	struct uffd_msg message;

	while (poll(&p, 1, -1) == 1 && !(p.revents & POLLHUP)) {
		protect(ring, false);
		while (read(ring->uffd, &message, sizeof(message)) == sizeof(message))
			;
	}
	return NULL;
}

static bool watch(const struct bench_ring *ring)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP |
					     UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
	struct uffdio_register reg = {.range = {(uintptr_t)ring->page, PAGE},
				      .mode = UFFDIO_REGISTER_MODE_WP};

	return !ioctl(ring->uffd, UFFDIO_API, &api) && !ioctl(ring->uffd, UFFDIO_REGISTER, &reg);
}

bool bench_ring_open(struct bench_ring *ring)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	ring->page = page;
	ring->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (ring->uffd >= 0 && watch(ring) && !pthread_create(&ring->thread, NULL, answer, ring))
		return true;
	if (ring->uffd >= 0)
		close(ring->uffd);
	munmap(page, PAGE);
	return false;
}

void bench_ring_close(struct bench_ring *ring)
{
	pthread_cancel(ring->thread);
	pthread_join(ring->thread, NULL);
	close(ring->uffd);
	munmap((void *)(uintptr_t)ring->page, PAGE);
}

bool bench_ring_arm(const struct bench_ring *ring)
{
	return protect(ring, true);
}
