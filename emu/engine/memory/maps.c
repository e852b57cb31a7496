/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Direct system calls, as in copy.c. */
#include "emu/engine/memory/maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/memory/memory.h"
#include "emu/engine/memory/wire.h"

#define WRITES	   (EMU_LW | EMU_RW | EMU_RA)
#define EVICT_NS   1000000u    /* between evictions: each costs as much as many small copies */
#define RETRY_NS   1000000000u /* after a mapping that was not possible */
#define MAX_PIECES 64u	       /* of a list: 128 GiB in entries of the largest size */

/* What is to be mapped: a part of a file, for addresses of the target. */
struct source {
	const struct emu_mkey *target;
	const struct emu_mkey *memory;
	struct emu_map_mkey by[EMU_MAP_MKEYS]; /* loaded before what the mkeys mean */
	uint64_t start;			       /* an address of the target, */
	uint64_t len;			       /* the number of bytes, */
	uint64_t at;			       /* and the offset of the first in the file */
};

/* --- what is behind an mkey ------------------------------------------------------------------- */

static struct emu_map_mkey name_of(const struct emu_memory *mem, uint32_t index)
{
	/* unmap.pml: map_name */
	return (struct emu_map_mkey){index, atomic_load(&mem->tables->mkey[index].serial)};
}

static struct emu_map_mkey name_of_mkey(const struct emu_memory *mem, const struct emu_mkey *m)
{
	return name_of(mem, (uint32_t)(m - mem->tables->mkey));
}

static bool is_shared(const struct emu_memory *mem, const struct emu_mkey *m)
{
	return m->mode == EMU_MKEY_MEM && m->u.mem.shared && m->u.mem.shared < EMU_MAX_SHARED &&
	       m->u.mem.pid > 0 && m->u.mem.pid != mem->pid;
}

static uint64_t piece_of(const struct emu_mkey *list, const struct emu_klm *k)
{
	return list->mode == EMU_MKEY_KSM ? 1ull << list->log_entity : k->bytes;
}

/* The number of bytes that the list has in one piece of one region; 0: it is not like this. */
static uint64_t run_of(const struct emu_memory *mem, const struct emu_mkey *list)
{
	const struct emu_klm *k = &mem->tables->klm[list->u.klm.first];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list->u.klm.count; i++) {
		if (k[i].key != k[0].key || k[i].addr != k[0].addr + sum)
			return 0;
		sum += piece_of(list, &k[i]);
	}
	return sum;
}

static bool is_plain_list(const struct emu_mkey *m)
{
	return (m->mode == EMU_MKEY_KSM || m->mode == EMU_MKEY_KLM) && !m->mw && !m->flags &&
	       m->log_entity < 64 && m->u.klm.count && m->u.klm.count <= MAX_PIECES &&
	       m->u.klm.first < EMU_MAX_KLMS && m->u.klm.count <= EMU_MAX_KLMS - m->u.klm.first;
}

/* The region behind a list; false if it has no part of it that can be mapped. */
static bool find_source_of_entry(const struct emu_memory *mem, const struct emu_mkey *list,
				 struct source *s)
{
	const struct emu_klm *k = &mem->tables->klm[list->u.klm.first];
	const struct emu_mkey *m = emu_mkey_of_entry(mem, list, k->key);
	uint64_t run, skip;

	if (!m)
		return false;
	s->by[EMU_MAP_MEMORY] = name_of_mkey(mem, m);
	if (!is_shared(mem, m) || m->mw || m->qpn || m->flags)
		return false;
	run = run_of(mem, list);
	run = run < list->len ? run : list->len;
	skip = k->addr < m->start ? m->start - k->addr : 0;
	if (skip >= run || k->addr + skip - m->start >= m->len)
		return false;
	s->memory = m;
	s->start = list->start + skip;
	s->len = m->len - (k->addr + skip - m->start);
	s->len = s->len < run - skip ? s->len : run - skip;
	s->at = m->u.mem.offset + (k->addr + skip - m->start);
	return true;
}

static bool find_source(const struct emu_memory *mem, uint32_t key, const struct emu_mkey *m,
			struct source *s)
{
	s->target = m;
	s->by[EMU_MAP_KEY] = name_of(mem, key >> 8);
	s->by[EMU_MAP_TARGET] = s->by[EMU_MAP_MEMORY] = name_of_mkey(mem, m);
	/* unmap.pml: map_read */
	if (is_plain_list(m))
		return find_source_of_entry(mem, m, s);
	if (!is_shared(mem, m) || m->flags)
		return false;
	s->memory = m;
	s->start = m->start;
	s->len = m->len;
	s->at = m->u.mem.offset;
	return true;
}

/* --- mapping ---------------------------------------------------------------------------------- */

static void drop(struct emu_memory *mem, struct emu_map *map)
{
	if (map->bytes) {
		syscall(SYS_munmap, map->pages, map->bytes);
		mem->maps.count--;
		mem->maps.bytes -= map->bytes;
		atomic_store(&mem->slot->maps, mem->maps.count);
	}
	memset(map, 0, sizeof(*map));
}

static int open_shared(const struct emu_shared *f, bool write)
{
	struct stat st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)f->pid, (int)f->fd);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!syscall(SYS_fstat, fd, &st) && st.st_ino == f->ino && st.st_dev == f->dev)
		return fd;
	syscall(SYS_close, fd);
	return -1;
}

/* Not accessible before forked children do not inherit it: nothing would unmap it there. */
static uint64_t map_pages(int fd, uint64_t from, uint64_t bytes, bool write)
{
	long p = syscall(SYS_mmap, NULL, bytes, PROT_NONE, MAP_SHARED, fd, from);

	if (p == -1)
		return 0;
	if (!syscall(SYS_madvise, p, bytes, MADV_DONTFORK) &&
	    !syscall(SYS_madvise, p, bytes, MADV_DONTDUMP) &&
	    !syscall(SYS_mprotect, p, bytes, PROT_READ | (write ? PROT_WRITE : 0)))
		return (uint64_t)p;
	syscall(SYS_munmap, p, bytes);
	return 0;
}

/*
 * The pages of the source. Of huge pages only whole ones: in a page that a region shares with other
 * memory, there would be much of it.
 */
static bool choose_pages(struct source *s, uint64_t page, uint64_t *from, uint64_t *bytes)
{
	uint64_t end = s->at + s->len, skip;

	if (!page || page & (page - 1) || end < s->at || end > INT64_MAX - page)
		return false;
	*from = s->at & ~(page - 1);
	end = (end + page - 1) & ~(page - 1);
	if (page > (uint64_t)sysconf(_SC_PAGESIZE)) {
		*from = (s->at + page - 1) & ~(page - 1);
		end = (s->at + s->len) & ~(page - 1);
		if (end <= *from)
			return false;
		skip = *from - s->at;
		s->start += skip;
		s->at += skip;
		s->len = end - *from;
	}
	*bytes = end - *from;
	return true;
}

static void map_source(const struct emu_memory *mem, struct source *s, struct emu_map *map)
{
	const struct emu_shared *f = &mem->tables->shared[s->memory->u.mem.shared];
	bool write = map->rights & WRITES;
	uint64_t from, bytes;
	int fd;

	if (!choose_pages(s, f->page, &from, &bytes) || bytes > ENGINE_MAP_BYTES)
		return;
	fd = open_shared(f, write);
	if (fd < 0)
		return;
	map->pages = map_pages(fd, from, bytes, write);
	syscall(SYS_close, fd);
	if (!map->pages)
		return;
	map->bytes = bytes;
	map->start = s->start;
	map->len = s->len;
	map->at = map->pages + (s->at - from);
}

/* --- the table -------------------------------------------------------------------------------- */

static bool is_valid(const struct emu_memory *mem, const struct emu_map *map)
{
	for (unsigned int i = 0; i < EMU_MAP_MKEYS; i++)
		if (!map->by[i].serial ||
		    atomic_load(&mem->tables->mkey[map->by[i].index].serial) != map->by[i].serial)
			return false;
	return true;
}

static bool is_idle(const struct emu_memory *mem, const struct emu_map *map)
{
	return map->pass != atomic_load_explicit(&mem->slot->epoch, memory_order_relaxed);
}

static bool may_evict(struct emu_memory *mem)
{
	if (*mem->now - mem->maps.evicted_at < EVICT_NS)
		return false;
	mem->maps.evicted_at = *mem->now;
	return true;
}

/* The least recently used one of a range of entries that this pass has not used, if there is one. */
static struct emu_map *find_oldest(const struct emu_memory *mem, struct emu_map *map,
				   unsigned int n)
{
	struct emu_map *oldest = NULL;

	for (; n; n--, map++)
		if (map->taken && is_idle(mem, map) && (!oldest || map->used < oldest->used))
			oldest = map;
	return oldest;
}

/* A free place in a set; NULL: there is none now. */
static struct emu_map *free_map_in(struct emu_memory *mem, struct emu_map *set)
{
	struct emu_map *map = set;

	while (map < set + ENGINE_MAP_WAYS && map->taken)
		map++;
	if (map < set + ENGINE_MAP_WAYS)
		return map;
	if (!may_evict(mem))
		return NULL;
	map = find_oldest(mem, set, ENGINE_MAP_WAYS);
	if (map)
		drop(mem, map);
	return map;
}

static bool make_room(struct emu_memory *mem, uint64_t bytes)
{
	struct emu_map *oldest;

	if (bytes > ENGINE_MAP_BYTES)
		return false;
	if (mem->maps.bytes <= ENGINE_MAP_BYTES - bytes)
		return true;
	if (!may_evict(mem))
		return false;
	while (mem->maps.bytes > ENGINE_MAP_BYTES - bytes) {
		oldest = find_oldest(mem, mem->maps.map[0], ENGINE_MAPS);
		if (!oldest)
			return false;
		drop(mem, oldest);
	}
	return true;
}

/* The marks come before the mapping, and the check of the mkeys after it: see ipc/unmap.h. */
static void fill(struct emu_memory *mem, struct emu_map *map, struct source *s)
{
	*map = (struct emu_map){.taken = true, .rights = s->target->rights & s->memory->rights};
	memcpy(map->by, s->by, sizeof(map->by));
	for (unsigned int i = 0; i < EMU_MAP_MKEYS; i++) /* unmap.pml: map_mark */
		atomic_store(&mem->queues->mapped[map->by[i].index], 1);
	map_source(mem, s, map); /* unmap.pml: map_pages */
	if (!map->bytes)
		return;
	mem->maps.count++;
	mem->maps.bytes += map->bytes;
	atomic_store(&mem->slot->maps, mem->maps.count); /* unmap.pml: map_count */
	if (!is_valid(mem, map))			 /* unmap.pml: map_recheck */
		drop(mem, map);
}

/* False: there is no entry for the target. *out is NULL if the one that there is may not be used. */
static bool find(struct emu_memory *mem, struct emu_map *set, uint32_t target, struct emu_map **out)
{
	struct emu_map *map = set;
	bool valid;

	while (map < set + ENGINE_MAP_WAYS &&
	       (!map->taken || map->by[EMU_MAP_TARGET].index != target))
		map++;
	if (map == set + ENGINE_MAP_WAYS)
		return false;
	valid = is_valid(mem, map);
	if (is_idle(mem, map) && (!valid || (!map->bytes && *mem->now - map->used > RETRY_NS))) {
		drop(mem, map);
		return false;
	}
	*out = valid ? map : NULL;
	return true;
}

static struct emu_map *make(struct emu_memory *mem, struct emu_map *set, uint32_t key,
			    const struct emu_mkey *m)
{
	struct source s = {0};
	struct emu_map *map;

	if (!find_source(mem, key, m, &s) || !make_room(mem, s.len))
		return NULL;
	map = free_map_in(mem, set);
	if (!map)
		return NULL;
	fill(mem, map, &s);
	map->used = *mem->now;
	return map;
}

const struct emu_map *emu_maps_get(struct emu_memory *mem, uint32_t key, const struct emu_mkey *m)
{
	struct emu_map *set, *map = NULL;
	uint32_t target;

	if (m->mode == EMU_MKEY_MEM ? !is_shared(mem, m) : !is_plain_list(m))
		return NULL;
	target = (uint32_t)(m - mem->tables->mkey);
	set = mem->maps.map[target % ENGINE_MAP_SETS];
	if (!find(mem, set, target, &map)) /* unmap.pml: map_look_up */
		map = make(mem, set, key, m);
	if (!map || !map->bytes)
		return NULL;
	map->used = *mem->now;
	map->pass = atomic_load_explicit(&mem->slot->epoch, memory_order_relaxed);
	return map; /* unmap.pml: map_use */
}

static void drop_all(struct emu_memory *mem, bool valid_too)
{
	struct emu_map *map = mem->maps.map[0];

	for (unsigned int i = 0; i < ENGINE_MAPS; i++, map++)
		if (map->taken && (valid_too || !is_valid(mem, map)))
			drop(mem, map);
}

void emu_maps_prune(struct emu_memory *mem, bool abandoned)
{
	uint32_t request = atomic_load(&mem->slot->unmap); /* unmap.pml: prune_load */

	if (request == mem->maps.unmap && !abandoned)
		return;
	if (mem->maps.count)
		drop_all(mem, abandoned);
	mem->maps.unmap = request;
	atomic_store(&mem->slot->unmapped, request); /* unmap.pml: prune_answer */
}

void emu_maps_close(struct emu_memory *mem)
{
	if (mem->maps.count)
		drop_all(mem, true);
}
