/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the package uses of the libraries. tests/python/test_declarations.py compares all of it with the
 * public headers.
 */

/*
 * Types. cffi cannot pass a union by value. Calling conventions pass union doca_data like a number of 64
 * bits, so dpumap_word_t stands for it.
 */
typedef int doca_error_t;
typedef uint64_t dpumap_word_t;
struct dpumap_channel_export {
	const char *name;
	const char *kind;
	uint64_t size;
	uint32_t access;
};
enum dpumap_channel_event { DPUMAP_CHANNEL_ADDED };
struct ibv_pd {
	struct ibv_context *context;
	uint32_t handle;
};

/* Functions. */
struct doca_dev;
struct doca_devinfo;
struct doca_mmap;
struct doca_pe;
struct doca_ctx;
struct doca_task;
struct doca_dma;
struct doca_dma_task_memcpy;
struct doca_buf;
struct doca_buf_inventory;
struct doca_log_backend;
struct dpumap_dm;
struct dpumap_channel;
struct ibv_context;
union doca_data;

const char *doca_error_get_name(doca_error_t error);
const char *doca_error_get_descr(doca_error_t error);
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);
const char *dpumap_version(void);

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size);
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size);
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
						   uint8_t *mmap_export);
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export);
doca_error_t dpumap_dm_cap_get_max_len(const struct doca_devinfo *devinfo, uint64_t *max_len);
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo,
						       uint64_t *max_buf_size);

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);
doca_error_t doca_dev_close(struct doca_dev *dev);
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);
doca_error_t dpumap_dev_open_own(struct doca_devinfo *devinfo, struct doca_dev **dev);
doca_error_t dpumap_dev_open_from_fd(int fd, struct doca_dev **dev);
doca_error_t dpumap_dev_export_fd(const struct doca_dev *dev, int *fd);
doca_error_t dpumap_dev_get_card_guid(const struct doca_dev *dev, uint64_t *guid);

doca_error_t dpumap_dm_alloc(struct doca_dev *dev, size_t len, uint32_t log_align,
			     struct dpumap_dm **dm);
doca_error_t dpumap_dm_import(struct doca_dev *dev, uint32_t handle, struct dpumap_dm **dm);
doca_error_t dpumap_dm_free(struct dpumap_dm *dm);
doca_error_t dpumap_dm_get_handle(const struct dpumap_dm *dm, uint32_t *handle);
doca_error_t dpumap_dm_export_dmabuf(const struct dpumap_dm *dm, int *fd);
doca_error_t dpumap_dm_get_len(const struct dpumap_dm *dm, size_t *len);
doca_error_t dpumap_dm_write(struct dpumap_dm *dm, size_t offset, const void *src, size_t len);
doca_error_t dpumap_dm_read(struct dpumap_dm *dm, size_t offset, void *dst, size_t len);

doca_error_t doca_mmap_create(struct doca_mmap **mmap);
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev,
					  struct doca_mmap **mmap);
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);
doca_error_t doca_mmap_start(struct doca_mmap *mmap);
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len);
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len);
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len);
doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap, const struct doca_dev *dev,
				uint32_t *mkey);
doca_error_t dpumap_mmap_set_dm_memrange(struct doca_mmap *mmap, struct dpumap_dm *dm,
					 size_t offset, size_t len);
doca_error_t dpumap_mmap_revoke_pci(struct doca_mmap *mmap, const struct doca_dev *dev);

doca_error_t doca_pe_create(struct doca_pe **pe);
doca_error_t doca_pe_destroy(struct doca_pe *pe);
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);
uint8_t doca_pe_progress(struct doca_pe *pe);
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, int *handle);
doca_error_t doca_pe_request_notification(struct doca_pe *pe);
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, int handle);
doca_error_t doca_ctx_start(struct doca_ctx *ctx);
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);
doca_error_t doca_task_submit(struct doca_task *task);
void doca_task_free(struct doca_task *task);
doca_error_t doca_task_get_status(const struct doca_task *task);

typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task,
						     dpumap_word_t task_user_data,
						     dpumap_word_t ctx_user_data);
doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);
doca_error_t doca_dma_destroy(struct doca_dma *dma);
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);
doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
					   doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb,
					   uint32_t num_memcpy_tasks);
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src,
					     struct doca_buf *dst, dpumap_word_t user_data,
					     struct doca_dma_task_memcpy **task);
struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

doca_error_t doca_buf_inventory_create(size_t num_elements,
				       struct doca_buf_inventory **buf_inventory);
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						void *data, size_t data_len, struct doca_buf **buf);
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

typedef void (*dpumap_channel_list_cb_t)(dpumap_word_t user_data,
					 const struct dpumap_channel_export *export_info);
typedef void (*dpumap_channel_get_cb_t)(dpumap_word_t user_data, size_t index,
					doca_error_t result, const void *descriptor, size_t len);
typedef void (*dpumap_channel_watch_cb_t)(dpumap_word_t user_data, enum dpumap_channel_event event,
					  const char *name);
doca_error_t dpumap_channel_create(struct dpumap_channel **channel);
doca_error_t dpumap_channel_destroy(struct dpumap_channel *channel);
doca_error_t dpumap_channel_set_address(struct dpumap_channel *channel, const char *address);
doca_error_t dpumap_channel_set_certificate(struct dpumap_channel *channel, const char *cert,
					    const char *key, const char *ca, const char *crl);
doca_error_t dpumap_channel_set_psk(struct dpumap_channel *channel, const char *file,
				    const char *name);
doca_error_t dpumap_channel_set_server_name(struct dpumap_channel *channel, const char *name);
doca_error_t dpumap_channel_set_timeout(struct dpumap_channel *channel, uint32_t milliseconds);
doca_error_t dpumap_channel_connect(struct dpumap_channel *channel);
doca_error_t dpumap_channel_list(struct dpumap_channel *channel, dpumap_channel_list_cb_t each,
				 dpumap_word_t user_data);
doca_error_t dpumap_channel_get(struct dpumap_channel *channel, const char *name, void *descriptor,
				size_t *len);
doca_error_t dpumap_channel_get_many(struct dpumap_channel *channel, const char *const *names,
				     size_t num, dpumap_channel_get_cb_t each,
				     dpumap_word_t user_data);
doca_error_t dpumap_channel_get_dmabuf(struct dpumap_channel *channel, const char *name, int *fd,
				       size_t *len);
doca_error_t dpumap_channel_release(struct dpumap_channel *channel, const char *name);
doca_error_t dpumap_channel_import(struct dpumap_channel *channel, const char *name,
				   struct doca_dev *dev, struct doca_mmap **mmap);
doca_error_t dpumap_channel_watch(struct dpumap_channel *channel, dpumap_channel_watch_cb_t heard,
				  dpumap_word_t user_data);
doca_error_t dpumap_channel_process(struct dpumap_channel *channel);
doca_error_t dpumap_channel_get_notification_handle(const struct dpumap_channel *channel,
						    int *handle);
doca_error_t dpumap_channel_get_next_time(const struct dpumap_channel *channel, int *milliseconds);
const char *dpumap_channel_get_error(const struct dpumap_channel *channel);

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);
struct ibv_context *ibv_import_device(int cmd_fd);
int ibv_close_device(struct ibv_context *context);
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle);
void ibv_unimport_pd(struct ibv_pd *pd);
