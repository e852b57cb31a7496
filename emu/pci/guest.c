/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/server/base/log.h"

struct region {
	LIST_ENTRY(region) link;
	struct emu_guest_offer offer; /* with a descriptor of its own, or -1 */
};

struct emu_guest_view {
	LIST_ENTRY(emu_guest_view) link;
	struct emu_guest *guest;
	uint64_t at;
	uint64_t len;
	bool is_mapped; /* the pages do not follow each other, so they have a mapping of their own */
	bool is_withdrawn; /* some of them */
	uint64_t page_size;
	uint64_t npages;
	uint64_t page[];
};

/* Addresses of a view that has ended, for the next one of this length. */
struct gap {
	LIST_ENTRY(gap) link;
	uint8_t *at;
	uint64_t len;
};

/* After the guest's space come the views. */
#define VIEWS (1ull << 42)

static uint8_t *space; /* for the handler of faults */

struct emu_guest {
	uint8_t *base;
	uint64_t viewed; /* bytes of the range of views that have been used */
	LIST_HEAD(gaps, gap) gaps;
	LIST_HEAD(regions, region) regions;
	LIST_HEAD(views, emu_guest_view) views;
	bool has_warned;
};

static void *bytes_at(uint64_t address)
{
	return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static void *reserve(void *at, uint64_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
	void *p = mmap(at, size, PROT_NONE, flags, -1, 0);

	return p == MAP_FAILED ? NULL : p; // NOLINT(performance-no-int-to-ptr)
}

/*
 * Any other fault ends the process, when the access is repeated. The engine installs its handler later, and passes on
 * what it does not expect.
 */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
	const uintptr_t at = (uintptr_t)info->si_addr, first = (uintptr_t)space;
	const int saved = errno;
	void *page = bytes_at(at & ~(uint64_t)(EMU_GUEST_PAGE - 1));

	(void)context;
	if (at - first >= EMU_GUEST_SPACE + VIEWS ||
	    mmap(page, EMU_GUEST_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) ==
		    MAP_FAILED) // NOLINT(performance-no-int-to-ptr)
		signal(signal_number, SIG_DFL);
	errno = saved;
}

static void catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

int emu_guest_create(struct emu_guest **guest)
{
	struct emu_guest *g = calloc(1, sizeof(*g));

	if (!g)
		return ENOMEM;
	g->base = reserve(NULL, EMU_GUEST_SPACE + VIEWS);
	if (!g->base) {
		free(g);
		return ENOMEM;
	}
	LIST_INIT(&g->regions);
	LIST_INIT(&g->views);
	LIST_INIT(&g->gaps);
	space = g->base;
	catch_faults();
	*guest = g;
	return 0;
}

uint64_t emu_guest_base(const struct emu_guest *guest)
{
	return (uintptr_t)guest->base;
}

/* --- what the guest offers -------------------------------------------------------------------- */

static bool contains(const struct emu_guest_offer *o, uint64_t address, uint64_t len)
{
	return address >= o->address && len <= o->size && address - o->address <= o->size - len;
}

static bool is_offered(const struct emu_guest *guest, uint64_t address, uint64_t len)
{
	for (const struct region *r = LIST_FIRST(&guest->regions); r; r = LIST_NEXT(r, link))
		if (r->offer.fd >= 0 && contains(&r->offer, address, len))
			return true;
	return false;
}

/* Both are not empty, and may end where addresses do. */
static bool overlaps(const struct emu_guest_offer *a, uint64_t address, uint64_t size)
{
	return address <= a->address + (a->size - 1) && a->address <= address + (size - 1);
}

static bool is_whole_pages(const struct emu_guest_offer *o)
{
	return o->size && !((o->address | o->size | o->offset) % EMU_GUEST_PAGE) &&
	       o->address + o->size - 1 >= o->address;
}

static bool is_usable(const struct emu_guest_offer *o)
{
	return o->fd >= 0 && o->size <= EMU_GUEST_SPACE && o->address <= EMU_GUEST_SPACE - o->size;
}

/* A mapping beyond the end of the file would end this process by a signal. */
static bool is_in_file(const struct emu_guest_offer *o)
{
	struct stat st;

	return !fstat(o->fd, &st) && (uint64_t)st.st_size >= o->size &&
	       o->offset <= (uint64_t)st.st_size - o->size;
}

static int map_at(void *at, uint64_t size, const struct emu_guest_offer *o, uint64_t offset)
{
	const int protection = o->writable ? PROT_READ | PROT_WRITE : PROT_READ;
	void *p = mmap(at, size, protection, MAP_SHARED | MAP_FIXED, o->fd, (off_t)offset);

	return p == MAP_FAILED ? errno : 0; // NOLINT(performance-no-int-to-ptr)
}

/* Whether all pages of a view can be used, after one has come or gone. */
static void look_again(struct emu_guest *guest, struct emu_guest_view *v)
{
	v->is_withdrawn = false;
	for (uint64_t i = 0; i < v->npages; i++)
		if (!is_offered(guest, v->page[i], v->page_size))
			v->is_withdrawn = true;
}

/* Memory that was withdrawn and is offered again, as when its surroundings change. */
static void offer_to_view(struct emu_guest *guest, struct emu_guest_view *v,
			  const struct emu_guest_offer *o)
{
	for (uint64_t i = 0; i < v->npages && v->is_mapped; i++)
		if (contains(o, v->page[i], v->page_size))
			map_at(bytes_at(v->at + i * v->page_size), v->page_size, o,
			       o->offset + (v->page[i] - o->address));
	look_again(guest, v);
}

static int map_region(struct emu_guest *guest, struct region *r, int fd)
{
	int err;

	r->offer.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (r->offer.fd < 0)
		return errno;
	err = is_in_file(&r->offer) ? map_at(guest->base + r->offer.address, r->offer.size,
					     &r->offer, r->offer.offset)
				    : EINVAL;
	if (err)
		close(r->offer.fd);
	return err;
}

int emu_guest_map(struct emu_guest *guest, const struct emu_guest_offer *offer)
{
	struct region *r;
	int err = 0;

	if (!is_whole_pages(offer))
		return EINVAL;
	for (r = LIST_FIRST(&guest->regions); r; r = LIST_NEXT(r, link))
		if (overlaps(&r->offer, offer->address, offer->size))
			return EEXIST;
	r = calloc(1, sizeof(*r));
	if (!r)
		return ENOMEM;
	r->offer = *offer;
	r->offer.fd = -1;
	if (is_usable(offer))
		err = map_region(guest, r, offer->fd);
	if (err) {
		free(r);
		return err;
	}
	LIST_INSERT_HEAD(&guest->regions, r, link);
	if (r->offer.fd >= 0)
		for (struct emu_guest_view *v = LIST_FIRST(&guest->views); v;
		     v = LIST_NEXT(v, link))
			offer_to_view(guest, v, &r->offer);
	return 0;
}

static void withdraw_from_view(struct emu_guest_view *v, const struct emu_guest_offer *o)
{
	for (uint64_t i = 0; i < v->npages; i++) {
		if (!overlaps(o, v->page[i], v->page_size))
			continue;
		v->is_withdrawn = true;
		if (v->is_mapped)
			reserve(bytes_at(v->at + i * v->page_size), v->page_size);
	}
}

static void withdraw(struct emu_guest *guest, struct region *r)
{
	LIST_REMOVE(r, link);
	if (r->offer.fd >= 0) {
		reserve(guest->base + r->offer.address, r->offer.size);
		for (struct emu_guest_view *v = LIST_FIRST(&guest->views); v;
		     v = LIST_NEXT(v, link))
			withdraw_from_view(v, &r->offer);
		close(r->offer.fd);
	}
	free(r);
}

int emu_guest_unmap(struct emu_guest *guest, uint64_t address, uint64_t size)
{
	for (struct region *r = LIST_FIRST(&guest->regions); r; r = LIST_NEXT(r, link)) {
		if (r->offer.address == address && r->offer.size == size) {
			withdraw(guest, r);
			return 0;
		}
	}
	return ENOENT;
}

static void drop_gaps(struct emu_guest *guest)
{
	struct gap *next;

	for (struct gap *g = LIST_FIRST(&guest->gaps); g; g = next) {
		next = LIST_NEXT(g, link);
		free(g);
	}
	LIST_INIT(&guest->gaps);
}

void emu_guest_unmap_all(struct emu_guest *guest)
{
	struct region *next;

	for (struct region *r = LIST_FIRST(&guest->regions); r; r = next) {
		next = LIST_NEXT(r, link);
		withdraw(guest, r);
	}
	reserve(guest->base, EMU_GUEST_SPACE + VIEWS); /* and what replaced withdrawn pages */
	if (LIST_EMPTY(&guest->views)) {
		drop_gaps(guest);
		guest->viewed = 0;
	}
}

/* --- what the function uses ------------------------------------------------------------------- */

static void warn_once(struct emu_guest *guest, uint64_t address)
{
	if (guest->has_warned)
		return;
	guest->has_warned = true;
	emu_log("the virtual machine does not share its memory at 0x%" PRIx64
		"; start QEMU with -object memory-backend-memfd,id=m,size=SIZE,share=on and "
		"-machine ...,memory-backend=m",
		address);
}

/* The offer that has all of [address, address + len), or NULL. */
static const struct emu_guest_offer *find(struct emu_guest *guest, uint64_t address, uint64_t len,
					  bool write)
{
	if (!len || address + len < address)
		return NULL;
	for (const struct region *r = LIST_FIRST(&guest->regions); r; r = LIST_NEXT(r, link)) {
		const struct emu_guest_offer *o = &r->offer;

		if (!contains(o, address, len))
			continue;
		if (o->fd < 0)
			warn_once(guest, address);
		return o->fd < 0 || (write && !o->writable) ? NULL : o;
	}
	return NULL;
}

void *emu_guest_at(struct emu_guest *guest, uint64_t address, uint64_t len, bool write)
{
	return find(guest, address, len, write) ? guest->base + address : NULL;
}

static bool follow_each_other(const uint64_t *page, uint64_t npages, uint64_t page_size)
{
	for (uint64_t i = 1; i < npages; i++)
		if (page[i] != page[0] + i * page_size)
			return false;
	return true;
}

/* Addresses for a view, which are not accessible yet; NULL: none are left. */
static uint8_t *take_addresses(struct emu_guest *guest, uint64_t len)
{
	uint8_t *at = NULL;

	for (struct gap *g = LIST_FIRST(&guest->gaps); g; g = LIST_NEXT(g, link)) {
		if (g->len != len)
			continue;
		at = g->at;
		LIST_REMOVE(g, link);
		free(g);
		return at;
	}
	if (len > VIEWS - guest->viewed)
		return NULL;
	at = guest->base + EMU_GUEST_SPACE + guest->viewed;
	guest->viewed += len;
	return at;
}

/* Without memory for it, the addresses are not used again. */
static void give_addresses(struct emu_guest *guest, uint64_t at, uint64_t len)
{
	struct gap *g = calloc(1, sizeof(*g));

	reserve(bytes_at(at), len);
	if (!g)
		return;
	g->at = bytes_at(at);
	g->len = len;
	LIST_INSERT_HEAD(&guest->gaps, g, link);
}

/* Map the pages of a view side by side. */
static int map_pages(struct emu_guest *guest, struct emu_guest_view *v, bool write)
{
	const struct emu_guest_offer *o;
	uint8_t *at;
	int err = 0;

	at = take_addresses(guest, v->len);
	if (!at)
		return ENOMEM;
	v->at = (uintptr_t)at;
	v->is_mapped = true;
	for (uint64_t i = 0; !err && i < v->npages; i++) {
		o = find(guest, v->page[i], v->page_size, write);
		err = o ? map_at(at + i * v->page_size, v->page_size, o,
				 o->offset + (v->page[i] - o->address))
			: EFAULT;
	}
	return err;
}

int emu_guest_view_create(struct emu_guest *guest, const uint64_t *page, uint64_t npages,
			  uint64_t page_size, bool write, struct emu_guest_view **view)
{
	struct emu_guest_view *v;
	int err = 0;

	if (!npages || page_size % EMU_GUEST_PAGE || npages > EMU_GUEST_SPACE / page_size)
		return EINVAL;
	v = calloc(1, sizeof(*v) + npages * sizeof(*page));
	if (!v)
		return ENOMEM;
	v->guest = guest;
	v->npages = npages;
	v->page_size = page_size;
	v->len = npages * page_size;
	memcpy(v->page, page, npages * sizeof(*page));
	LIST_INSERT_HEAD(&guest->views, v, link);
	if (follow_each_other(page, npages, page_size) &&
	    emu_guest_at(guest, page[0], v->len, write))
		v->at = (uintptr_t)guest->base + page[0];
	else
		err = map_pages(guest, v, write);
	if (err) {
		emu_guest_view_destroy(v);
		return err;
	}
	*view = v;
	return 0;
}

uint64_t emu_guest_view_at(const struct emu_guest_view *view)
{
	return view->at;
}

void *emu_guest_view_bytes(const struct emu_guest_view *view, uint64_t offset, uint64_t len)
{
	if (view->is_withdrawn || offset > view->len || len > view->len - offset)
		return NULL;
	return bytes_at(view->at + offset);
}

void emu_guest_view_destroy(struct emu_guest_view *view)
{
	if (!view)
		return;
	LIST_REMOVE(view, link);
	if (view->is_mapped)
		give_addresses(view->guest, view->at, view->len);
	free(view);
}
