/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Commands that Linux has had since version 6.1: regions by one verb, DMA handles, a port's speed, and memory of a
 * device as a dma-buf. The numbers are those of Linux 7.2, which older headers lack.
 */
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "devx_context.h"
#include "rc.h"
#include "uverbs.h"
#include "uverbs_umem.h"

enum { OBJECT_DMAH = 17 };
enum { METHOD_QUERY_PORT_SPEED = 7, METHOD_REG_MR = 5, METHOD_ALLOC = 0, METHOD_FREE = 1 };
enum { CONTEXT_FD_ARR = UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT + 1 };
enum { DMAH_HANDLE, DMAH_CPU_ID, DMAH_MEM_TYPE, DMAH_PH };
enum { MR_HANDLE, MR_PD, MR_DMAH, MR_IOVA, MR_ADDR, MR_LENGTH, MR_ACCESS, MR_FD, MR_OFFSET };
enum { MR_LKEY = MR_OFFSET + 1, MR_RKEY };

#define PAGE	    4096u
#define RW	    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define NONE	    UINT32_MAX
#define BLUEFIELD_3 0xa2dc

struct desk {
	struct ibv_context *context;
	struct ibv_pd *pd;
	int fd; /* of the device */
	uint8_t *page;
};

static int open_desk(void **state)
{
	struct desk *d = test_calloc(1, sizeof(*d));

	d->context = open_devx();
	d->pd = ibv_alloc_pd(d->context);
	d->fd = d->context->cmd_fd;
	d->page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*state = d;
	return d->pd && d->page != MAP_FAILED ? 0 : -1;
}

static int close_desk(void **state)
{
	struct desk *d = *state;

	assert_int_equal(munmap(d->page, 2 * PAGE), 0);
	assert_int_equal(ibv_dealloc_pd(d->pd), 0);
	assert_int_equal(ibv_close_device(d->context), 0);
	test_free(d);
	return 0;
}

/* --- contexts -------------------------------------------------------------------------------- */

static void context_has_no_more_rights_by_any_file(void **state)
{
	int fd = open_cdev(), files[] = {fd, fd};
	union command c;

	for (uint16_t len = sizeof(files); len; len--) {
		begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
		add_buf(&c, CONTEXT_FD_ARR, files, len);
		assert_int_equal(issue(fd, &c), len % sizeof(int) ? EINVAL : EBADF);
	}
	assert_int_equal(get_context(fd), 0);
	close(fd);
}

/* --- DMA handles ------------------------------------------------------------------------------ */

struct hints {
	uint32_t cpu, type, ph; /* NONE: left out */
};

static int alloc_dmah(int fd, struct hints h, uint32_t *handle)
{
	union command c;
	int err;

	begin(&c, OBJECT_DMAH, METHOD_ALLOC);
	add(&c, DMAH_HANDLE, 0, 0);
	if (h.cpu != NONE)
		add(&c, DMAH_CPU_ID, 4, h.cpu);
	if (h.type != NONE)
		add(&c, DMAH_MEM_TYPE, 0, 0)->attr_data.enum_data.elem_id = (uint8_t)h.type;
	if (h.ph != NONE)
		add(&c, DMAH_PH, 1, h.ph);
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

static int free_dmah(int fd, uint32_t handle)
{
	union command c;

	add(begin(&c, OBJECT_DMAH, METHOD_FREE), 0, 0, handle);
	return issue(fd, &c);
}

static void dma_handle_needs_a_hint_and_a_whole_target(void **state)
{
	static const struct {
		struct hints hints;
		int error;
	} cases[] = {
		{{NONE, NONE, 3}, 0},	   {{0, 1, 0}, 0},	    {{NONE, NONE, NONE}, EINVAL},
		{{NONE, NONE, 4}, EINVAL}, {{0, NONE, 1}, EINVAL},  {{NONE, 0, 1}, EINVAL},
		{{0xffff, 0, 1}, EINVAL},  {{0, 2, 1}, EOPNOTSUPP},
	};
	const struct hints beyond = {(uint32_t)sysconf(_SC_NPROCESSORS_CONF), 0, 1};
	const struct desk *d = *state;
	struct ibv_device_attr attr;
	uint32_t handle;

	assert_int_equal(ibv_query_device(d->context, &attr), 0);
	if (attr.vendor_part_id != BLUEFIELD_3) { /* which alone has hints */
		assert_int_equal(alloc_dmah(d->fd, cases[0].hints, &handle), EOPNOTSUPP);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(alloc_dmah(d->fd, cases[i].hints, &handle), cases[i].error);
		if (!cases[i].error)
			assert_int_equal(free_dmah(d->fd, handle), 0);
	}
	assert_int_equal(alloc_dmah(d->fd, beyond, &handle), EINVAL);
	assert_int_equal(free_dmah(d->fd, 4711), ENOENT);
}

/* --- regions ---------------------------------------------------------------------------------- */

struct region {
	uint64_t addr, offset, iova, len; /* addr or offset UINT64_MAX: left out */
	int fd;				  /* -1: left out */
	uint32_t access, dmah;		  /* 0: left out, */
	uint32_t handle, key;
};

#define OUT UINT64_MAX

static struct region memory(const struct desk *d)
{
	return (struct region){.addr = (uintptr_t)d->page,
			       .offset = OUT,
			       .iova = (uintptr_t)d->page,
			       .len = PAGE,
			       .fd = -1,
			       .access = RW,
			       .dmah = NONE};
}

static struct region part_of(int fd, uint64_t offset, uint64_t len)
{
	return (struct region){.addr = OUT,
			       .offset = offset,
			       .iova = offset,
			       .len = len,
			       .fd = fd,
			       .access = RW,
			       .dmah = NONE};
}

static int reg(const struct desk *d, struct region *r)
{
	union command c;
	uint32_t rkey = 0;
	int err;

	begin(&c, UVERBS_OBJECT_MR, METHOD_REG_MR);
	add(&c, MR_HANDLE, 0, 0);
	add(&c, MR_PD, 0, d->pd->handle);
	add(&c, MR_IOVA, 8, r->iova);
	add(&c, MR_LENGTH, 8, r->len);
	add(&c, MR_ACCESS, 4, r->access);
	if (r->addr != OUT)
		add(&c, MR_ADDR, 8, r->addr);
	if (r->offset != OUT)
		add(&c, MR_OFFSET, 8, r->offset);
	if (r->fd >= 0)
		add(&c, MR_FD, 0, (uint64_t)r->fd);
	if (r->dmah != NONE)
		add(&c, MR_DMAH, 0, r->dmah);
	add_buf(&c, MR_LKEY, &r->key, sizeof(r->key));
	add_buf(&c, MR_RKEY, &rkey, sizeof(rkey));
	err = issue(d->fd, &c);
	r->handle = (uint32_t)c.hdr.attrs[0].data;
	assert_true(err || rkey == r->key);
	return err;
}

static int dereg(const struct desk *d, const struct region *r)
{
	union command c;

	add(begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY), UVERBS_ATTR_DESTROY_MR_HANDLE, 0,
	    r->handle);
	return issue(d->fd, &c);
}

#define REFUSE(error, from, change)                    \
	do {                                           \
		struct region bad = from;              \
                                                       \
		change;                                \
		assert_int_equal(reg(d, &bad), error); \
	} while (0)

static void region_is_of_memory_or_of_a_dmabuf(void **state)
{
	const struct desk *d = *state;
	int fd = memfd_create("dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct region r = memory(d);

	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_int_equal(reg(d, &r), 0);
	assert_int_equal(dereg(d, &r), 0);
	r = part_of(fd, PAGE, PAGE);
	assert_int_equal(reg(d, &r), 0);
	assert_int_equal(dereg(d, &r), 0);
	REFUSE(EINVAL, memory(d), bad.fd = fd);
	REFUSE(EINVAL, memory(d), bad.offset = 0);
	REFUSE(EINVAL, memory(d), bad.addr = OUT);
	REFUSE(EINVAL, memory(d), bad.iova += 8);
	REFUSE(EINVAL, memory(d), bad.access = IBV_ACCESS_REMOTE_WRITE);
	REFUSE(EINVAL, memory(d), bad.len = 0);
	REFUSE(EFAULT, memory(d), bad.addr = bad.iova = PAGE);
	REFUSE(EINVAL, part_of(fd, 0, PAGE), bad.offset = OUT);
	REFUSE(EINVAL, part_of(fd, 0, PAGE), bad.addr = 0);
	REFUSE(EINVAL, part_of(fd, 0, PAGE), bad.iova = 8);
	REFUSE(EINVAL, part_of(fd, 0, PAGE), bad.len = 2 * PAGE + 1);
	REFUSE(EINVAL, part_of(fd, 0, PAGE), bad.access |= IBV_ACCESS_ON_DEMAND);
	REFUSE(EBADF, part_of(fd, 0, PAGE), bad.fd = 4711);
	REFUSE(ENOENT, memory(d), bad.dmah = 4711);
	REFUSE(EINVAL, memory(d), bad.dmah = d->pd->handle);
	close(fd);
}

static void region_holds_its_dma_handle(void **state)
{
	const struct desk *d = *state;
	struct region held = memory(d);
	uint32_t dmah;

	if (alloc_dmah(d->fd, (struct hints){NONE, NONE, 1}, &dmah))
		skip(); /* the card has none */
	held.dmah = dmah;
	REFUSE(EOPNOTSUPP, held, bad.access |= IBV_ACCESS_ON_DEMAND);
	assert_int_equal(reg(d, &held), 0);
	assert_int_equal(free_dmah(d->fd, dmah), EBUSY);
	assert_int_equal(dereg(d, &held), 0);
	assert_int_equal(free_dmah(d->fd, dmah), 0);
}

/* --- the port --------------------------------------------------------------------------------- */

static int query_speed(int fd, uint64_t port, uint64_t *speed)
{
	union command c;

	begin(&c, UVERBS_OBJECT_DEVICE, METHOD_QUERY_PORT_SPEED);
	add(&c, 0, 8, port);
	add_buf(&c, 1, speed, sizeof(*speed));
	return issue(fd, &c);
}

static void port_has_the_speed_of_its_lanes(void **state)
{
	const struct desk *d = *state;
	uint64_t speed = 0;

	assert_int_equal(query_speed(d->fd, 1, &speed), 0);
	assert_int_equal(speed % (4 * 250), 0); /* in 100 Mb/s, of 4 lanes */
	assert_true(speed);
	assert_int_equal(query_speed(d->fd, 0, &speed), EINVAL);
	assert_int_equal(query_speed(d->fd, 2, &speed), EINVAL);
}

/* --- memory of a device as a dma-buf ---------------------------------------------------------- */

/* Where a program maps device memory: mlx5's command 8, and the index that QUERY answers. */
static uint64_t place_of(const struct desk *d, const struct ibv_dm *dm)
{
	uint64_t offset = 0, len = 0;
	uint16_t index = 0;
	union command c;

	begin(&c, UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY);
	add(&c, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, 0, dm->handle);
	add_buf(&c, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, &offset, sizeof(offset));
	add_buf(&c, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	add_buf(&c, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &len, sizeof(len));
	assert_int_equal(issue(d->fd, &c), 0);
	return ((uint64_t)(index >> 8) << 16 | 8u << 8 | (index & 0xff)) * PAGE;
}

static struct ibv_dm *make_dm(const struct desk *d, size_t len)
{
	struct ibv_alloc_dm_attr attr = {.length = len};
	struct ibv_dm *dm = ibv_alloc_dm(d->context, &attr);

	assert_non_null(dm);
	return dm;
}

static void device_memory_is_registered_by_its_dmabuf(void **state)
{
	const struct desk *d = *state;
	struct ibv_dm *dm = make_dm(d, 2 * PAGE);
	int fd = export_dmabuf(d->fd, place_of(d, dm));
	struct region r = part_of(fd, PAGE, PAGE);
	uint8_t seen[16];
	struct rc rc;

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(lseek(fd, 0, SEEK_END), 2 * PAGE);
	assert_int_equal(reg(d, &r), 0);
	assert_true(rc_open_loopback(&rc, d->pd));
	memset(rc.bytes, 0x5a, sizeof(seen));
	assert_int_equal(rc_write(&rc, r.key, PAGE + 64, sizeof(seen)), IBV_WC_SUCCESS);
	assert_int_equal(ibv_memcpy_from_dm(seen, dm, PAGE + 64, sizeof(seen)), 0);
	assert_memory_equal(seen, rc.bytes, sizeof(seen));
	REFUSE(EINVAL, part_of(fd, PAGE, PAGE), bad.len++);
	REFUSE(EINVAL, part_of(fd, 3 * PAGE, PAGE), (void)0);
	REFUSE(EINVAL, part_of(fd, 0, 0), (void)0);
	assert_int_equal(dereg(d, &r), 0);
	assert_true(rc_close(&rc));
	assert_int_equal(ibv_free_dm(dm), 0);
	close(fd);
}

static void freed_device_memory_is_revoked(void **state)
{
	const struct desk *d = *state;
	struct ibv_dm *dm = make_dm(d, PAGE), *next;
	int fd = export_dmabuf(d->fd, place_of(d, dm));
	struct region r = part_of(fd, 0, PAGE), s = part_of(fd, 0, PAGE);
	static const uint8_t zeros[16];
	uint8_t seen[16];
	struct rc rc;

	assert_int_equal(reg(d, &r), 0);
	assert_int_equal(reg(d, &s), 0);
	assert_true(rc_open_loopback(&rc, d->pd));
	assert_int_equal(ibv_free_dm(dm), 0); /* its users do not keep it */
	next = make_dm(d, PAGE);
	memset(rc.bytes, 0x5a, sizeof(seen));
	assert_int_equal(rc_write(&rc, r.key, 0, sizeof(seen)), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&rc));
	assert_int_equal(rc_gather(&rc, s.key, 0, sizeof(seen)), IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_memcpy_from_dm(seen, next, 0, sizeof(seen)), 0);
	assert_memory_equal(seen, zeros, sizeof(seen));
	REFUSE(ENODEV, part_of(fd, 0, PAGE), (void)0);
	assert_int_equal(dereg(d, &r), 0);
	assert_int_equal(dereg(d, &s), 0);
	assert_true(rc_close(&rc));
	assert_int_equal(ibv_free_dm(next), 0);
	close(fd);
}

static void another_context_uses_the_memory_until_it_is_freed(void **state)
{
	const struct desk *d = *state;
	struct ibv_dm *dm = make_dm(d, PAGE);
	int fd = export_dmabuf(d->fd, place_of(d, dm)),
	    again = export_dmabuf(d->fd, place_of(d, dm));
	struct region r = part_of(again, 0, PAGE);
	void *other;

	assert_int_equal(open_desk(&other), 0);
	assert_int_equal(reg(other, &r), 0);
	close(fd);
	close(again);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(dereg(other, &r), 0);
	assert_int_equal(close_desk(&other), 0);
}

static void descriptor_gives_nothing_but_the_name_of_the_memory(void **state)
{
	const struct desk *d = *state;
	struct ibv_dm *dm = make_dm(d, PAGE);
	int fd = export_dmabuf(d->fd, place_of(d, dm));
	struct umem u = {
		.len = PAGE, .access = IBV_ACCESS_LOCAL_WRITE, .is_dmabuf = true, .dmabuf = fd};

	assert_int_equal(reg_umem(d->fd, &u), EOPNOTSUPP); /* it would be pinned */
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ibv_free_dm(dm), 0);
	close(fd);
}

static void doorbell_page_is_exported_but_not_registered(void **state)
{
	const struct desk *d = *state, *owner;
	struct mlx5dv_devx_uar *uar;
	void *other;
	int fd;

	assert_int_equal(open_desk(&other), 0);
	owner = other;
	uar = mlx5dv_devx_alloc_uar(owner->context, MLX5DV_UAR_ALLOC_TYPE_NC);
	assert_non_null(uar);
	fd = export_dmabuf(owner->fd, (uint64_t)uar->mmap_off);
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), PAGE);
	assert_int_equal(export_dmabuf(d->fd, (uint64_t)uar->mmap_off), -EINVAL);
	REFUSE(EOPNOTSUPP, part_of(fd, 0, PAGE), (void)0);
	mlx5dv_devx_free_uar(uar);
	assert_int_equal(close_desk(&other), 0);
	REFUSE(ENODEV, part_of(fd, 0, PAGE), (void)0);
	close(fd);
}

static void only_memory_that_can_be_mapped_is_exported(void **state)
{
	const struct desk *d = *state;
	struct ibv_dm *dm = make_dm(d, PAGE);
	uint64_t place = place_of(d, dm);

	assert_int_equal(export_dmabuf(d->fd, place + 64), -EINVAL);
	assert_int_equal(export_dmabuf(d->fd, 7ull << 8 << 12), -EINVAL); /* the clock */
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(export_dmabuf(d->fd, place), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(context_has_no_more_rights_by_any_file),
		TEST(dma_handle_needs_a_hint_and_a_whole_target),
		TEST(region_is_of_memory_or_of_a_dmabuf),
		TEST(region_holds_its_dma_handle),
		TEST(port_has_the_speed_of_its_lanes),
		TEST(device_memory_is_registered_by_its_dmabuf),
		TEST(freed_device_memory_is_revoked),
		TEST(another_context_uses_the_memory_until_it_is_freed),
		TEST(descriptor_gives_nothing_but_the_name_of_the_memory),
		TEST(doorbell_page_is_exported_but_not_registered),
		TEST(only_memory_that_can_be_mapped_is_exported),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
