/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices: what there is (devinfo) and what is open (dev).
 *
 * A devinfo describes one RDMA device as libibverbs lists it: of the mlx5 driver, or another one of
 * InfiniBand or RoCE, such as the kernel's rdma_rxe, which can do RDMA and none of the rest: memory
 * is exported by RDMA only, there is no device memory, no umem and no DMA. A dev is that device
 * opened with a protection domain; it is shared by everything in the process that opens the
 * same device.
 *
 * A representor (rep) is what a DPU knows the host's physical function of its card by. There is one
 * for each device of a DPU that manages the host's; a device of the host has none.
 *
 * Errors common to all functions: DOCA_ERROR_INVALID_VALUE for a NULL argument unless said
 * otherwise. On any error the outputs keep their values. Semantics: DOCA 3.0, doca_dev.h.
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

/** Which representors to list; a mask. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,	   /**< All that the device has. */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,	   /**< Of network functions. */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /**< Of functions that the DPU emulates. */
};

/** Sizes in bytes; those of strings include the terminating NUL. */
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
 * List the devices of this system that the library can drive, those of the mlx5 driver first.
 *
 * @param dev_list out: array of @p nb_devs entries, owned by the caller until
 * doca_devinfo_destroy_list()
 * @param nb_devs out: number of entries; 0 when there is no device of a supported kind
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_NOT_FOUND when the system has no list of RDMA devices at all
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list,
						  uint32_t *nb_devs);

/**
 * Free a list and every devinfo in it. Devices opened from it stay open.
 *
 * @param dev_list a list from doca_devinfo_create_list()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 *
 * Not while another thread uses the list.
 */
DOCA_STABLE doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * Open a device. Opening one that is open already hands out the same object and counts one more
 * opening.
 *
 * @param devinfo the device; may be freed with its list after the call
 * @param dev out: the open device; give it back with doca_dev_close()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when memory or a protection domain cannot be allocated,
 *         DOCA_ERROR_NOT_CONNECTED when the device does not open or does not answer,
 *         DOCA_ERROR_DRIVER when the driver does not tell the number of the protection domain
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Give back one opening; the last one closes the device.
 *
 * @param dev an open device; NULL is no error and does nothing
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_IN_USE when this is the last opening and maps, device memory or queues still
 * use the device; nothing has changed then
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * The description of an open device.
 *
 * @param dev an open device
 * @return owned by @p dev and valid until it is closed; NULL for NULL. Callable from any thread.
 */
DOCA_STABLE struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * PCI address of the device; that of its parent function for a sub-function.
 *
 * @param devinfo the device
 * @param pci_addr_str out: "dddd:bb:dd.f" in lower case, room for DOCA_DEVINFO_PCI_ADDR_SIZE bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device is one of software only,
 *         DOCA_ERROR_OPERATING_SYSTEM when sysfs does not tell
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
						       char *pci_addr_str);

/**
 * Compare the PCI address of the device.
 *
 * @param devinfo the device
 * @param pci_addr_str "dddd:bb:dd.f", or "bb:dd.f" for domain 0000; case does not matter
 * @param is_equal out: 1 or 0; 0 for a device of software only
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or a string of another form,
 *         DOCA_ERROR_OPERATING_SYSTEM when sysfs does not tell
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
							const char *pci_addr_str,
							uint8_t *is_equal);

/**
 * First IPv4 address of the network interface of the device.
 *
 * @param devinfo the device
 * @param ipv4_addr out: 4 bytes in network order
 * @param size bytes of room at @p ipv4_addr, at least DOCA_DEVINFO_IPV4_ADDR_SIZE
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or too little room,
 *         DOCA_ERROR_NOT_FOUND when the interface has none,
 *         DOCA_ERROR_OPERATING_SYSTEM when the device has no interface here or the system does not
 * tell
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo,
						    uint8_t *ipv4_addr, uint32_t size);

/**
 * First IPv6 address of the network interface of the device.
 *
 * @param devinfo the device
 * @param ipv6_addr out: 16 bytes in network order
 * @param size bytes of room at @p ipv6_addr, at least DOCA_DEVINFO_IPV6_ADDR_SIZE
 * @return as doca_devinfo_get_ipv4_addr()
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo,
						    uint8_t *ipv6_addr, uint32_t size);

/**
 * MAC address of the network interface of the device.
 *
 * @param devinfo the device
 * @param mac_addr out: 6 bytes
 * @param size bytes of room at @p mac_addr, at least DOCA_DEVINFO_MAC_ADDR_SIZE
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or too little room,
 *         DOCA_ERROR_NOT_SUPPORTED when the port is not Ethernet or has no interface here
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo,
						   uint8_t *mac_addr, uint32_t size);

/**
 * Name of the network interface of the device.
 *
 * @param devinfo the device
 * @param iface_name out: string
 * @param size bytes of room at @p iface_name, at least DOCA_DEVINFO_IFACE_NAME_SIZE
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or too little room,
 *         DOCA_ERROR_OPERATING_SYSTEM when the device has no interface in this system
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo,
						     char *iface_name, uint32_t size);

/**
 * Name of the RDMA device, for example "mlx5_0".
 *
 * @param devinfo the device
 * @param ibdev_name out: string
 * @param size bytes of room at @p ibdev_name, at least DOCA_DEVINFO_IBDEV_NAME_SIZE
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or too little room
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo,
						     char *ibdev_name, uint32_t size);

/**
 * InfiniBand LID of port 1.
 *
 * @param devinfo the device
 * @param lid out: the LID in host byte order
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the port is not InfiniBand,
 *         DOCA_ERROR_DRIVER when the device does not answer
 *
 * Callable from any thread. Opens the device for the query.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * Rate of port 1.
 *
 * @param devinfo the device
 * @param active_rate out: bits per second
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 *
 * Callable from any thread. Opens the device for the query.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
							    uint64_t *active_rate);

/**
 * Number that names the function of the device among the functions of its card.
 *
 * @param devinfo the device
 * @param vhca_id out: the number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device is none of the mlx5 driver,
 *         DOCA_ERROR_DRIVER when the device does not answer
 *
 * Callable from any thread. May open the device for the query.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo,
							uint16_t *vhca_id);

/**
 * Kind of the PCI function of the device.
 *
 * @param devinfo the device
 * @param pci_func_type out: physical, virtual or sub-function
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device is one of software only,
 *         DOCA_ERROR_OPERATING_SYSTEM when sysfs does not tell
 *
 * Callable from any thread. Semantics: DOCA 3.1.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
							enum doca_pci_func_type *pci_func_type);

/**
 * Index of a sub-function: N of "mlx5_core.sf.N" on the auxiliary bus.
 *
 * @param devinfo the device
 * @param sf_index out: the index
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device is no sub-function,
 *         DOCA_ERROR_OPERATING_SYSTEM when sysfs does not tell
 *
 * Callable from any thread. Semantics: DOCA 3.1.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo,
							 uint32_t *sf_index);

/**
 * RDMA port by which the device reaches the wire: 1, the one that the library uses.
 *
 * @param devinfo the device
 * @param ib_port out: the port's number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread. The name is of DOCA after 3.0, the signature by inference.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_uplink_ib_port(const struct doca_devinfo *devinfo,
							       uint32_t *ib_port);

/**
 * The system's index of the network interface of the device.
 *
 * @param devinfo the device
 * @param iface_index out: the index
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_OPERATING_SYSTEM when the device has no interface in this system
 *
 * Callable from any thread. The name is of DOCA after 3.0, the signature by inference.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_iface_index(const struct doca_devinfo *devinfo,
							    uint32_t *iface_index);

/**
 * PCI address of the function by which the device goes past the CPU to GPU memory. None here.
 *
 * @param devinfo the device
 * @param pci_addr_str not written
 * @return DOCA_ERROR_INVALID_VALUE for a NULL argument, DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread. The name is of DOCA after 3.0, the signature by inference.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_devinfo_get_data_direct_pci_dev(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * Can functions be plugged into the host through the device? Not by this library.
 *
 * @param devinfo the device
 * @param is_hotplug_manager out: 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_hotplug_manager);

/**
 * Can the rate of notifications be limited? Not by this library.
 *
 * @param devinfo the device
 * @param is_notification_moderation_supported out: 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/**
 * Does doca_dev_accelerate_resource_reclaim() work?
 *
 * @param devinfo the device
 * @param is_accelerate_resource_reclaim_supported out: 0, it does not
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim_supported);

/**
 * Have the device give back what was freed faster. There is nothing to speed up: what is freed is
 * given back at once.
 *
 * @param dev an open device
 * @return DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * Does the device list representors without a filter?
 *
 * @param devinfo the device
 * @param filter_all_supported out: 1
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device has no representors,
 *         DOCA_ERROR_DRIVER when it does not answer
 *
 * Callable from any thread. Opens the device for the query.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(
	const struct doca_devinfo *devinfo, uint8_t *filter_all_supported);

/**
 * Does the device list representors of network functions?
 *
 * @param devinfo the device
 * @param filter_net_supported out: 1
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device has no representors,
 *         DOCA_ERROR_DRIVER when it does not answer
 *
 * Callable from any thread. Opens the device for the query.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(
	const struct doca_devinfo *devinfo, uint8_t *filter_net_supported);

/**
 * Does the device list representors of functions that the DPU emulates?
 *
 * @param devinfo the device
 * @param filter_emulated_supported out: 0, this library emulates none
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the device has no representors,
 *         DOCA_ERROR_DRIVER when it does not answer
 *
 * Callable from any thread. Opens the device for the query.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(
	const struct doca_devinfo *devinfo, uint8_t *filter_emulated_supported);

/**
 * List the representors of a device.
 *
 * @param dev an open device
 * @param filter a mask of enum doca_devinfo_rep_filter
 * @param dev_list_rep out: array of @p nb_devs_rep entries, owned by the caller until
 * doca_devinfo_rep_destroy_list()
 * @param nb_devs_rep out: number of entries; 0 when none is of the kind asked for
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument or an undefined bit of the filter,
 *         DOCA_ERROR_NOT_SUPPORTED when the device has no representors, as those of a host,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails, DOCA_ERROR_DRIVER when the device does not
 *         answer
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
						      struct doca_devinfo_rep ***dev_list_rep,
						      uint32_t *nb_devs_rep);

/**
 * Free a list and every entry in it. Representors opened from it stay open.
 *
 * @param dev_list_rep a list from doca_devinfo_rep_create_list()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 *
 * Not while another thread uses the list.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/**
 * Open a representor.
 *
 * @param devinfo_rep the representor; may be freed with its list after the call
 * @param dev_rep out: the open representor, valid until doca_dev_rep_close()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo_rep,
					   struct doca_dev_rep **dev_rep);

/**
 * Close a representor.
 *
 * @param dev_rep an open representor; gone afterwards
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev_rep);

/**
 * The description of an open representor.
 *
 * @param dev_rep an open representor
 * @return owned by @p dev_rep and valid until it is closed; NULL for NULL. Callable from any
 * thread.
 */
DOCA_STABLE struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * Vendor's unique identifier of the function. Nothing outside the vendor's tools tells it.
 *
 * @param devinfo_rep the representor
 * @param rep_vuid not written
 * @param size bytes of room at @p rep_vuid
 * @return DOCA_ERROR_INVALID_VALUE for a NULL argument, DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
						   char *rep_vuid, uint32_t size);

/**
 * PCI address of the function, as the host sees it.
 *
 * @param devinfo_rep the representor
 * @param pci_addr_str out: "dddd:bb:dd.f" in lower case, room for DOCA_DEVINFO_REP_PCI_ADDR_SIZE
 * bytes. The device does not know the domain: it is 0000
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

/**
 * Compare the PCI address of the function, as the host sees it.
 *
 * @param devinfo_rep the representor
 * @param pci_addr_str "dddd:bb:dd.f", or "bb:dd.f" for domain 0000; case does not matter
 * @param is_equal out: 1 or 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or a string of another form
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_is_equal_pci_addr(
	const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str, uint8_t *is_equal);

/**
 * Kind of the function: a physical one.
 *
 * @param devinfo_rep the representor
 * @param pci_func_type out: DOCA_PCI_FUNC_TYPE_PF
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_pci_func_type(
	const struct doca_devinfo_rep *devinfo_rep, enum doca_pci_func_type *pci_func_type);

/**
 * Was the function plugged in by the DPU?
 *
 * @param devinfo_rep the representor
 * @param is_hotplug out: 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
							 uint8_t *is_hotplug);

/**
 * Name of the network interface that stands for the function on the DPU, for example "pf0hpf".
 *
 * @param devinfo_rep the representor
 * @param iface_name out: string
 * @param size bytes of room at @p iface_name, at least DOCA_DEVINFO_IFACE_NAME_SIZE
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or too little room,
 *         DOCA_ERROR_OPERATING_SYSTEM when there is no such interface in this system
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_iface_name(
	const struct doca_devinfo_rep *devinfo_rep, char *iface_name, uint32_t size);

/**
 * Number that names the function among the functions of its card.
 *
 * @param devinfo_rep the representor
 * @param vhca_id out: the number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_SUPPORTED when the firmware of the device does not tell
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
