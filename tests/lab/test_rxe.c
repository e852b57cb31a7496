/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The library on a device of another driver than mlx5, the kernel's rdma_rxe. Operations that plain verbs
 * support work; all others are refused as documented and leave no objects.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <dpumap/desc.h>
#include <dpumap/dev.h>
#include <dpumap/parent_domain.h>
#include <dpumap/umem.h>

#include "fixture.h"
#include "peer.h"

#define LEN    65536u
#define RDMA_R ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define RDMA_W ((uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE)

static struct doca_dev *dev;
static const struct doca_devinfo *info;
static uint8_t bytes[LEN] __attribute__((aligned(4096)));

static int open_dev(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	info = doca_dev_as_devinfo(dev);
	return 0;
}

static int close_dev(void **state)
{
	return doca_dev_close(dev) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define dev_test(function) cmocka_unit_test_setup_teardown(function, open_dev, close_dev)

static struct doca_mmap *new_map(uint32_t access)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, bytes, LEN));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_add_dev(map, dev));
	return map;
}

static struct doca_mmap *started_map(uint32_t access)
{
	struct doca_mmap *map = new_map(access);

	assert_ok(doca_mmap_start(map));
	return map;
}

static void device_is_listed_and_described(void **state)
{
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE] = {0}, ip[DOCA_DEVINFO_IPV4_ADDR_SIZE] = {0};
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint64_t rate = 0;
	uint32_t index = 0;

	assert_ok(doca_devinfo_get_ibdev_name(info, name, sizeof(name)));
	assert_string_equal(name, "rxe0");
	assert_ok(doca_devinfo_get_iface_name(info, name, sizeof(name)));
	assert_string_equal(name, "eth0");
	assert_ok(doca_devinfo_get_iface_index(info, &index));
	assert_true(index > 0);
	assert_ok(doca_devinfo_get_mac_addr(info, mac, sizeof(mac)));
	assert_memory_equal(mac, "\x52\x54\x00\x00\x00", 5);
	assert_ok(doca_devinfo_get_ipv4_addr(info, ip, sizeof(ip)));
	assert_memory_equal(ip, "\x0a\x09\x00", 3);
	assert_ok(doca_devinfo_get_active_rate(info, &rate));
	assert_true(rate > 0);
}

static void device_is_not_a_function_of_a_card(void **state)
{
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo_rep **reps;
	enum doca_pci_func_type type;
	uint8_t equal = 1;
	uint32_t number;
	uint16_t id;

	assert_error(doca_devinfo_get_pci_addr_str(info, address), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_devinfo_is_equal_pci_addr(info, "0000:03:00.0", &equal));
	assert_int_equal(equal, 0);
	assert_error(doca_devinfo_is_equal_pci_addr(info, "nowhere", &equal),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_get_pci_func_type(info, &type), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_get_sf_index(info, &number), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_get_vhca_id(info, &id), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_get_lid(info, &id), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &number),
		     DOCA_ERROR_NOT_SUPPORTED);
}

static void capabilities_are_those_of_rdma_alone(void **state)
{
	uint32_t log_align = 1, max_message = 0;
	uint64_t dm_len = 1, granularity = 1;
	uint8_t out = 1, in = 1;

	assert_ok(doca_mmap_cap_is_export_pci_supported(info, &out));
	assert_ok(doca_mmap_cap_is_create_from_export_pci_supported(info, &in));
	assert_int_equal(out, 0);
	assert_int_equal(in, 0);
	assert_error(doca_dma_cap_task_memcpy_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(dpumap_dm_cap_get_max_len(info, &dm_len));
	assert_ok(dpumap_dm_cap_get_granularity(info, &granularity));
	assert_ok(dpumap_dm_cap_get_max_log_align(info, &log_align));
	assert_true(!dm_len && !granularity && !log_align);
	assert_ok(doca_rdma_cap_task_read_is_supported(info));
	assert_ok(doca_rdma_cap_task_write_is_supported(info));
	assert_ok(doca_rdma_cap_get_max_message_size(info, &max_message));
	assert_true(max_message >= 1u << 20);
}

static void export_is_by_rdma_only(void **state)
{
	uint32_t access = LOCAL_RW | PCI_RW | RDMA_R | RDMA_W;
	struct doca_mmap *map = started_map(access), *imported;
	const void *desc = NULL;
	struct dpumap_desc fields;
	void *addr;
	size_t len = 0;

	assert_error(doca_mmap_export_pci(map, dev, &desc, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(desc);
	assert_ok(doca_mmap_export_rdma(map, dev, &desc, &len));
	assert_int_equal(dpumap_desc_decode(desc, len, &fields), DPUMAP_DESC_OK);
	assert_int_equal(fields.kind, DPUMAP_DESC_KIND_RDMA);
	assert_int_equal(fields.port.link_layer, DPUMAP_DESC_LINK_ETHERNET);
	assert_memory_equal(fields.port.gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0", 15);
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, dev, &imported));
	assert_ok(doca_mmap_get_memrange(imported, &addr, &len));
	assert_ptr_equal(addr, bytes);
	assert_int_equal(len, LEN);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
}

/* With any permissions, peers use the key of the registration itself. */
static void every_set_of_permissions_is_exported(void **state)
{
	static const uint32_t bits[] = {LOCAL_RW,
					RDMA_R,
					RDMA_W,
					DOCA_ACCESS_FLAG_RDMA_ATOMIC,
					PCI_RW,
					PCI_RO,
					DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING};

	for (unsigned int set = 0; set < 1u << (sizeof(bits) / sizeof(bits[0])); set++) {
		const void *desc;
		struct doca_mmap *map;
		uint32_t access = 0;
		bool open;
		size_t len;

		for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
			access |= set & 1u << i ? bits[i] : 0;
		assert_ok(doca_mmap_create(&map));
		if (doca_mmap_set_permissions(map, access) == DOCA_SUCCESS) {
			open = access & (RDMA_R | RDMA_W | (uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC);
			assert_ok(doca_mmap_set_memrange(map, bytes, LEN));
			assert_ok(doca_mmap_add_dev(map, dev));
			assert_ok(doca_mmap_start(map));
			assert_error(doca_mmap_export_rdma(map, dev, &desc, &len),
				     open ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED);
		}
		assert_ok(doca_mmap_destroy(map));
	}
}

static void import_of_a_pci_export_is_not_supported(void **state)
{
	struct dpumap_desc fields = {
		.kind = DPUMAP_DESC_KIND_PCI,
		.source = DPUMAP_DESC_SOURCE_MEMORY,
		.access = PCI_RW,
		.device_guid = 1,
		.vhca_id = 1,
		.mkey = 0x100,
		.addr = 4096,
		.len = 4096,
		.access_key = {1},
	};
	struct doca_mmap *imported = NULL;
	uint8_t desc[128];
	size_t len = 0;

	assert_int_equal(dpumap_desc_encode(&fields, desc, sizeof(desc), &len), DPUMAP_DESC_OK);
	assert_error(doca_mmap_create_from_export(NULL, desc, len, dev, &imported),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(imported);
}

static void device_memory_is_not_supported(void **state)
{
	uint64_t longest = 1, total = 1;
	struct dpumap_dm *dm = NULL;

	assert_error(dpumap_dm_alloc(dev, 4096, 0, &dm), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(dpumap_dm_import(dev, 1, &dm), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(dm);
	assert_ok(dpumap_dm_query_free(dev, &longest, &total));
	assert_true(!longest && !total);
}

static void nothing_done(struct doca_dma_task_memcpy *task, union doca_data task_data,
			 union doca_data ctx_data)
{
}

static void copies_are_not_supported(void **state)
{
	struct dpumap_dma *queue = NULL;
	struct doca_ctx *ctx;
	struct doca_dma *dma;
	struct doca_pe *pe;

	assert_error(dpumap_dma_create(dev, 16, &queue), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(queue);
	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_dma_create(dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	assert_ok(doca_pe_connect_ctx(pe, ctx));
	assert_ok(doca_dma_task_memcpy_set_conf(dma, nothing_done, nothing_done, 16));
	assert_error(doca_ctx_start(ctx), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_dma_destroy(dma));
	assert_ok(doca_pe_destroy(pe));
}

static void umems_and_domains_are_not_supported(void **state)
{
	struct dpumap_parent_domain_attr single = {.single_thread = true};
	struct dpumap_parent_domain *domain = NULL;
	struct dpumap_umem *umem = NULL;

	assert_error(dpumap_umem_register(dev, bytes, LEN, LOCAL_RW, &umem),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(umem);
	assert_error(dpumap_parent_domain_create(dev, NULL, &domain), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(dpumap_parent_domain_create(dev, &single, &domain), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(domain);
}

static void a_context_is_not_shared_by_processes(void **state)
{
	struct doca_dev *other = NULL;
	int fd = -1;

	assert_ok(dpumap_dev_export_fd(dev, &fd));
	assert_error(dpumap_dev_open_from_fd(fd, &other), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(other);
	assert_int_equal(close(fd), 0);
}

static void device_is_opened_more_than_once(void **state)
{
	struct doca_devinfo **list;
	struct doca_dev *same, *own;
	uint32_t n;

	assert_ok(doca_devinfo_create_list(&list, &n));
	assert_int_equal(n, 1);
	assert_ok(doca_dev_open(list[0], &same));
	assert_ptr_equal(same, dev);
	assert_ok(dpumap_dev_open_own(list[0], &own));
	assert_ptr_not_equal(own, dev);
	assert_ok(doca_devinfo_destroy_list(list));
	assert_ok(doca_dev_close(own));
	assert_ok(doca_dev_close(same));
}

/* The bridge: a program's own protection domain, and keys of maps for its own work requests. */
static void the_bridge_lends_and_borrows_domains(void **state)
{
	struct doca_mmap *map = started_map(LOCAL_RW);
	struct doca_dev *borrowed;
	struct ibv_pd *pd, *own;
	uint32_t key = 0;

	assert_ok(doca_rdma_bridge_get_dev_pd(dev, &pd));
	assert_ok(doca_rdma_bridge_get_mmap_mkey_from_pd(map, pd, &key));
	assert_true(key != 0);
	own = ibv_alloc_pd(pd->context);
	assert_non_null(own);
	assert_ok(doca_rdma_bridge_open_dev_from_pd(own, &borrowed));
	assert_ok(doca_mmap_destroy(map));
	map = new_map(LOCAL_RW);
	assert_ok(doca_mmap_add_dev(map, borrowed));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(borrowed));
	assert_int_equal(ibv_dealloc_pd(own), 0);
}

/* Return a dma-buf of the kernel's vgem; -1 without vgem. The structures are those of drm.h. */
static int make_dmabuf(void)
{
	struct {
		uint32_t height, width, bpp, flags, handle, pitch;
		uint64_t size;
	} dumb = {.height = 64, .width = 256, .bpp = 32};
	struct {
		uint32_t handle, flags;
		int32_t fd;
	} prime = {.flags = O_RDWR | O_CLOEXEC, .fd = -1};
	int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);

	if (card < 0)
		return -1;
	if (!ioctl(card, _IOWR('d', 0xb2, dumb), &dumb)) {
		prime.handle = dumb.handle;
		if (ioctl(card, _IOWR('d', 0x2d, prime), &prime))
			prime.fd = -1;
	}
	close(card);
	return prime.fd;
}

static void dmabufs_are_not_supported(void **state)
{
	struct doca_mmap *map;
	int fd = make_dmabuf();

	assert_true(fd >= 0);
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_dmabuf_memrange(map, fd, bytes, 0, 4096));
	assert_ok(doca_mmap_set_permissions(map, LOCAL_RW | RDMA_R));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_error(doca_mmap_start(map), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(close(fd), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		dev_test(device_is_listed_and_described),
		dev_test(device_is_not_a_function_of_a_card),
		dev_test(capabilities_are_those_of_rdma_alone),
		dev_test(export_is_by_rdma_only),
		dev_test(every_set_of_permissions_is_exported),
		dev_test(import_of_a_pci_export_is_not_supported),
		dev_test(device_memory_is_not_supported),
		dev_test(copies_are_not_supported),
		dev_test(umems_and_domains_are_not_supported),
		dev_test(a_context_is_not_shared_by_processes),
		dev_test(device_is_opened_more_than_once),
		dev_test(the_bridge_lends_and_borrows_domains),
		dev_test(dmabufs_are_not_supported),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
