/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices: what there is (devinfo) and what is open (dev).
 *
 * A devinfo describes one RDMA device of the mlx5 driver as libibverbs lists it. A dev is that
 * device opened with a protection domain; it is shared by everything in the process that opens the
 * same device.
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
struct doca_devinfo;

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
 * List the devices of this system that the library can drive.
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
 * @param is_equal out: 1 or 0
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
 *         DOCA_ERROR_DRIVER when the device does not answer
 *
 * Callable from any thread. May open the device for the query.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo,
							uint16_t *vhca_id);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
