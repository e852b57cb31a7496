/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices.
 *
 * A devinfo describes an RDMA device that libibverbs lists. A dev is such a device after it was
 * opened; it has a protection domain. All parts of a process that open the same device share one
 * dev.
 *
 * The driver of a device is mlx5, or another InfiniBand or RoCE driver such as the kernel's
 * rdma_rxe. Devices of other drivers support RDMA only: they can export memory over RDMA, but do
 * not support device memory, umems or DMA.
 *
 * A representor (rep) stands for a physical function of the host on the DPU of the same card. A
 * device of a DPU that manages the host's function has one representor for it. Devices of a host
 * have no representors.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument unless documented otherwise.
 * On any error the outputs keep their values. Semantics: DOCA 3.0, doca_dev.h.
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_devinfo_rep;

/** Representors to list; a mask. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,	   /**< All representors of the device. */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,	   /**< Representors of network functions. */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /**< Representors of emulated functions. */
};

/** Sizes in bytes; sizes of strings include the terminating NUL. */
#define DOCA_DEVINFO_PCI_ADDR_SIZE     13 /**< "dddd:bb:dd.f" */
#define DOCA_DEVINFO_PCI_BDF_SIZE      8  /**< "bb:dd.f" */
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE  8
#define DOCA_DEVINFO_VUID_SIZE	       128
#define DOCA_DEVINFO_REP_VUID_SIZE     128
#define DOCA_DEVINFO_IFACE_NAME_SIZE   256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE   64
#define DOCA_DEVINFO_MAC_ADDR_SIZE     6
#define DOCA_DEVINFO_IPV4_ADDR_SIZE    4
#define DOCA_DEVINFO_IPV6_ADDR_SIZE    16

/**
 * List the devices of this system that the library supports. Devices of the mlx5 driver come
 * first.
 *
 * @param dev_list out: array of @p nb_devs entries, owned by the caller until
 *         doca_devinfo_destroy_list()
 * @param nb_devs out: number of entries; 0 if there is no supported device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_FOUND: the system cannot list RDMA devices: its kernel has no RDMA driver loaded
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list,
						  uint32_t *nb_devs);

/**
 * Free a list and all its entries. Devices that were opened from it stay open.
 *
 * @param dev_list a list from doca_devinfo_create_list()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 *
 * The list must not be in use by another thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * Open a device. If the device is already open, the function returns the same object and
 * increments its open count.
 *
 * @param devinfo the device; its list may be freed after the call
 * @param dev out: the open device; valid until doca_dev_close()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: memory or a protection domain cannot be allocated
 * - DOCA_ERROR_NOT_CONNECTED: the device cannot be opened or does not answer
 * - DOCA_ERROR_DRIVER: the driver does not report the number of the protection domain
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Decrement the open count of a device, and close the device when the count reaches 0.
 *
 * @param dev an open device; NULL does nothing and is not an error
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_IN_USE: this is the last close, and maps, device memory or queues still use the
 *   device; nothing has changed
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Get the description of an open device.
 *
 * @param dev an open device
 * @return the description, owned by @p dev and valid until the device is closed; NULL for NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * Get the PCI address of the device. For a sub-function, it is the address of its parent function.
 *
 * @param devinfo the device
 * @param pci_addr_str out: "dddd:bb:dd.f" in lower case; the buffer has at least
 *         DOCA_DEVINFO_PCI_ADDR_SIZE bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device is a software device
 * - DOCA_ERROR_OPERATING_SYSTEM: sysfs does not contain the value
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
						       char *pci_addr_str);

/**
 * Compare the PCI address of the device with a string.
 *
 * @param devinfo the device
 * @param pci_addr_str "dddd:bb:dd.f", or "bb:dd.f" for domain 0000; upper or lower case
 * @param is_equal out: 1 or 0; always 0 for a software device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the string has another form
 * - DOCA_ERROR_OPERATING_SYSTEM: sysfs does not contain the value
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
							const char *pci_addr_str,
							uint8_t *is_equal);

/**
 * Get the first IPv4 address of the network interface of the device.
 *
 * @param devinfo the device
 * @param ipv4_addr out: 4 bytes in network order
 * @param size number of bytes at @p ipv4_addr, at least DOCA_DEVINFO_IPV4_ADDR_SIZE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or @p size is too small
 * - DOCA_ERROR_NOT_FOUND: the interface has no such address
 * - DOCA_ERROR_OPERATING_SYSTEM: the device has no network interface in this system, or a system
 *   call fails
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo,
						    uint8_t *ipv4_addr, uint32_t size);

/**
 * Get the first IPv6 address of the network interface of the device.
 *
 * @param devinfo the device
 * @param ipv6_addr out: 16 bytes in network order
 * @param size number of bytes at @p ipv6_addr, at least DOCA_DEVINFO_IPV6_ADDR_SIZE
 * @return as doca_devinfo_get_ipv4_addr()
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo,
						    uint8_t *ipv6_addr, uint32_t size);

/**
 * Get the MAC address of the network interface of the device.
 *
 * @param devinfo the device
 * @param mac_addr out: 6 bytes
 * @param size number of bytes at @p mac_addr, at least DOCA_DEVINFO_MAC_ADDR_SIZE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or @p size is too small
 * - DOCA_ERROR_NOT_SUPPORTED: the port is not an Ethernet port, or the device has no network
 *   interface in this system
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo,
						   uint8_t *mac_addr, uint32_t size);

/**
 * Get the name of the network interface of the device.
 *
 * @param devinfo the device
 * @param iface_name out: the name
 * @param size number of bytes at @p iface_name, at least DOCA_DEVINFO_IFACE_NAME_SIZE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or @p size is too small
 * - DOCA_ERROR_OPERATING_SYSTEM: the device has no network interface in this system
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo,
						     char *iface_name, uint32_t size);

/**
 * Get the name of the RDMA device, for example "mlx5_0".
 *
 * @param devinfo the device
 * @param ibdev_name out: the name
 * @param size number of bytes at @p ibdev_name, at least DOCA_DEVINFO_IBDEV_NAME_SIZE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or @p size is too small
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo,
						     char *ibdev_name, uint32_t size);

/**
 * Get the InfiniBand LID of port 1.
 *
 * @param devinfo the device
 * @param lid out: the LID in host byte order
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the port is not an InfiniBand port
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function opens the device.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * Get the rate of port 1.
 *
 * @param devinfo the device
 * @param active_rate out: rate in bits per second
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function opens the device.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
							    uint64_t *active_rate);

/**
 * Get the number that identifies the function of the device within its card.
 *
 * @param devinfo the device
 * @param vhca_id out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the driver of the device is not mlx5
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function may open the device.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo,
							uint16_t *vhca_id);

/**
 * Get the kind of the PCI function of the device.
 *
 * @param devinfo the device
 * @param pci_func_type out: physical function, virtual function or sub-function
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device is a software device
 * - DOCA_ERROR_OPERATING_SYSTEM: sysfs does not contain the value
 *
 * Callable from any thread. Semantics: DOCA 3.1.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
							enum doca_pci_func_type *pci_func_type);

/**
 * Get the index of a sub-function: N of "mlx5_core.sf.N" on the auxiliary bus.
 *
 * @param devinfo the device
 * @param sf_index out: the index
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device is not a sub-function
 * - DOCA_ERROR_OPERATING_SYSTEM: sysfs does not contain the value
 *
 * Callable from any thread. Semantics: DOCA 3.1.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo,
							 uint32_t *sf_index);

/**
 * Get the RDMA port that connects the device to the network. It is port 1, which the library uses.
 *
 * @param devinfo the device
 * @param ib_port out: number of the port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread. The name comes from a DOCA version after 3.0, the signature by
 * inference.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_uplink_ib_port(const struct doca_devinfo *devinfo,
							       uint32_t *ib_port);

/**
 * Get the system's index of the network interface of the device.
 *
 * @param devinfo the device
 * @param iface_index out: the index
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: the device has no network interface in this system
 *
 * Callable from any thread. The name comes from a DOCA version after 3.0, the signature by
 * inference.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_iface_index(const struct doca_devinfo *devinfo,
							    uint32_t *iface_index);

/**
 * Get the PCI address of the function for direct access to GPU memory. This is not supported.
 *
 * @param devinfo the device
 * @param pci_addr_str not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread. The name comes from a DOCA version after 3.0, the signature by
 * inference.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_devinfo_get_data_direct_pci_dev(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * Check whether the device can hot-plug functions into the host. This library does not support it.
 *
 * @param devinfo the device
 * @param is_hotplug_manager out: 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_hotplug_manager);

/**
 * Check whether the rate of notifications can be limited. This library does not support it.
 *
 * @param devinfo the device
 * @param is_notification_moderation_supported out: 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/**
 * Check whether doca_dev_accelerate_resource_reclaim() is supported.
 *
 * @param devinfo the device
 * @param is_accelerate_resource_reclaim_supported out: 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim_supported);

/**
 * Accelerate the release of freed resources. This is not supported, because the library always
 * releases resources at once.
 *
 * @param dev an open device
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * Check whether the device can list its representors without a filter.
 *
 * @param devinfo the device
 * @param filter_all_supported out: 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support representors
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function opens the device.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(
	const struct doca_devinfo *devinfo, uint8_t *filter_all_supported);

/**
 * Check whether the device can list the representors of network functions.
 *
 * @param devinfo the device
 * @param filter_net_supported out: 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support representors
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function opens the device.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(
	const struct doca_devinfo *devinfo, uint8_t *filter_net_supported);

/**
 * Check whether the device can list the representors of functions that the DPU emulates.
 *
 * @param devinfo the device
 * @param filter_emulated_supported out: 0; this library emulates no functions
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support representors
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function opens the device.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(
	const struct doca_devinfo *devinfo, uint8_t *filter_emulated_supported);

/**
 * List the representors of a device.
 *
 * @param dev an open device
 * @param filter bits of enum doca_devinfo_rep_filter
 * @param dev_list_rep out: array of @p nb_devs_rep entries, owned by the caller until
 *         doca_devinfo_rep_destroy_list()
 * @param nb_devs_rep out: number of entries; 0 if no representor matches the filter
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or a bit of the filter is undefined
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support representors, like every device of a
 *   host
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
						      struct doca_devinfo_rep ***dev_list_rep,
						      uint32_t *nb_devs_rep);

/**
 * Free a list and all its entries. Representors that were opened from it stay open.
 *
 * @param dev_list_rep a list from doca_devinfo_rep_create_list()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 *
 * The list must not be in use by another thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/**
 * Open a representor.
 *
 * @param devinfo_rep the representor; its list may be freed after the call
 * @param dev_rep out: the open representor, valid until doca_dev_rep_close()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo_rep,
					   struct doca_dev_rep **dev_rep);

/**
 * Close a representor.
 *
 * @param dev_rep an open representor; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a server of doca_comch uses it
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev_rep);

/**
 * Get the description of an open representor.
 *
 * @param dev_rep an open representor
 * @return the description, owned by @p dev_rep and valid until the representor is closed; NULL for
 *         NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * Get the vendor's unique identifier of the function. This is not supported, because only the
 * vendor's tools can read it.
 *
 * @param devinfo_rep the representor
 * @param rep_vuid not written
 * @param size number of bytes at @p rep_vuid
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
						   char *rep_vuid, uint32_t size);

/**
 * Get the PCI address of the function on the host.
 *
 * @param devinfo_rep the representor
 * @param pci_addr_str out: "dddd:bb:dd.f" in lower case; the buffer has at least
 *         DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes. The domain is always 0000, because the device does
 *         not know it
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

/**
 * Compare the PCI address of the function on the host with a string.
 *
 * @param devinfo_rep the representor
 * @param pci_addr_str "dddd:bb:dd.f", or "bb:dd.f" for domain 0000; upper or lower case
 * @param is_equal out: 1 or 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the string has another form
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_is_equal_pci_addr(
	const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str, uint8_t *is_equal);

/**
 * Get the kind of the function, which is always a physical function.
 *
 * @param devinfo_rep the representor
 * @param pci_func_type out: DOCA_PCI_FUNC_TYPE_PF
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_pci_func_type(
	const struct doca_devinfo_rep *devinfo_rep, enum doca_pci_func_type *pci_func_type);

/**
 * Check whether the representor is one of the host's function, as each of this library is. The
 * signature is by inference.
 *
 * @param devinfo_rep the representor
 * @param is_host_representor out: 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_is_host_representor(
	const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_host_representor);

/**
 * Check whether the representor is one of the uplink, as none of this library is. The signature is by
 * inference.
 *
 * @param devinfo_rep the representor
 * @param is_uplink_representor out: 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_is_uplink_representor(
	const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_uplink_representor);

/**
 * Check whether the DPU hot-plugged the function.
 *
 * @param devinfo_rep the representor
 * @param is_hotplug out: 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
							 uint8_t *is_hotplug);

/**
 * Get the name of the network interface that represents the function on the DPU, for example
 * "pf0hpf".
 *
 * @param devinfo_rep the representor
 * @param iface_name out: the name
 * @param size number of bytes at @p iface_name, at least DOCA_DEVINFO_IFACE_NAME_SIZE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or @p size is too small
 * - DOCA_ERROR_OPERATING_SYSTEM: this system has no such interface
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_iface_name(
	const struct doca_devinfo_rep *devinfo_rep, char *iface_name, uint32_t size);

/**
 * Get the number that identifies the function within its card.
 *
 * @param devinfo_rep the representor
 * @param vhca_id out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the firmware of the device does not report the number
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
