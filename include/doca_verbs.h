/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Verbs: queue pairs, completion queues and shared receive queues of a device. Objects work as soon
 * as they are created; they have no doca_ctx and no progress engine. The functions that post work
 * requests and poll completions are in doca_verbs_bridge.h.
 *
 * A context has a driver context of its own. Its protection domain (PD) is also a device
 * (doca_verbs_pd_as_doca_dev()), for maps whose keys work requests use. Destroy objects in this
 * order: QPs, SRQs, CQs, channels, the device of the PD, the PD, the context.
 *
 * Objects are created with attributes, which are copied: the program may change or destroy them
 * afterwards. A setter refuses a value outside of its range; whether the values fit together and
 * the device supports them is checked when an object is created.
 *
 * The data path is libibverbs'. With external_datapath_en 1 the program writes work requests into
 * the memory of the queues itself. Memory, doorbell pages and umems of the program for queues, the
 * data paths of GPUs and DPAs, groups of congestion control and Ethernet queues are not supported:
 * the function that would create such an object returns DOCA_ERROR_NOT_SUPPORTED.
 *
 * Thread safety: different objects may be used by different threads. One QP, CQ or SRQ may be used
 * by several threads to post, poll and request events; all other functions on one object by one
 * thread at a time. On any error the outputs keep their values. Semantics: DOCA 3.3, doca_verbs.h.
 */
#ifndef DOCA_VERBS_H_
#define DOCA_VERBS_H_

#include <stddef.h>
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
struct doca_dpa;
struct doca_dpa_completion;
struct doca_uar;
struct doca_umem;

struct doca_verbs_context;
struct doca_verbs_device_attr;
struct doca_verbs_pd;
struct doca_verbs_qp_init_attr;
struct doca_verbs_qp_attr;
struct doca_verbs_cq_attr;
struct doca_verbs_srq_init_attr;
struct doca_verbs_eth_sq_init_attr;
struct doca_verbs_eth_rq_init_attr;
struct doca_verbs_ah_attr;
struct doca_verbs_comp_channel;
struct doca_verbs_cq;
struct doca_verbs_qp;
struct doca_verbs_srq;
struct doca_verbs_eth_sq;
struct doca_verbs_eth_rq;
struct doca_verbs_cc_group;
struct doca_verbs_cc_group_attr;
struct doca_verbs_cc_group_caps;

typedef uint64_t doca_dpa_dev_verbs_srq_t;    /**< An SRQ in a DPA; none exists. */
typedef uint64_t doca_dpa_dev_verbs_qp_t;     /**< A QP in a DPA; none exists. */
typedef uint64_t doca_dpa_dev_verbs_eth_sq_t; /**< An Ethernet send queue in a DPA; none exists. */
typedef uint64_t
	doca_dpa_dev_verbs_eth_rq_t; /**< An Ethernet receive queue in a DPA; none exists. */

/** Flags of doca_verbs_context_create(): none. */
#define DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE 0

/** Types of QPs. */
#define DOCA_VERBS_QP_TYPE_RC 0 /**< Reliable connection. */
#define DOCA_VERBS_QP_TYPE_UC 1 /**< Unreliable connection. */

/** Sources of time stamps of Ethernet queues. */
#define DOCA_VERBS_TS_SOURCE_DEFAULT	  0 /**< The device decides. */
#define DOCA_VERBS_TS_SOURCE_FREE_RUNNING 1 /**< The free-running clock. */
#define DOCA_VERBS_TS_SOURCE_REAL_TIME	  2 /**< The real-time clock. */

/** Types of asynchronous events. */
#define DOCA_VERBS_EVENT_QP_FATAL      0 /**< A QP failed. */
#define DOCA_VERBS_EVENT_QP_REQ_ERR    1 /**< The peer sent an invalid request. */
#define DOCA_VERBS_EVENT_QP_ACCESS_ERR 2 /**< The peer violated access rights. */
#define DOCA_VERBS_EVENT_CQ_ERR	       3 /**< A CQ failed, for example by an overrun. */

/** Members of struct doca_verbs_qp_attr that doca_verbs_qp_modify() reads. */
#define DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE (1 << 0)	/**< allow_remote_write */
#define DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ  (1 << 1)	/**< allow_remote_read */
#define DOCA_VERBS_QP_ATTR_PKEY_INDEX	      (1 << 2)	/**< pkey_index */
#define DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER      (1 << 3)	/**< min_rnr_timer */
#define DOCA_VERBS_QP_ATTR_PORT_NUM	      (1 << 4)	/**< port_num */
#define DOCA_VERBS_QP_ATTR_NEXT_STATE	      (1 << 5)	/**< next_state */
#define DOCA_VERBS_QP_ATTR_CURRENT_STATE      (1 << 6)	/**< current_state */
#define DOCA_VERBS_QP_ATTR_PATH_MTU	      (1 << 7)	/**< path_mtu */
#define DOCA_VERBS_QP_ATTR_RQ_PSN	      (1 << 8)	/**< rq_psn */
#define DOCA_VERBS_QP_ATTR_SQ_PSN	      (1 << 9)	/**< sq_psn */
#define DOCA_VERBS_QP_ATTR_DEST_QP_NUM	      (1 << 10) /**< dest_qp_num */
#define DOCA_VERBS_QP_ATTR_ACK_TIMEOUT	      (1 << 11) /**< ack_timeout */
#define DOCA_VERBS_QP_ATTR_RETRY_CNT	      (1 << 12) /**< retry_cnt */
#define DOCA_VERBS_QP_ATTR_RNR_RETRY	      (1 << 13) /**< rnr_retry */
#define DOCA_VERBS_QP_ATTR_AH_ATTR	      (1 << 14) /**< ah_attr */
#define DOCA_VERBS_QP_ATTR_ATOMIC_MODE	      (1 << 15) /**< atomic_mode */
#define DOCA_VERBS_QP_ATTR_MAX_QP_RD_ATOMIC   (1 << 16) /**< max_rd_atomic */
#define DOCA_VERBS_QP_ATTR_MAX_DEST_RD_ATOMIC (1 << 17) /**< max_dest_rd_atomic */
#define DOCA_VERBS_QP_ATTR_CC_GROUP	      (1 << 18) /**< cc_group; not supported */

/** States of a QP. */
enum doca_verbs_qp_state {
	DOCA_VERBS_QP_STATE_RST = 0,  /**< Reset: a new QP. */
	DOCA_VERBS_QP_STATE_INIT = 1, /**< Initialized: receives can be posted. */
	DOCA_VERBS_QP_STATE_RTR = 2,  /**< Ready to receive. */
	DOCA_VERBS_QP_STATE_RTS = 3,  /**< Ready to send. */
	DOCA_VERBS_QP_STATE_ERR = 4,  /**< Error: all work requests are flushed. */
};

/** Kinds of addresses. */
enum doca_verbs_addr_type {
	DOCA_VERBS_ADDR_TYPE_IPv4 = 0,	    /**< RoCE v2; the GID is IPv4-mapped. */
	DOCA_VERBS_ADDR_TYPE_IPv6 = 1,	    /**< RoCE v2. */
	DOCA_VERBS_ADDR_TYPE_IB_GRH = 2,    /**< A LID and a GID. */
	DOCA_VERBS_ADDR_TYPE_IB_NO_GRH = 3, /**< A LID. */
};

/** Types of SRQs. */
enum doca_verbs_srq_type {
	DOCA_VERBS_SRQ_TYPE_LINKED_LIST = 0, /**< Receives complete in any order. */
	DOCA_VERBS_SRQ_TYPE_CONTIGUOUS = 1,  /**< A ring; not supported. */
};

/** Atomic operations that the peer may execute. */
enum doca_verbs_qp_atomic_mode {
	DOCA_VERBS_QP_ATOMIC_MODE_NONE = 0, /**< None. */
	DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC =
		1, /**< Those of the InfiniBand specification, on 8 bytes. */
	DOCA_VERBS_QP_ATOMIC_MODE_ONLY_8BYTES = 2,    /**< On 8 bytes. */
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_8BYTES = 3,   /**< On up to 8 bytes. */
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_16BYTES = 4,  /**< Not supported, as all that follow. */
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_32BYTES = 5,  /**< Not supported. */
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_64BYTES = 6,  /**< Not supported. */
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_128BYTES = 7, /**< Not supported. */
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_256BYTES = 8, /**< Not supported. */
};

/** Data inside of completions. */
enum doca_verbs_qp_scatter_to_cqe {
	DOCA_VERBS_QP_SCATTER_TO_CQE_NONE = 0, /**< None. */
	DOCA_VERBS_QP_SCATTER_TO_CQE_32B = 1,  /**< Up to 32 bytes; GPUs only, not supported. */
};

/** Doorbell records of send queues. */
enum doca_verbs_qp_send_dbr_mode {
	DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID = 0,  /**< Used. */
	DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT = 1, /**< None; not supported. */
	DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_INT = 2, /**< None; not supported. */
};

/** Between what atomic operations are atomic. */
enum doca_verbs_atomic_cap {
	DOCA_VERBS_ATOMIC_CAP_NONE = 0, /**< The device has none. */
	DOCA_VERBS_ATOMIC_CAP_HCA = 1,	/**< Within the device. */
	DOCA_VERBS_ATOMIC_CAP_GLOB = 2, /**< Also with those of the processor. */
};

/** Sizes of completions. */
enum doca_verbs_cq_entry_size {
	DOCA_VERBS_CQ_ENTRY_SIZE_64 = 0,  /**< 64 bytes. */
	DOCA_VERBS_CQ_ENTRY_SIZE_128 = 1, /**< 128 bytes; with an external data path only. */
};

/** States of an Ethernet send queue. */
enum doca_verbs_eth_sq_state {
	DOCA_VERBS_ETH_SQ_STATE_RST = 0, /**< Reset. */
	DOCA_VERBS_ETH_SQ_STATE_RDY = 1, /**< Ready. */
	DOCA_VERBS_ETH_SQ_STATE_ERR = 2, /**< Error. */
};

/** States of an Ethernet receive queue. */
enum doca_verbs_eth_rq_state {
	DOCA_VERBS_ETH_RQ_STATE_RST = 0, /**< Reset. */
	DOCA_VERBS_ETH_RQ_STATE_RDY = 1, /**< Ready. */
	DOCA_VERBS_ETH_RQ_STATE_ERR = 2, /**< Error. */
};

/** A GID, in network byte order. */
struct doca_verbs_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH]; /**< The bytes. */
};

/** An asynchronous event. */
struct doca_verbs_async_event {
	union {
		struct doca_verbs_qp *qp; /**< Of DOCA_VERBS_EVENT_QP_*. */
		struct doca_verbs_cq *cq; /**< Of DOCA_VERBS_EVENT_CQ_ERR. */
		void *reserved;		  /**< For libraries. */
	} element;			  /**< What the event is about. */
	int event_type;			  /**< DOCA_VERBS_EVENT_* */
};

/* --- contexts --- */

/**
 * Open a device: create a context with a driver context of its own.
 *
 * @param devinfo the device; the list that it is from may be destroyed afterwards
 * @param flags DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE
 * @param verbs_context out: the context, owned by the caller until doca_verbs_context_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or flags is not 0
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_CONNECTED: the device cannot be opened
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_context_create(struct doca_devinfo *devinfo,
							 uint32_t flags,
							 struct doca_verbs_context **verbs_context);

/**
 * Destroy a context. A driver context that the program brought stays open.
 *
 * @param context the context; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: PDs, CQs, QPs, SRQs or channels of the context exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_context_destroy(struct doca_verbs_context *context);

/**
 * Get the file descriptor by which another process of this machine imports the context. Pass it
 * over a Unix socket.
 *
 * @param context the context
 * @return the file descriptor, owned by the context; -1 for NULL
 */
DOCA_EXPERIMENTAL int doca_verbs_context_export_handle(const struct doca_verbs_context *context);

/**
 * Create a context on the driver context of another process. Both processes may use all its
 * objects.
 *
 * @param handle the file descriptor that the process received; it stays the program's
 * @param flags DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE
 * @param verbs_context out: the context, owned by the caller until doca_verbs_context_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: verbs_context is NULL, flags is not 0, or the file descriptor is
 *   not that of a device
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the driver cannot import it
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_context_import_from_handle(
	int handle, uint32_t flags, struct doca_verbs_context **verbs_context);

/* --- protection domains --- */

/**
 * Create a protection domain.
 *
 * @param context the context
 * @param pd out: the PD, owned by the caller until doca_verbs_pd_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: memory or PDs of the device are exhausted
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_pd_create(struct doca_verbs_context *context,
						    struct doca_verbs_pd **pd);

/**
 * Destroy a PD. A PD that the program brought stays allocated.
 *
 * @param pd the PD; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: QPs or SRQs on the PD exist, its device is open, or the program has
 *   other objects on it
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_pd_destroy(struct doca_verbs_pd *pd);

/**
 * Get the device of a PD, for maps, umems and doorbell pages. Each call returns the same device,
 * until it is closed. If the PD is that of a device that the program opened, this is that
 * device.
 *
 * @param pd the PD
 * @param dev out: the device; valid until doca_dev_close(), which must be called once, before
 *         the PD is destroyed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the library does not support the device
 * - DOCA_ERROR_NOT_FOUND: the system can no longer list RDMA devices
 * - DOCA_ERROR_NOT_CONNECTED: the device does not answer
 * - DOCA_ERROR_DRIVER: the driver does not report the number of the PD
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_pd_as_doca_dev(struct doca_verbs_pd *pd,
							 struct doca_dev **dev);

/**
 * Get the number by which another process imports the PD into a context that it imported.
 *
 * @param pd the PD
 * @return the number; -1 for NULL
 */
DOCA_EXPERIMENTAL int doca_verbs_pd_export_handle(const struct doca_verbs_pd *pd);

/**
 * Use a PD of another process.
 *
 * @param context a context that was imported
 * @param handle the number that doca_verbs_pd_export_handle() returned there
 * @param pd out: the PD, owned by the caller until doca_verbs_pd_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number is not that of a PD
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the driver cannot import it
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_pd_import_from_handle(struct doca_verbs_context *context,
								int handle,
								struct doca_verbs_pd **pd);

/* --- what a device can do --- */

/**
 * Query what the device can do.
 *
 * @param context the context
 * @param verbs_device_attr out: the attributes, owned by the caller until
 *         doca_verbs_device_attr_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_query_device(
	struct doca_verbs_context *context, struct doca_verbs_device_attr **verbs_device_attr);

/**
 * Free attributes of a device.
 *
 * @param verbs_device_attr the attributes; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_device_attr_free(struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of QPs.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_qp(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of work requests of a QP.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_qp_wr(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of pieces of memory of a work request.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_sge(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of CQs.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_cq(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of completions of a CQ.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_cqe(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of memory regions.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_mr(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of PDs.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_pd(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of address handles.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_ah(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of SRQs.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_srq(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of receives of an SRQ.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_srq_wr(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of pieces of memory of a receive of an SRQ.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_srq_sge(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of P_Keys of a port.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_device_attr_get_max_pkeys(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of reads and atomic operations of the peer that a QP accepts at a time.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_device_attr_get_max_qp_rd_atom(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the maximum number of reads and atomic operations that a QP may have under way.
 *
 * @param verbs_device_attr the attributes
 * @return the maximum; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_device_attr_get_max_qp_init_rd_atom(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get between what atomic operations are atomic.
 *
 * @param verbs_device_attr the attributes
 * @return the capability; NONE for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_atomic_cap
doca_verbs_device_attr_get_atomic_cap(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get the frequency of the free-running clock.
 *
 * @param verbs_device_attr the attributes
 * @return the frequency in kHz; 0 for NULL, and if the device does not report it
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_device_attr_get_ts_free_running_clock_frequency(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get a limit of groups of congestion control, which are not supported.
 *
 * @param verbs_device_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_device_attr_get_max_cc_group(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get a limit of Ethernet send queues, which are not supported.
 *
 * @param verbs_device_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_device_attr_get_max_eth_sq_wr_num(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get a limit of Ethernet receive queues, which are not supported.
 *
 * @param verbs_device_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_device_attr_get_max_eth_rq_wr_num(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Get a limit of groups of congestion control, which are not supported.
 *
 * @param verbs_device_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL size_t doca_verbs_device_attr_get_max_cc_group_hint_max_size(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether QPs of a type can be created.
 *
 * @param verbs_device_attr the attributes
 * @param qp_type DOCA_VERBS_QP_TYPE_*
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL, or qp_type is not a type
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_qp_type_supported(
	const struct doca_verbs_device_attr *verbs_device_attr, uint32_t qp_type);

/**
 * Check whether a DPA can drive queues, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_dpa_external_datapath_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether a GPU can drive queues, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_gpu_external_datapath_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether QPs have options of enhanced connection establishment, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_device_attr_get_is_ece_supported(const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether groups of congestion control exist, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_cc_group_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether completions can contain data, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_cqe_inline_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether work requests can send several Ethernet packets, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_allow_multi_pkt_send_wqe_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether Ethernet queues can choose a plane, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_plane_index_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether Ethernet receive queues can take receives of an SRQ, which is not supported.
 *
 * @param verbs_device_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_eth_rq_srq_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);

/**
 * Check whether Ethernet send queues have a source of time stamps. There are no such queues.
 *
 * @param verbs_device_attr the attributes
 * @param ts_source DOCA_VERBS_TS_SOURCE_*
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_eth_sq_ts_source_type_supported(
	const struct doca_verbs_device_attr *verbs_device_attr, uint8_t ts_source);

/**
 * Check whether Ethernet receive queues have a source of time stamps. There are no such queues.
 *
 * @param verbs_device_attr the attributes
 * @param ts_source DOCA_VERBS_TS_SOURCE_*
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_eth_rq_ts_source_type_supported(
	const struct doca_verbs_device_attr *verbs_device_attr, uint8_t ts_source);

/**
 * Check whether send queues can have a kind of doorbell record.
 *
 * @param verbs_device_attr the attributes
 * @param send_dbr_mode the kind
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL, or send_dbr_mode is not a kind
 * - DOCA_ERROR_NOT_SUPPORTED: it is another than DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_device_attr_get_is_send_dbr_mode_supported(
	const struct doca_verbs_device_attr *verbs_device_attr,
	enum doca_verbs_qp_send_dbr_mode send_dbr_mode);

/* --- attributes of a QP to create --- */

/**
 * Create attributes for a new QP. All its members have their defaults.
 *
 * @param init_attr out: the attributes, owned by the caller until
 *         doca_verbs_qp_init_attr_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_create(struct doca_verbs_qp_init_attr **init_attr);

/**
 * Destroy attributes for a new QP. Objects that were created or changed with them do not need
 * them any more.
 *
 * @param init_attr the attributes; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_destroy(struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the PD, which each QP needs.
 *
 * @param init_attr the attributes
 * @param pd the PD; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_pd(struct doca_verbs_qp_init_attr *init_attr, struct doca_verbs_pd *pd);

/**
 * Get the PD, which each QP needs.
 *
 * @param init_attr the attributes
 * @return the PD; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_pd *
doca_verbs_qp_init_attr_get_pd(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the CQ of sends.
 *
 * @param init_attr the attributes
 * @param send_cq the CQ; NULL for a QP that sends nothing; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_send_cq(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_verbs_cq *send_cq);

/**
 * Get the CQ of sends.
 *
 * @param init_attr the attributes
 * @return the CQ; NULL if there is none, and for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_cq *
doca_verbs_qp_init_attr_get_send_cq(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the CQ of receives.
 *
 * @param init_attr the attributes
 * @param receive_cq the CQ; NULL for a QP that receives nothing; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_receive_cq(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_verbs_cq *receive_cq);

/**
 * Get the CQ of receives.
 *
 * @param init_attr the attributes
 * @return the CQ; NULL if there is none, and for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_cq *
doca_verbs_qp_init_attr_get_receive_cq(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set whether each send completes with a completion.
 *
 * @param init_attr the attributes
 * @param sq_sig_all 1: each does, 0: those with IBV_SEND_SIGNALED; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_sq_sig_all(struct doca_verbs_qp_init_attr *init_attr, int sq_sig_all);

/**
 * Get whether each send completes with a completion.
 *
 * @param init_attr the attributes
 * @return 1: each does, 0: those with IBV_SEND_SIGNALED; 0 for NULL
 */
DOCA_EXPERIMENTAL int
doca_verbs_qp_init_attr_get_sq_sig_all(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of sends that may be posted at a time.
 *
 * @param init_attr the attributes
 * @param sq_wr number of work requests; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_sq_wr(struct doca_verbs_qp_init_attr *init_attr, uint32_t sq_wr);

/**
 * Get the number of sends that may be posted at a time.
 *
 * @param init_attr the attributes
 * @return number of work requests; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_sq_wr(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of receives that may be posted at a time.
 *
 * @param init_attr the attributes
 * @param rq_wr number of work requests; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_rq_wr(struct doca_verbs_qp_init_attr *init_attr, uint32_t rq_wr);

/**
 * Get the number of receives that may be posted at a time.
 *
 * @param init_attr the attributes
 * @return number of work requests; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_rq_wr(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of pieces of memory of a send.
 *
 * @param init_attr the attributes
 * @param send_max_sges number of pieces; at least 1 if sq_wr is not 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_send_max_sges(
	struct doca_verbs_qp_init_attr *init_attr, uint32_t send_max_sges);

/**
 * Get the number of pieces of memory of a send.
 *
 * @param init_attr the attributes
 * @return number of pieces; at least 1 if sq_wr is not 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_send_max_sges(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of pieces of memory of a receive.
 *
 * @param init_attr the attributes
 * @param receive_max_sges number of pieces; at least 1 if rq_wr is not 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_receive_max_sges(
	struct doca_verbs_qp_init_attr *init_attr, uint32_t receive_max_sges);

/**
 * Get the number of pieces of memory of a receive.
 *
 * @param init_attr the attributes
 * @return number of pieces; at least 1 if rq_wr is not 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_receive_max_sges(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the length of data that a send may carry in its work request.
 *
 * @param init_attr the attributes
 * @param max_inline_data number of bytes; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_max_inline_data(
	struct doca_verbs_qp_init_attr *init_attr, uint32_t max_inline_data);

/**
 * Get the length of data that a send may carry in its work request.
 *
 * @param init_attr the attributes
 * @return number of bytes; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_max_inline_data(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number that completions report instead of the QP's, which is not supported.
 *
 * @param init_attr the attributes
 * @param user_index 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_user_index(
	struct doca_verbs_qp_init_attr *init_attr, uint32_t user_index);

/**
 * Get the number that completions report instead of the QP's, which is not supported.
 *
 * @param init_attr the attributes
 * @return 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_user_index(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the type.
 *
 * @param init_attr the attributes
 * @param qp_type DOCA_VERBS_QP_TYPE_*; default DOCA_VERBS_QP_TYPE_RC
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL, or the type does not exist
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_qp_type(struct doca_verbs_qp_init_attr *init_attr, uint32_t qp_type);

/**
 * Get the type.
 *
 * @param init_attr the attributes
 * @return DOCA_VERBS_QP_TYPE_*; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_qp_type(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of a doorbell page, which is not supported.
 *
 * @param init_attr the attributes
 * @param uar_id 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_uar_id(struct doca_verbs_qp_init_attr *init_attr, uint32_t uar_id);

/**
 * Get the number of a doorbell page, which is not supported.
 *
 * @param init_attr the attributes
 * @return 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_uar_id(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of a PD, which is not supported.
 *
 * @param init_attr the attributes
 * @param pdn 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_pdn(struct doca_verbs_qp_init_attr *init_attr, uint32_t pdn);

/**
 * Get the number of a PD, which is not supported.
 *
 * @param init_attr the attributes
 * @return 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_pdn(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set who posts work requests and polls.
 *
 * @param init_attr the attributes
 * @param external_datapath_en 0: the functions of doca_verbs_bridge.h, 1: the program, in the
 *         memory of the queue; equal in the QP, its CQs and its SRQ; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_external_datapath_en(
	struct doca_verbs_qp_init_attr *init_attr, uint8_t external_datapath_en);

/**
 * Get who posts work requests and polls.
 *
 * @param init_attr the attributes
 * @return 0: the functions of doca_verbs_bridge.h, 1: the program, in the memory of the queue;
 *         equal in the QP, its CQs and its SRQ; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_qp_init_attr_get_external_datapath_en(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set whether work requests in the memory of the queue may wait for other queues, which is not
 * supported.
 *
 * @param init_attr the attributes
 * @param core_direct_master 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_core_direct_master(
	struct doca_verbs_qp_init_attr *init_attr, uint8_t core_direct_master);

/**
 * Get whether work requests in the memory of the queue may wait for other queues, which is not
 * supported.
 *
 * @param init_attr the attributes
 * @return 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_qp_init_attr_get_core_direct_master(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the pointer of the program.
 *
 * @param init_attr the attributes
 * @param qp_context any value; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_qp_context(struct doca_verbs_qp_init_attr *init_attr, void *qp_context);

/**
 * Get the pointer of the program.
 *
 * @param init_attr the attributes
 * @return any value; NULL for NULL
 */
DOCA_EXPERIMENTAL void *
doca_verbs_qp_init_attr_get_qp_context(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the SRQ from which the QP receives.
 *
 * @param init_attr the attributes
 * @param srq the SRQ, or NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_srq(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_verbs_srq *srq);

/**
 * Get the SRQ from which the QP receives.
 *
 * @param init_attr the attributes
 * @return the SRQ, or NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_srq *
doca_verbs_qp_init_attr_get_srq(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the DPA that drives the queue, which is not supported.
 *
 * @param init_attr the attributes
 * @param dpa NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_init_attr_set_dpa(struct doca_verbs_qp_init_attr *init_attr, struct doca_dpa *dpa);

/**
 * Get the DPA that drives the queue, which is not supported.
 *
 * @param init_attr the attributes
 * @return NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa *
doca_verbs_qp_init_attr_get_dpa(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the completion context of a DPA for sends, which is not supported.
 *
 * @param init_attr the attributes
 * @param send_dpa_completion NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_send_dpa_completion(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_dpa_completion *send_dpa_completion);

/**
 * Get the completion context of a DPA for sends, which is not supported.
 *
 * @param init_attr the attributes
 * @return NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa_completion *
doca_verbs_qp_init_attr_get_send_dpa_completion(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the completion context of a DPA for receives, which is not supported.
 *
 * @param init_attr the attributes
 * @param receive_dpa_completion NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_receive_dpa_completion(
	struct doca_verbs_qp_init_attr *init_attr,
	struct doca_dpa_completion *receive_dpa_completion);

/**
 * Get the completion context of a DPA for receives, which is not supported.
 *
 * @param init_attr the attributes
 * @return NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa_completion *
doca_verbs_qp_init_attr_get_receive_dpa_completion(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the kind of doorbell record.
 *
 * @param init_attr the attributes
 * @param send_dbr_mode DBR_VALID; others are not supported; default DBR_VALID
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL, or the kind does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_send_dbr_mode(
	struct doca_verbs_qp_init_attr *init_attr, enum doca_verbs_qp_send_dbr_mode send_dbr_mode);

/**
 * Get the kind of doorbell record.
 *
 * @param init_attr the attributes
 * @return DBR_VALID; others are not supported; DBR_VALID for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_qp_send_dbr_mode
doca_verbs_qp_init_attr_get_send_dbr_mode(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set whether completions contain data, which is not supported.
 *
 * @param init_attr the attributes
 * @param cqe_inline NONE; default NONE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL, or the value does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_cqe_inline(
	struct doca_verbs_qp_init_attr *init_attr, enum doca_verbs_qp_scatter_to_cqe cqe_inline);

/**
 * Get whether completions contain data.
 *
 * @param init_attr the attributes
 * @return enum doca_verbs_qp_scatter_to_cqe; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_qp_init_attr_get_cqe_inline(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set memory of the program for the queue.
 * A QP with it is not supported.
 *
 * @param init_attr the attributes
 * @param umem the memory, which must outlive the object; or NULL
 * @param offset number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_external_umem(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the queue.
 *
 * @param init_attr the attributes
 * @param umem out: the memory, owned by the program; NULL if it was not set
 * @param offset out: number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_get_external_umem(
	const struct doca_verbs_qp_init_attr *init_attr, struct doca_umem **umem, uint64_t *offset);

/**
 * Set memory of the program for the doorbell record.
 * A QP with it is not supported.
 *
 * @param init_attr the attributes
 * @param umem the memory, which must outlive the object; or NULL
 * @param offset number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_external_dbr_umem(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the doorbell record.
 *
 * @param init_attr the attributes
 * @param umem out: the memory, owned by the program; NULL if it was not set
 * @param offset out: number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_get_external_dbr_umem(
	const struct doca_verbs_qp_init_attr *init_attr, struct doca_umem **umem, uint64_t *offset);

/**
 * Set the doorbell page. A QP may wait for completions of CQs with the same doorbell page
 * (doca_verbs_bridge_set_wait_cq_pi_wr()). libmlx5 rings another page, as the kernel's interface
 * decides. A QP with it and with an external data path is therefore not supported.
 *
 * @param init_attr the attributes
 * @param external_uar the page, or NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_external_uar(
	struct doca_verbs_qp_init_attr *init_attr, struct doca_uar *external_uar);

/**
 * Get the doorbell page.
 *
 * @param init_attr the attributes
 * @param external_uar out: the page, owned by the program; NULL if it was not set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_get_external_uar(
	const struct doca_verbs_qp_init_attr *init_attr, struct doca_uar **external_uar);

/**
 * Set the number of the umem with the memory for the doorbell record. A QP with it is not
 * supported.
 *
 * @param init_attr the attributes
 * @param umem_id the number
 * @param offset number of bytes before it in the umem
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_dbr_umem(
	struct doca_verbs_qp_init_attr *init_attr, uint32_t umem_id, uint64_t offset);

/**
 * Get the number of the umem with the memory for the doorbell record.
 *
 * @param init_attr the attributes
 * @return the number; 0 if it was not set, and for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_dbr_umem_id(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Get the offset of the doorbell record in its umem.
 *
 * @param init_attr the attributes
 * @return number of bytes; 0 if it was not set, and for NULL
 */
DOCA_EXPERIMENTAL uint64_t
doca_verbs_qp_init_attr_get_dbr_umem_offset(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Set the number of the umem with the memory for the queue. A QP with it is not supported.
 *
 * @param init_attr the attributes
 * @param umem_id the number
 * @param offset number of bytes before it in the umem
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_init_attr_set_wq_umem(
	struct doca_verbs_qp_init_attr *init_attr, uint32_t umem_id, uint64_t offset);

/**
 * Get the number of the umem with the memory for the queue.
 *
 * @param init_attr the attributes
 * @return the number; 0 if it was not set, and for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_wq_umem_id(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Get the offset of the queue in its umem.
 *
 * @param init_attr the attributes
 * @return number of bytes; 0 if it was not set, and for NULL
 */
DOCA_EXPERIMENTAL uint64_t
doca_verbs_qp_init_attr_get_wq_umem_offset(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Get the number of send_cq.
 *
 * @param init_attr the attributes
 * @return the number of the CQ; 0 if there is none, and for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_send_cqn(const struct doca_verbs_qp_init_attr *init_attr);

/**
 * Get the number of receive_cq.
 *
 * @param init_attr the attributes
 * @return the number of the CQ; 0 if there is none, and for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_init_attr_get_receive_cqn(const struct doca_verbs_qp_init_attr *init_attr);

/* --- attributes of a QP to change --- */

/**
 * Create attributes of a QP. All its members have their defaults.
 *
 * @param qp_attr out: the attributes, owned by the caller until doca_verbs_qp_attr_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_create(struct doca_verbs_qp_attr **qp_attr);

/**
 * Destroy attributes of a QP. Objects that were created or changed with them do not need them
 * any more.
 *
 * @param qp_attr the attributes; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_destroy(struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the state to enter.
 *
 * @param qp_attr the attributes
 * @param next_state the state; default RST
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the state does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_next_state(
	struct doca_verbs_qp_attr *qp_attr, enum doca_verbs_qp_state next_state);

/**
 * Get the state to enter.
 *
 * @param qp_attr the attributes
 * @return the state; RST for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_qp_state
doca_verbs_qp_attr_get_next_state(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the state that the QP is in.
 *
 * @param qp_attr the attributes
 * @param current_state the state; default RST
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the state does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_current_state(
	struct doca_verbs_qp_attr *qp_attr, enum doca_verbs_qp_state current_state);

/**
 * Get the state that the QP is in.
 *
 * @param qp_attr the attributes
 * @return the state; RST for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_qp_state
doca_verbs_qp_attr_get_current_state(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the MTU of the path.
 *
 * @param qp_attr the attributes
 * @param path_mtu 256 bytes to 4 KiB; default 256 bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the value is not the MTU of a path
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_path_mtu(struct doca_verbs_qp_attr *qp_attr,
							       enum doca_mtu_size path_mtu);

/**
 * Get the MTU of the path.
 *
 * @param qp_attr the attributes
 * @return 256 bytes to 4 KiB; DOCA_MTU_SIZE_256_BYTES for NULL
 */
DOCA_EXPERIMENTAL enum doca_mtu_size
doca_verbs_qp_attr_get_path_mtu(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the first packet sequence number of the peer.
 *
 * @param qp_attr the attributes
 * @param rq_psn 24 bits; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the number has more than 24 bits
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_rq_psn(struct doca_verbs_qp_attr *qp_attr,
							     uint32_t rq_psn);

/**
 * Get the first packet sequence number of the peer.
 *
 * @param qp_attr the attributes
 * @return 24 bits; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_qp_attr_get_rq_psn(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the first packet sequence number.
 *
 * @param qp_attr the attributes
 * @param sq_psn 24 bits; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the number has more than 24 bits
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_sq_psn(struct doca_verbs_qp_attr *qp_attr,
							     uint32_t sq_psn);

/**
 * Get the first packet sequence number.
 *
 * @param qp_attr the attributes
 * @return 24 bits; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_qp_attr_get_sq_psn(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the number of the peer's QP.
 *
 * @param qp_attr the attributes
 * @param dest_qp_num 24 bits; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the number has more than 24 bits
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_attr_set_dest_qp_num(struct doca_verbs_qp_attr *qp_attr, uint32_t dest_qp_num);

/**
 * Get the number of the peer's QP.
 *
 * @param qp_attr the attributes
 * @return 24 bits; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_qp_attr_get_dest_qp_num(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set whether the peer may write.
 *
 * @param qp_attr the attributes
 * @param allow_remote_write 1: it may, 0: it may not; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_allow_remote_write(
	struct doca_verbs_qp_attr *qp_attr, int allow_remote_write);

/**
 * Get whether the peer may write.
 *
 * @param qp_attr the attributes
 * @return 1: it may, 0: it may not; 0 for NULL
 */
DOCA_EXPERIMENTAL int
doca_verbs_qp_attr_get_allow_remote_write(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set whether the peer may read.
 *
 * @param qp_attr the attributes
 * @param allow_remote_read 1: it may, 0: it may not; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_attr_set_allow_remote_read(struct doca_verbs_qp_attr *qp_attr, int allow_remote_read);

/**
 * Get whether the peer may read.
 *
 * @param qp_attr the attributes
 * @return 1: it may, 0: it may not; 0 for NULL
 */
DOCA_EXPERIMENTAL int
doca_verbs_qp_attr_get_allow_remote_read(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set which atomic operations the peer may execute.
 *
 * @param qp_attr the attributes
 * @param atomic_mode the mode; default NONE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the mode does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_atomic_mode(
	struct doca_verbs_qp_attr *qp_attr, enum doca_verbs_qp_atomic_mode atomic_mode);

/**
 * Get which atomic operations the peer may execute.
 *
 * @param qp_attr the attributes
 * @return the mode; NONE for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_qp_atomic_mode
doca_verbs_qp_attr_get_atomic_mode(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the number of reads and atomic operations under way.
 *
 * @param qp_attr the attributes
 * @param max_rd_atomic a number; without it in the mask of a transition to RTS, 1; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_attr_set_max_rd_atomic(struct doca_verbs_qp_attr *qp_attr, uint8_t max_rd_atomic);

/**
 * Get the number of reads and atomic operations under way.
 *
 * @param qp_attr the attributes
 * @return a number; without it in the mask of a transition to RTS, 1; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_qp_attr_get_max_rd_atomic(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the number of reads and atomic operations of the peer that are accepted at a time.
 *
 * @param qp_attr the attributes
 * @param max_dest_rd_atomic a number; without it in the mask of a transition to RTR, 1; default
 *         0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_max_dest_rd_atomic(
	struct doca_verbs_qp_attr *qp_attr, uint8_t max_dest_rd_atomic);

/**
 * Get the number of reads and atomic operations of the peer that are accepted at a time.
 *
 * @param qp_attr the attributes
 * @return a number; without it in the mask of a transition to RTR, 1; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_qp_attr_get_max_dest_rd_atomic(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the address of the peer.
 *
 * @param qp_attr the attributes
 * @param ah_attr the address, which must exist while the QP is modified; or NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_ah_attr(struct doca_verbs_qp_attr *qp_attr,
							      struct doca_verbs_ah_attr *ah_attr);

/**
 * Get the address of the peer.
 *
 * @param qp_attr the attributes
 * @return the address, which must exist while the QP is modified; or NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_ah_attr *
doca_verbs_qp_attr_get_ah_attr(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the index of the P_Key.
 *
 * @param qp_attr the attributes
 * @param pkey_index an index into the port's table; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_pkey_index(struct doca_verbs_qp_attr *qp_attr,
								 uint16_t pkey_index);

/**
 * Get the index of the P_Key.
 *
 * @param qp_attr the attributes
 * @return an index into the port's table; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_qp_attr_get_pkey_index(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the port.
 *
 * @param qp_attr the attributes
 * @param port_num the number of the port, from 1; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the number has more than 8 bits
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_port_num(struct doca_verbs_qp_attr *qp_attr,
							       uint16_t port_num);

/**
 * Get the port.
 *
 * @param qp_attr the attributes
 * @return the number of the port, from 1; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_qp_attr_get_port_num(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the time to wait for an acknowledgement.
 *
 * @param qp_attr the attributes
 * @param ack_timeout a code up to 31: 4.096 us * 2^code; 0: without end; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the code is larger than 31
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_attr_set_ack_timeout(struct doca_verbs_qp_attr *qp_attr, uint16_t ack_timeout);

/**
 * Get the time to wait for an acknowledgement.
 *
 * @param qp_attr the attributes
 * @return a code up to 31: 4.096 us * 2^code; 0: without end; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_qp_attr_get_ack_timeout(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set how often a packet is sent again that is not acknowledged.
 *
 * @param qp_attr the attributes
 * @param retry_cnt a number up to 7; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the number is larger than 7
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_retry_cnt(struct doca_verbs_qp_attr *qp_attr,
								uint16_t retry_cnt);

/**
 * Get how often a packet is sent again that is not acknowledged.
 *
 * @param qp_attr the attributes
 * @return a number up to 7; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_qp_attr_get_retry_cnt(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set how often a packet is sent again for which the peer has no receive.
 *
 * @param qp_attr the attributes
 * @param rnr_retry a number up to 7; 7: without end; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the number is larger than 7
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_rnr_retry(struct doca_verbs_qp_attr *qp_attr,
								uint16_t rnr_retry);

/**
 * Get how often a packet is sent again for which the peer has no receive.
 *
 * @param qp_attr the attributes
 * @return a number up to 7; 7: without end; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_qp_attr_get_rnr_retry(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the time that a peer waits that sent without a receive.
 *
 * @param qp_attr the attributes
 * @param min_rnr_timer a code up to 31 of the InfiniBand specification; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL, or the code is larger than 31
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_qp_attr_set_min_rnr_timer(struct doca_verbs_qp_attr *qp_attr, uint16_t min_rnr_timer);

/**
 * Get the time that a peer waits that sent without a receive.
 *
 * @param qp_attr the attributes
 * @return a code up to 31 of the InfiniBand specification; 0 for NULL
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_qp_attr_get_min_rnr_timer(const struct doca_verbs_qp_attr *qp_attr);

/**
 * Set the group of congestion control, which is not supported.
 *
 * @param qp_attr the attributes
 * @param cc_group NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: qp_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_attr_set_cc_group(
	struct doca_verbs_qp_attr *qp_attr, struct doca_verbs_cc_group *cc_group);

/**
 * Get the group of congestion control, which is not supported.
 *
 * @param qp_attr the attributes
 * @return NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_cc_group *
doca_verbs_qp_attr_get_cc_group(const struct doca_verbs_qp_attr *qp_attr);

/* --- addresses --- */

/**
 * Create an address. All its members have their defaults.
 *
 * @param context a context; it is not kept, and may be destroyed first
 * @param ah out: the attributes, owned by the caller until doca_verbs_ah_attr_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_create(struct doca_verbs_context *context,
							 struct doca_verbs_ah_attr **ah);

/**
 * Destroy an address. Objects that were created or changed with them do not need them any more.
 *
 * @param ah the attributes; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_destroy(struct doca_verbs_ah_attr *ah);

/**
 * Set the GID of the peer.
 *
 * @param ah the attributes
 * @param gid the GID; default 16 bytes of 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_gid(struct doca_verbs_ah_attr *ah,
							  struct doca_verbs_gid gid);

/**
 * Get the GID of the peer.
 *
 * @param ah the attributes
 * @return the GID; 16 bytes of 0 for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_gid
doca_verbs_ah_attr_get_gid(const struct doca_verbs_ah_attr *ah);

/**
 * Set the kind of address.
 *
 * @param ah the attributes
 * @param addr_type the kind; default IPv4
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL, or the kind does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_addr_type(
	struct doca_verbs_ah_attr *ah, enum doca_verbs_addr_type addr_type);

/**
 * Get the kind of address.
 *
 * @param ah the attributes
 * @return the kind; IPv4 for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_addr_type
doca_verbs_ah_attr_get_addr_type(const struct doca_verbs_ah_attr *ah);

/**
 * Set the LID of the peer.
 *
 * @param ah the attributes
 * @param dlid 16 bits; 0 on Ethernet; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL, or the LID has more than 16 bits
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_dlid(struct doca_verbs_ah_attr *ah,
							   uint32_t dlid);

/**
 * Get the LID of the peer.
 *
 * @param ah the attributes
 * @return 16 bits; 0 on Ethernet; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_ah_attr_get_dlid(const struct doca_verbs_ah_attr *ah);

/**
 * Set the service level.
 *
 * @param ah the attributes
 * @param sl 0 to 15; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL, or the level is larger than 15
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_sl(struct doca_verbs_ah_attr *ah, uint8_t sl);

/**
 * Get the service level.
 *
 * @param ah the attributes
 * @return 0 to 15; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_ah_attr_get_sl(const struct doca_verbs_ah_attr *ah);

/**
 * Set the index of the own GID.
 *
 * @param ah the attributes
 * @param sgid_index an index into the port's table; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_sgid_index(struct doca_verbs_ah_attr *ah,
								 uint8_t sgid_index);

/**
 * Get the index of the own GID.
 *
 * @param ah the attributes
 * @return an index into the port's table; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_ah_attr_get_sgid_index(const struct doca_verbs_ah_attr *ah);

/**
 * Set the maximum rate.
 *
 * @param ah the attributes
 * @param static_rate enum ibv_rate; 0: that of the port; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_static_rate(struct doca_verbs_ah_attr *ah,
								  uint8_t static_rate);

/**
 * Get the maximum rate.
 *
 * @param ah the attributes
 * @return enum ibv_rate; 0: that of the port; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_ah_attr_get_static_rate(const struct doca_verbs_ah_attr *ah);

/**
 * Set the hop limit.
 *
 * @param ah the attributes
 * @param hop_limit number of hops; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_hop_limit(struct doca_verbs_ah_attr *ah,
								uint8_t hop_limit);

/**
 * Get the hop limit.
 *
 * @param ah the attributes
 * @return number of hops; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_ah_attr_get_hop_limit(const struct doca_verbs_ah_attr *ah);

/**
 * Set the traffic class.
 *
 * @param ah the attributes
 * @param traffic_class 8 bits; on Ethernet the upper 6 are the DSCP; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: ah is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_ah_attr_set_traffic_class(struct doca_verbs_ah_attr *ah,
								    uint8_t traffic_class);

/**
 * Get the traffic class.
 *
 * @param ah the attributes
 * @return 8 bits; on Ethernet the upper 6 are the DSCP; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_ah_attr_get_traffic_class(const struct doca_verbs_ah_attr *ah);

/* --- queue pairs --- */

/**
 * Create a QP, in the state RST. It may have one direction only.
 *
 * @param context the context of its PD, CQs and SRQ
 * @param init_attr the attributes
 * @param qp out: the QP, owned by the caller until doca_verbs_qp_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; there is no PD or no CQ; a direction has work
 *   requests but no CQ or no pieces of memory, or receives of its own beside an SRQ; a number is
 *   larger than the device's maximum; an object is one of another context; external_datapath_en
 *   differs from that of a CQ or the SRQ, or is 0 for attributes that need it; or only one of
 *   both external umems is set
 * - DOCA_ERROR_NO_MEMORY: memory or QPs of the device are exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: an attribute is set that is not supported
 * - DOCA_ERROR_DRIVER: the device refuses
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_create(struct doca_verbs_context *context,
						    struct doca_verbs_qp_init_attr *init_attr,
						    struct doca_verbs_qp **qp);

/**
 * Destroy a QP in any state. Its work requests are abandoned.
 *
 * @param qp the QP; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: no memory to keep completions of other QPs, which its CQ has; the QP
 *   is in the state RST
 * - DOCA_ERROR_DRIVER: the driver cannot destroy it
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_destroy(struct doca_verbs_qp *qp);

/**
 * Change the state of a QP or its attributes.
 *
 * The states are RST, INIT, RTR and RTS, in this order, and RST and ERR from each state. Each
 * transition has attributes that it needs and others that it takes; doca_verbs(3) has the table.
 * Members that the mask does not name are not read.
 *
 * @param qp the QP
 * @param qp_attr the attributes
 * @param attr_mask DOCA_VERBS_QP_ATTR_*
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; the transition does not exist; the mask lacks
 *   an attribute that it needs or has one that it does not take; current_state is not the state;
 *   the mask has AH_ATTR but there is no address; or the driver refuses a value
 * - DOCA_ERROR_NOT_SUPPORTED: the mask has CC_GROUP, the atomic mode is not supported, or the
 *   kernel cannot change an address in RTS
 * - DOCA_ERROR_NO_MEMORY: no memory to keep completions of other QPs, which its CQ has; the QP
 *   is in the state RST
 * - DOCA_ERROR_DRIVER: the device refuses
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_modify(struct doca_verbs_qp *qp,
						    struct doca_verbs_qp_attr *qp_attr,
						    int attr_mask);

/**
 * Query the state and the attributes of a QP, and those that it was created with. The numbers of
 * work requests may be larger than those that were asked for.
 *
 * @param qp the QP
 * @param qp_attr out: the attributes. Its address is one that the QP owns, until the next query
 *         or doca_verbs_qp_destroy(); NULL if the QP has none.
 * @param init_attr out: what the QP was created with
 * @param attr_mask out: DOCA_VERBS_QP_ATTR_* of the members that are valid; or NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: another argument than attr_mask is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_query(struct doca_verbs_qp *qp,
						   struct doca_verbs_qp_attr *qp_attr,
						   struct doca_verbs_qp_init_attr *init_attr,
						   int *attr_mask);

/**
 * Get the number of a QP.
 *
 * @param qp the QP
 * @return the number; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_qp_get_qpn(const struct doca_verbs_qp *qp);

/**
 * Get the memory of a QP with an external data path. Outputs may be NULL.
 *
 * @param qp the QP; of others, and of NULL, all outputs are NULL and 0
 * @param sq_buf out: memory of the send queue, in entries of 64 bytes
 * @param sq_num_entries out: number of entries of the send queue
 * @param rq_buf out: memory of the receive queue
 * @param rq_num_entries out: number of entries of the receive queue
 * @param rwqe_size_bytes out: number of bytes of an entry of the receive queue
 */
DOCA_EXPERIMENTAL void doca_verbs_qp_get_wq(const struct doca_verbs_qp *qp, void **sq_buf,
					    uint32_t *sq_num_entries, void **rq_buf,
					    uint32_t *rq_num_entries, uint32_t *rwqe_size_bytes);

/**
 * Get the address of the doorbell register of a QP with an external data path.
 *
 * @param qp the QP
 * @return the address, valid until doca_verbs_qp_destroy(); NULL for other QPs and for NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_qp_get_uar_addr(const struct doca_verbs_qp *qp);

/**
 * Get the address of the doorbell record of a QP with an external data path: two big-endian
 * words of 4 bytes, for receives and for sends.
 *
 * @param qp the QP
 * @return the address, valid until doca_verbs_qp_destroy(); NULL for other QPs and for NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_qp_get_dbr_addr(const struct doca_verbs_qp *qp);

/**
 * Query the options of enhanced connection establishment, which is not supported.
 *
 * @param qp the QP
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_qp_query_ece(struct doca_verbs_qp *qp);

/**
 * Set the options of enhanced connection establishment, which is not supported.
 *
 * @param qp the QP
 * @param ece the options
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_set_ece(struct doca_verbs_qp *qp, uint32_t ece);

/**
 * Get the handle of a QP for a DPA, which is not supported.
 *
 * @param qp the QP
 * @param dpa the DPA
 * @param dpa_handle not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: qp or dpa_handle is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_qp_get_dpa_handle(struct doca_verbs_qp *qp,
							    struct doca_dpa *dpa,
							    doca_dpa_dev_verbs_qp_t *dpa_handle);

/* --- completion queues --- */

/**
 * Create attributes for a new CQ. All its members have their defaults.
 *
 * @param cq_attr out: the attributes, owned by the caller until doca_verbs_cq_attr_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_create(struct doca_verbs_cq_attr **cq_attr);

/**
 * Destroy attributes for a new CQ. Objects that were created or changed with them do not need
 * them any more.
 *
 * @param cq_attr the attributes; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_destroy(struct doca_verbs_cq_attr *cq_attr);

/**
 * Set the number of completions.
 *
 * @param cq_attr the attributes
 * @param cq_size number of completions, at least 1; the CQ may have more; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_cq_size(struct doca_verbs_cq_attr *cq_attr,
							      uint32_t cq_size);

/**
 * Get the number of completions.
 *
 * @param cq_attr the attributes
 * @return number of completions, at least 1; the CQ may have more; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_cq_attr_get_cq_size(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set the thread of a DPA, which is not supported.
 *
 * @param cq_attr the attributes
 * @param dpa_thread_id 0; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_cq_attr_set_dpa_thread_id(struct doca_verbs_cq_attr *cq_attr, uint32_t dpa_thread_id);

/**
 * Get the thread of a DPA, which is not supported.
 *
 * @param cq_attr the attributes
 * @return 0; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_cq_attr_get_dpa_thread_id(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set the size of a completion.
 *
 * @param cq_attr the attributes
 * @param entry_size the size; default 64 bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL, or the size does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_entry_size(
	struct doca_verbs_cq_attr *cq_attr, enum doca_verbs_cq_entry_size entry_size);

/**
 * Get the size of a completion.
 *
 * @param cq_attr the attributes
 * @return the size; DOCA_VERBS_CQ_ENTRY_SIZE_64 for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_cq_entry_size
doca_verbs_cq_attr_get_entry_size(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set whether completions may overwrite others that were not consumed.
 *
 * @param cq_attr the attributes
 * @param cq_overrun 1: without an error, with an external data path; 0: that is an error;
 *         default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_cq_overrun(struct doca_verbs_cq_attr *cq_attr,
								 uint8_t cq_overrun);

/**
 * Get whether completions may overwrite others that were not consumed.
 *
 * @param cq_attr the attributes
 * @return 1: without an error, with an external data path; 0: that is an error; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_cq_attr_get_cq_overrun(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set who polls.
 *
 * @param cq_attr the attributes
 * @param external_datapath_en 0: doca_verbs_bridge_poll_cq(), 1: the program, in the memory of
 *         the queue; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_external_datapath_en(
	struct doca_verbs_cq_attr *cq_attr, uint8_t external_datapath_en);

/**
 * Get who polls.
 *
 * @param cq_attr the attributes
 * @return 0: doca_verbs_bridge_poll_cq(), 1: the program, in the memory of the queue; 0 for NULL
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_cq_attr_get_external_datapath_en(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set the channel for events.
 *
 * @param cq_attr the attributes
 * @param comp_channel the channel, or NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_comp_channel(
	struct doca_verbs_cq_attr *cq_attr, struct doca_verbs_comp_channel *comp_channel);

/**
 * Get the channel for events.
 *
 * @param cq_attr the attributes
 * @return the channel, or NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_comp_channel *
doca_verbs_cq_attr_get_comp_channel(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set the pointer that events report.
 *
 * @param cq_attr the attributes
 * @param cq_context any value; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_cq_context(struct doca_verbs_cq_attr *cq_attr,
								 void *cq_context);

/**
 * Get the pointer that events report.
 *
 * @param cq_attr the attributes
 * @return any value; NULL for NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_cq_attr_get_cq_context(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set the doorbell page.
 * QPs with the same one may wait for completions of the CQ. libmlx5 rings another page, as the
 * kernel's interface decides. A CQ with it and with an external data path is therefore not
 * supported.
 *
 * @param cq_attr the attributes
 * @param external_uar the page, or NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_external_uar(
	struct doca_verbs_cq_attr *cq_attr, struct doca_uar *external_uar);

/**
 * Get the doorbell page.
 *
 * @param cq_attr the attributes
 * @return the page, or NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_uar *
doca_verbs_cq_attr_get_external_uar(const struct doca_verbs_cq_attr *cq_attr);

/**
 * Set memory of the program for the queue.
 * A CQ with it is not supported.
 *
 * @param cq_attr the attributes
 * @param umem the memory, which must outlive the object; or NULL
 * @param offset number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_set_external_umem(
	struct doca_verbs_cq_attr *cq_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the queue.
 *
 * @param cq_attr the attributes
 * @param umem out: the memory, owned by the program; NULL if it was not set
 * @param offset out: number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_attr_get_external_umem(
	const struct doca_verbs_cq_attr *cq_attr, struct doca_umem **umem, uint64_t *offset);

/**
 * Create a CQ.
 *
 * @param context the context
 * @param cq_attr the attributes
 * @param cq out: the CQ, owned by the caller until doca_verbs_cq_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; the size is 0 or larger than the device's
 *   maximum; the channel is one of another context; or external_datapath_en is 0 for attributes
 *   that need it
 * - DOCA_ERROR_NO_MEMORY: memory or CQs of the device are exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: an attribute is set that is not supported
 * - DOCA_ERROR_DRIVER: the device refuses
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_create(struct doca_verbs_context *context,
						    struct doca_verbs_cq_attr *cq_attr,
						    struct doca_verbs_cq **cq);

/**
 * Destroy a CQ. Waits until all its events are acknowledged.
 *
 * @param cq the CQ; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: QPs use the CQ, or work requests wait for it
 * - DOCA_ERROR_DRIVER: the driver cannot destroy it
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cq_destroy(struct doca_verbs_cq *cq);

/**
 * Get the number of a CQ.
 *
 * @param cq the CQ
 * @return the number; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_cq_get_cqn(const struct doca_verbs_cq *cq);

/**
 * Get the memory of a CQ with an external data path. Outputs may be NULL.
 *
 * @param cq the CQ; of others, and of NULL, all outputs are NULL and 0
 * @param cq_buf out: the memory
 * @param cq_num_entries out: number of completions
 * @param cq_entry_size_bytes out: number of bytes of a completion, 64 or 128
 */
DOCA_EXPERIMENTAL void doca_verbs_cq_get_wq(struct doca_verbs_cq *cq, void **cq_buf,
					    uint32_t *cq_num_entries, uint8_t *cq_entry_size_bytes);

/**
 * Get where a CQ with an external data path is armed and its completions are released. All are
 * big-endian, as the PRM defines them. Outputs may be NULL.
 *
 * @param cq the CQ; of others, and of NULL, all outputs are NULL
 * @param uar_db_reg out: the doorbell register
 * @param ci_dbr out: the record of the consumer index
 * @param arm_dbr out: the record of requests for events
 */
DOCA_EXPERIMENTAL void doca_verbs_cq_get_dbr_addr(struct doca_verbs_cq *cq, uint64_t **uar_db_reg,
						  uint32_t **ci_dbr, uint32_t **arm_dbr);

/* --- events --- */

/**
 * Create a channel for events of CQs.
 *
 * @param context the context
 * @param comp_channel out: the channel, owned by the caller until
 *         doca_verbs_comp_channel_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: memory or file descriptors are exhausted
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_comp_channel_create(
	struct doca_verbs_context *context, struct doca_verbs_comp_channel **comp_channel);

/**
 * Destroy a channel.
 *
 * @param comp_channel the channel; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: CQs use the channel
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_comp_channel_destroy(struct doca_verbs_comp_channel *comp_channel);

/**
 * Get the file descriptor of a channel, which is readable while it has an event.
 *
 * @param comp_channel the channel
 * @return the file descriptor, owned by the channel; -1 for NULL
 */
DOCA_EXPERIMENTAL doca_event_handle_t
doca_verbs_comp_channel_get_handle(struct doca_verbs_comp_channel *comp_channel);

/**
 * Request an event for the next completion. Poll once more afterwards: there may be no event for
 * a completion that arrived before.
 *
 * @param cq the CQ, with a channel
 * @param solicited_only 1: for receives that their sender marked and for errors only; 0: for all
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: cq is NULL, has no channel, or has an external data path
 * - DOCA_ERROR_DRIVER: the driver refuses
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_req_notify_cq(struct doca_verbs_cq *cq,
							int solicited_only);

/**
 * Take an event, and wait for it if there is none. A file descriptor that does not block does
 * not wait.
 *
 * @param comp_channel the channel
 * @param cq out: the CQ, owned by the program; each event must be acknowledged
 * @param cq_context out: the pointer of its attributes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_AGAIN: there is no event, and the file descriptor does not block
 * - DOCA_ERROR_DRIVER: reading it fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_get_cq_event(struct doca_verbs_comp_channel *comp_channel,
						       struct doca_verbs_cq **cq,
						       void **cq_context);

/**
 * Acknowledge events.
 *
 * @param cq the CQ; NULL does nothing
 * @param nevents how many events
 */
DOCA_EXPERIMENTAL void doca_verbs_ack_cq_events(struct doca_verbs_cq *cq, unsigned int nevents);

/**
 * Get the file descriptor of a context, which is readable while it has an asynchronous event.
 *
 * @param context the context
 * @return the file descriptor, owned by the context; -1 for NULL
 */
DOCA_EXPERIMENTAL doca_event_handle_t
doca_verbs_get_async_event_handle(struct doca_verbs_context *context);

/**
 * Take an asynchronous event of a QP or CQ, and wait for it if there is none. A file descriptor
 * that does not block does not wait. Other events of the device are skipped.
 *
 * @param context the context
 * @param event out: the event, which must be acknowledged
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_AGAIN: there is no event, and the file descriptor does not block
 * - DOCA_ERROR_DRIVER: reading it fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_get_async_event(struct doca_verbs_context *context,
							  struct doca_verbs_async_event *event);

/**
 * Acknowledge an asynchronous event. Its QP or CQ cannot be destroyed before.
 *
 * @param event the event; NULL does nothing
 */
DOCA_EXPERIMENTAL void doca_verbs_ack_async_event(struct doca_verbs_async_event *event);

/* --- shared receive queues --- */

/**
 * Create attributes for a new SRQ. All its members have their defaults.
 *
 * @param srq_init_attr out: the attributes, owned by the caller until
 *         doca_verbs_srq_init_attr_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_srq_init_attr_create(struct doca_verbs_srq_init_attr **srq_init_attr);

/**
 * Destroy attributes for a new SRQ. Objects that were created or changed with them do not need
 * them any more.
 *
 * @param srq_init_attr the attributes; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_srq_init_attr_destroy(struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set the number of receives that may be posted at a time.
 *
 * @param srq_init_attr the attributes
 * @param srq_wr number of work requests; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_srq_wr(
	struct doca_verbs_srq_init_attr *srq_init_attr, uint32_t srq_wr);

/**
 * Get the number of receives that may be posted at a time.
 *
 * @param srq_init_attr the attributes
 * @return number of work requests; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_srq_init_attr_get_srq_wr(const struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set the number of pieces of memory of a receive.
 *
 * @param srq_init_attr the attributes
 * @param receive_max_sges number of pieces; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_receive_max_sges(
	struct doca_verbs_srq_init_attr *srq_init_attr, uint32_t receive_max_sges);

/**
 * Get the number of pieces of memory of a receive.
 *
 * @param srq_init_attr the attributes
 * @return number of pieces; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_srq_init_attr_get_receive_max_sges(const struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set the type.
 *
 * @param srq_init_attr the attributes
 * @param type the type; default LINKED_LIST
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL, or the type does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_type(
	struct doca_verbs_srq_init_attr *srq_init_attr, enum doca_verbs_srq_type type);

/**
 * Get the type.
 *
 * @param srq_init_attr the attributes
 * @return the type; LINKED_LIST for NULL
 */
DOCA_EXPERIMENTAL enum doca_verbs_srq_type
doca_verbs_srq_init_attr_get_type(const struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set the PD.
 *
 * @param srq_init_attr the attributes
 * @param pd the PD; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_pd(
	struct doca_verbs_srq_init_attr *srq_init_attr, struct doca_verbs_pd *pd);

/**
 * Get the PD.
 *
 * @param srq_init_attr the attributes
 * @return the PD; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_pd *
doca_verbs_srq_init_attr_get_pd(const struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set who posts receives.
 *
 * @param srq_init_attr the attributes
 * @param external_datapath_en 0: doca_verbs_bridge_post_srq_recv(), 1: the program, in the
 *         memory of the queue; default 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_external_datapath_en(
	struct doca_verbs_srq_init_attr *srq_init_attr, uint8_t external_datapath_en);

/**
 * Get who posts receives.
 *
 * @param srq_init_attr the attributes
 * @return 0: doca_verbs_bridge_post_srq_recv(), 1: the program, in the memory of the queue; 0
 *         for NULL
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_srq_init_attr_get_external_datapath_en(
	const struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set the DPA that drives the queue, which is not supported.
 *
 * @param srq_init_attr the attributes
 * @param dpa NULL; default NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_dpa(
	struct doca_verbs_srq_init_attr *srq_init_attr, struct doca_dpa *dpa);

/**
 * Get the DPA that drives the queue, which is not supported.
 *
 * @param srq_init_attr the attributes
 * @return NULL; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa *
doca_verbs_srq_init_attr_get_dpa(const struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Set memory of the program for the queue.
 * An SRQ with it is not supported.
 *
 * @param srq_init_attr the attributes
 * @param umem the memory, which must outlive the object; or NULL
 * @param offset number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_external_umem(
	struct doca_verbs_srq_init_attr *srq_init_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the queue.
 *
 * @param srq_init_attr the attributes
 * @param umem out: the memory, owned by the program; NULL if it was not set
 * @param offset out: number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_srq_init_attr_get_external_umem(const struct doca_verbs_srq_init_attr *srq_init_attr,
					   struct doca_umem **umem, uint64_t *offset);

/**
 * Set memory of the program for the doorbell record.
 * An SRQ with it is not supported.
 *
 * @param srq_init_attr the attributes
 * @param umem the memory, which must outlive the object; or NULL
 * @param offset number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: srq_init_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_init_attr_set_external_dbr_umem(
	struct doca_verbs_srq_init_attr *srq_init_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the doorbell record.
 *
 * @param srq_init_attr the attributes
 * @param umem out: the memory, owned by the program; NULL if it was not set
 * @param offset out: number of bytes before it in the memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_srq_init_attr_get_external_dbr_umem(const struct doca_verbs_srq_init_attr *srq_init_attr,
					       struct doca_umem **umem, uint64_t *offset);

/**
 * Create an SRQ.
 *
 * @param context the context of its PD
 * @param srq_init_attr the attributes
 * @param srq out: the SRQ, owned by the caller until doca_verbs_srq_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, there is no PD or one of another context, or
 *   a number is 0 or larger than the device's maximum
 * - DOCA_ERROR_NO_MEMORY: memory or SRQs of the device are exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: the type is CONTIGUOUS, or another attribute is set that is not
 *   supported
 * - DOCA_ERROR_DRIVER: the device refuses
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_create(struct doca_verbs_context *context,
						     struct doca_verbs_srq_init_attr *srq_init_attr,
						     struct doca_verbs_srq **srq);

/**
 * Destroy an SRQ. Its receives are abandoned.
 *
 * @param srq the SRQ; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: QPs use the SRQ
 * - DOCA_ERROR_DRIVER: the driver cannot destroy it
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_destroy(struct doca_verbs_srq *srq);

/**
 * Query the attributes of an SRQ.
 *
 * @param srq the SRQ
 * @param srq_init_attr out: the attributes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_query(struct doca_verbs_srq *srq,
						    struct doca_verbs_srq_init_attr *srq_init_attr);

/**
 * Get the number of an SRQ.
 *
 * @param srq the SRQ
 * @return the number; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_srq_get_srqn(const struct doca_verbs_srq *srq);

/**
 * Get the memory of an SRQ with an external data path. Outputs may be NULL.
 *
 * @param srq the SRQ; of others, and of NULL, all outputs are NULL and 0
 * @param srq_buf out: the memory
 * @param srq_num_entries out: number of entries
 * @param srq_entry_size_bytes out: number of bytes of an entry
 */
DOCA_EXPERIMENTAL void doca_verbs_srq_get_wq(const struct doca_verbs_srq *srq, void **srq_buf,
					     uint32_t *srq_num_entries,
					     uint32_t *srq_entry_size_bytes);

/**
 * Get the address of the doorbell record of an SRQ with an external data path.
 *
 * @param srq the SRQ
 * @return the address, valid until doca_verbs_srq_destroy(); NULL for other SRQs and for NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_srq_get_dbr_addr(const struct doca_verbs_srq *srq);

/**
 * Get the handle of an SRQ for a DPA, which is not supported.
 *
 * @param srq the SRQ
 * @param dpa the DPA
 * @param dpa_handle not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: srq or dpa_handle is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_srq_get_dpa_handle(struct doca_verbs_srq *srq,
							     struct doca_dpa *dpa,
							     doca_dpa_dev_verbs_srq_t *dpa_handle);

/* --- groups of congestion control, which are not supported --- */

/**
 * Create attributes for a group. Groups are not supported.
 *
 * @param cc_group_attr not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_cc_group_attr_create(struct doca_verbs_cc_group_attr **cc_group_attr);

/**
 * Destroy attributes for a group. No object exists.
 *
 * @param cc_group_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_cc_group_attr_destroy(struct doca_verbs_cc_group_attr *cc_group_attr);

/**
 * Set a hint. No object exists.
 *
 * @param cc_group_attr the attributes
 * @param hint the hint
 * @param size its number of bytes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_attr_set_hint(
	struct doca_verbs_cc_group_attr *cc_group_attr, const void *hint, size_t size);

/**
 * Get a hint. No object exists.
 *
 * @param cc_group_attr the attributes
 * @param hint not written
 * @param size its number of bytes, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_attr_get_hint(
	const struct doca_verbs_cc_group_attr *cc_group_attr, const void **hint, size_t *size);

/**
 * Create a group, which is not supported.
 *
 * @param context the context
 * @param cc_group_attr the attributes
 * @param cc_group not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_create(
	const struct doca_verbs_context *context, struct doca_verbs_cc_group_attr *cc_group_attr,
	struct doca_verbs_cc_group **cc_group);

/**
 * Destroy a group. No object exists.
 *
 * @param cc_group the group
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_destroy(struct doca_verbs_cc_group *cc_group);

/**
 * Change a group. No object exists.
 *
 * @param cc_group the group
 * @param cc_group_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_modify(
	struct doca_verbs_cc_group *cc_group, struct doca_verbs_cc_group_attr *cc_group_attr);

/**
 * Query a group. No object exists.
 *
 * @param cc_group the group
 * @param cc_group_attr not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_query(
	const struct doca_verbs_cc_group *cc_group, struct doca_verbs_cc_group_attr *cc_group_attr);

/**
 * Query what groups the device has, which are not supported.
 *
 * @param context the context
 * @param cc_group_caps not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_query_cc_group_caps(
	const struct doca_verbs_context *context, struct doca_verbs_cc_group_caps **cc_group_caps);

/**
 * Free what a query returned. No object exists.
 *
 * @param cc_group_caps the object
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_cc_group_caps_free(struct doca_verbs_cc_group_caps *cc_group_caps);

/**
 * Get what a query returned. No object exists.
 *
 * @param cc_group_caps the object
 * @param data not written
 * @param size its number of bytes, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_cc_group_caps_get_data(
	struct doca_verbs_cc_group_caps *cc_group_caps, const void **data, size_t *size);

/**
 * Get what a query returned. No object exists.
 *
 * @param cc_group_caps the object
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_cc_group_caps_get_vendor_id(const struct doca_verbs_cc_group_caps *cc_group_caps);

/**
 * Get what a query returned. No object exists.
 *
 * @param cc_group_caps the object
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_cc_group_caps_get_format_id(const struct doca_verbs_cc_group_caps *cc_group_caps);

/* --- Ethernet queues, which are not supported --- */

/**
 * Create attributes for an Ethernet send queue. Such queues are not supported.
 *
 * @param eth_sq_attr not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_sq_init_attr_create(struct doca_verbs_eth_sq_init_attr **eth_sq_attr);

/**
 * Destroy attributes for an Ethernet send queue. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_sq_init_attr_destroy(struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the PD. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param pd the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_pd(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_verbs_pd *pd);

/**
 * Get the PD. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_pd *
doca_verbs_eth_sq_init_attr_get_pd(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the CQ. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param cq the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_cq(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_verbs_cq *cq);

/**
 * Get the CQ. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_cq *
doca_verbs_eth_sq_init_attr_get_cq(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set whether each send completes with a completion. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param sig_all the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_sig_all(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, int sig_all);

/**
 * Get whether each send completes with a completion. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL int
doca_verbs_eth_sq_init_attr_get_sig_all(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the number of work requests. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param wr_num the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_wr_num(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint32_t wr_num);

/**
 * Get the number of work requests. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_sq_init_attr_get_wr_num(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the number of pieces of memory of a work request. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param max_sges the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_max_sges(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint32_t max_sges);

/**
 * Get the number of pieces of memory of a work request. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_sq_init_attr_get_max_sges(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the length of data in work requests. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param max_inline_data the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_max_inline_data(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint32_t max_inline_data);

/**
 * Get the length of data in work requests. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_eth_sq_init_attr_get_max_inline_data(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the number that completions report. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param user_index the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_user_index(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint32_t user_index);

/**
 * Get the number that completions report. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_sq_init_attr_get_user_index(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the number for DOCA Flow. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param queue_id the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_queue_id(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint16_t queue_id);

/**
 * Get the number for DOCA Flow. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_eth_sq_init_attr_get_queue_id(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the program's data. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param user_data the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_user_data(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, union doca_data user_data);

/**
 * Get the program's data. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL union doca_data
doca_verbs_eth_sq_init_attr_get_user_data(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set who posts and polls. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param external_datapath_en the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_external_datapath_en(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint8_t external_datapath_en);

/**
 * Get who posts and polls. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_sq_init_attr_get_external_datapath_en(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set whether an error flushes the queue. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param flush_in_error_en the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_flush_in_error_en(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint8_t flush_in_error_en);

/**
 * Get whether an error flushes the queue. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_sq_init_attr_get_flush_in_error_en(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set whether work requests send several packets. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param allow_multi_pkt_send_wqe the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_allow_multi_pkt_send_wqe(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint8_t allow_multi_pkt_send_wqe);

/**
 * Get whether work requests send several packets. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_sq_init_attr_get_allow_multi_pkt_send_wqe(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the plane. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param plane_index the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_plane_index(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint8_t plane_index);

/**
 * Get the plane. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t
doca_verbs_eth_sq_init_attr_get_plane_index(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the source of time stamps. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param ts_source_type the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_ts_source_type(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, uint8_t ts_source_type);

/**
 * Get the source of time stamps. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_sq_init_attr_get_ts_source_type(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the DPA. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param dpa the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_dpa(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_dpa *dpa);

/**
 * Get the DPA. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa *
doca_verbs_eth_sq_init_attr_get_dpa(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set the completion context of the DPA. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param dpa_completion the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_sq_init_attr_set_dpa_completion(struct doca_verbs_eth_sq_init_attr *eth_sq_attr,
					       struct doca_dpa_completion *dpa_completion);

/**
 * Get the completion context of the DPA. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa_completion *doca_verbs_eth_sq_init_attr_get_dpa_completion(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Set memory of the program for the queue. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param umem the memory
 * @param offset number of bytes before it
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_external_umem(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the queue. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param umem not written
 * @param offset number of bytes, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_sq_init_attr_get_external_umem(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr,
					      struct doca_umem **umem, uint64_t *offset);

/**
 * Set memory of the program for the doorbell record. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param umem the memory
 * @param offset number of bytes before it
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_external_dbr_umem(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the doorbell record. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param umem not written
 * @param offset number of bytes, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_get_external_dbr_umem(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_umem **umem,
	uint64_t *offset);

/**
 * Set the doorbell page. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param external_uar the page
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_set_external_uar(
	struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_uar *external_uar);

/**
 * Get the doorbell page. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @param external_uar not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_init_attr_get_external_uar(
	const struct doca_verbs_eth_sq_init_attr *eth_sq_attr, struct doca_uar **external_uar);

/**
 * Get the state of a queue. No object exists.
 *
 * @param eth_sq_attr the attributes
 * @return RST
 */
DOCA_EXPERIMENTAL enum doca_verbs_eth_sq_state
doca_verbs_eth_sq_init_attr_get_state(const struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Create an Ethernet send queue, which is not supported.
 *
 * @param context the context
 * @param eth_sq_attr the attributes
 * @param eth_sq not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_create(
	struct doca_verbs_context *context, struct doca_verbs_eth_sq_init_attr *eth_sq_attr,
	struct doca_verbs_eth_sq **eth_sq);

/**
 * Destroy a queue. No object exists.
 *
 * @param eth_sq the queue
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_destroy(struct doca_verbs_eth_sq *eth_sq);

/**
 * Query a queue. No object exists.
 *
 * @param eth_sq the queue
 * @param eth_sq_attr not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_query(
	struct doca_verbs_eth_sq *eth_sq, struct doca_verbs_eth_sq_init_attr *eth_sq_attr);

/**
 * Take a queue out of its error state. No object exists.
 *
 * @param eth_sq the queue
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_sq_recover_from_error(struct doca_verbs_eth_sq *eth_sq);

/**
 * Get the number of a queue. No object exists.
 *
 * @param eth_sq the queue
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_sq_get_sq_hw_number(const struct doca_verbs_eth_sq *eth_sq);

/**
 * Get the handle of a queue for a DPA. No object exists.
 *
 * @param eth_sq the queue
 * @param dpa the DPA
 * @param dpa_handle not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_sq_get_dpa_handle(struct doca_verbs_eth_sq *eth_sq, struct doca_dpa *dpa,
				 doca_dpa_dev_verbs_eth_sq_t *dpa_handle);

/**
 * Get the address of a doorbell record. No object exists.
 *
 * @param eth_sq the queue
 * @return NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_eth_sq_get_dbr_addr(const struct doca_verbs_eth_sq *eth_sq);

/**
 * Get the memory of a queue. No object exists.
 *
 * @param eth_sq the queue
 * @param sq_buf not written
 * @param sq_num_entries not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_sq_get_wq(const struct doca_verbs_eth_sq *eth_sq,
							void **sq_buf, uint32_t *sq_num_entries);

/**
 * Get the address of a doorbell register. No object exists.
 *
 * @param eth_sq the queue
 * @return NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_eth_sq_get_uar_addr(const struct doca_verbs_eth_sq *eth_sq);

/**
 * Create attributes for an Ethernet receive queue. Such queues are not supported.
 *
 * @param eth_rq_attr not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_rq_init_attr_create(struct doca_verbs_eth_rq_init_attr **eth_rq_attr);

/**
 * Destroy attributes for an Ethernet receive queue. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_rq_init_attr_destroy(struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the PD. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param pd the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_pd(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_verbs_pd *pd);

/**
 * Get the PD. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_pd *
doca_verbs_eth_rq_init_attr_get_pd(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the CQ. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param cq the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_cq(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_verbs_cq *cq);

/**
 * Get the CQ. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_cq *
doca_verbs_eth_rq_init_attr_get_cq(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the number of work requests. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param wr_num the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_wr_num(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint32_t wr_num);

/**
 * Get the number of work requests. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_rq_init_attr_get_wr_num(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the number of pieces of memory of a work request. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param max_sges the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_max_sges(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint32_t max_sges);

/**
 * Get the number of pieces of memory of a work request. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_rq_init_attr_get_max_sges(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the number that completions report. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param user_index the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_user_index(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint32_t user_index);

/**
 * Get the number that completions report. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_rq_init_attr_get_user_index(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the number for DOCA Flow. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param queue_id the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_queue_id(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint16_t queue_id);

/**
 * Get the number for DOCA Flow. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint16_t
doca_verbs_eth_rq_init_attr_get_queue_id(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the program's data. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param user_data the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_user_data(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, union doca_data user_data);

/**
 * Get the program's data. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL union doca_data
doca_verbs_eth_rq_init_attr_get_user_data(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set who posts and polls. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param external_datapath_en the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_external_datapath_en(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint8_t external_datapath_en);

/**
 * Get who posts and polls. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_rq_init_attr_get_external_datapath_en(
	const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set whether an error flushes the queue. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param flush_in_error_en the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_flush_in_error_en(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint8_t flush_in_error_en);

/**
 * Get whether an error flushes the queue. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_rq_init_attr_get_flush_in_error_en(
	const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the source of time stamps. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param ts_source_type the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_ts_source_type(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, uint8_t ts_source_type);

/**
 * Get the source of time stamps. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return 0
 */
DOCA_EXPERIMENTAL uint8_t doca_verbs_eth_rq_init_attr_get_ts_source_type(
	const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the DPA. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param dpa the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_dpa(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_dpa *dpa);

/**
 * Get the DPA. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa *
doca_verbs_eth_rq_init_attr_get_dpa(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the completion context of the DPA. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param dpa_completion the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_rq_init_attr_set_dpa_completion(struct doca_verbs_eth_rq_init_attr *eth_rq_attr,
					       struct doca_dpa_completion *dpa_completion);

/**
 * Get the completion context of the DPA. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_dpa_completion *doca_verbs_eth_rq_init_attr_get_dpa_completion(
	const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set the SRQ. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param srq the value
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_srq(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_verbs_srq *srq);

/**
 * Get the SRQ. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_verbs_srq *
doca_verbs_eth_rq_init_attr_get_srq(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Set memory of the program for the queue. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param umem the memory
 * @param offset number of bytes before it
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_external_umem(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the queue. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param umem not written
 * @param offset number of bytes, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_rq_init_attr_get_external_umem(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr,
					      struct doca_umem **umem, uint64_t *offset);

/**
 * Set memory of the program for the doorbell record. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param umem the memory
 * @param offset number of bytes before it
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_set_external_dbr_umem(
	struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_umem *umem, uint64_t offset);

/**
 * Get memory of the program for the doorbell record. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @param umem not written
 * @param offset number of bytes, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_init_attr_get_external_dbr_umem(
	const struct doca_verbs_eth_rq_init_attr *eth_rq_attr, struct doca_umem **umem,
	uint64_t *offset);

/**
 * Get the state of a queue. No object exists.
 *
 * @param eth_rq_attr the attributes
 * @return RST
 */
DOCA_EXPERIMENTAL enum doca_verbs_eth_rq_state
doca_verbs_eth_rq_init_attr_get_state(const struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Create an Ethernet receive queue, which is not supported.
 *
 * @param context the context
 * @param eth_rq_attr the attributes
 * @param eth_rq not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_create(
	struct doca_verbs_context *context, struct doca_verbs_eth_rq_init_attr *eth_rq_attr,
	struct doca_verbs_eth_rq **eth_rq);

/**
 * Destroy a queue. No object exists.
 *
 * @param eth_rq the queue
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_destroy(struct doca_verbs_eth_rq *eth_rq);

/**
 * Query a queue. No object exists.
 *
 * @param eth_rq the queue
 * @param eth_rq_attr not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_query(
	struct doca_verbs_eth_rq *eth_rq, struct doca_verbs_eth_rq_init_attr *eth_rq_attr);

/**
 * Take a queue out of its error state. No object exists.
 *
 * @param eth_rq the queue
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_rq_recover_from_error(struct doca_verbs_eth_rq *eth_rq);

/**
 * Get the number of a queue. No object exists.
 *
 * @param eth_rq the queue
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t
doca_verbs_eth_rq_get_rq_hw_number(const struct doca_verbs_eth_rq *eth_rq);

/**
 * Get the handle of a queue for a DPA. No object exists.
 *
 * @param eth_rq the queue
 * @param dpa the DPA
 * @param dpa_handle not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_eth_rq_get_dpa_handle(struct doca_verbs_eth_rq *eth_rq, struct doca_dpa *dpa,
				 doca_dpa_dev_verbs_eth_rq_t *dpa_handle);

/**
 * Get the address of a doorbell record. No object exists.
 *
 * @param eth_rq the queue
 * @return NULL
 */
DOCA_EXPERIMENTAL void *doca_verbs_eth_rq_get_dbr_addr(const struct doca_verbs_eth_rq *eth_rq);

/**
 * Get the memory of a queue. No object exists.
 *
 * @param eth_rq the queue
 * @param rq_buf not written
 * @param rq_num_entries not written
 * @param rq_entry_size_bytes number of bytes of an entry, not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_eth_rq_get_wq(const struct doca_verbs_eth_rq *eth_rq,
							void **rq_buf, uint32_t *rq_num_entries,
							uint32_t *rq_entry_size_bytes);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERBS_H_ */
