/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The bridge from doca_verbs.h to libibverbs: contexts and protection domains of the program, and
 * the functions that post work requests and poll completions.
 *
 * Memory regions of the program (ibv_reg_mr()) on the protection domain of a PD, and keys of maps
 * (doca_mmap_get_mkey()), serve in work requests. Plain objects of libibverbs may be created beside.
 *
 * Thread safety: as in doca_verbs.h; functions that post and poll may be called by several threads
 * at a time. On any error the outputs keep their values. Semantics: DOCA 3.3, doca_verbs_bridge.h.
 */
#ifndef DOCA_VERBS_BRIDGE_H_
#define DOCA_VERBS_BRIDGE_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <doca_verbs.h>

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
struct ibv_context;
struct ibv_device;
struct ibv_pd;
struct ibv_qp_attr;
struct ibv_recv_wr;
struct ibv_send_wr;
struct ibv_wc;

/**
 * Open a device of libibverbs: create a context with a driver context of its own.
 *
 * @param ib_dev the device; its list may be freed afterwards
 * @param flags DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE
 * @param verbs_context out: the context, owned by the caller until doca_verbs_context_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or flags is not 0
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_CONNECTED: the device cannot be opened
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_bridge_verbs_context_create(
	struct ibv_device *ib_dev, uint32_t flags, struct doca_verbs_context **verbs_context);

/**
 * Create a context on a driver context of the program.
 *
 * @param ibv_ctx the driver context, which stays the program's and must outlive the context
 * @param flags DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE
 * @param verbs_context out: the context, owned by the caller until doca_verbs_context_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or flags is not 0
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_bridge_verbs_context_import(
	struct ibv_context *ibv_ctx, uint32_t flags, struct doca_verbs_context **verbs_context);

/**
 * Query what the device of a driver context can do.
 *
 * @param ibv_ctx the driver context
 * @param verbs_device_attr out: the attributes, owned by the caller until
 *         doca_verbs_device_attr_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_bridge_verbs_query_device(
	struct ibv_context *ibv_ctx, struct doca_verbs_device_attr **verbs_device_attr);

/**
 * Use a protection domain of the program, for contexts on its driver context.
 *
 * @param ibv_pd the protection domain, which stays the program's and must outlive the PD
 * @param verbs_pd out: the PD, owned by the caller until doca_verbs_pd_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_bridge_verbs_pd_import(struct ibv_pd *ibv_pd,
								 struct doca_verbs_pd **verbs_pd);

/**
 * Get the protection domain of a PD, for memory regions of the program.
 *
 * @param verbs_pd the PD
 * @return the protection domain, valid until doca_verbs_pd_destroy(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct ibv_pd *
doca_verbs_bridge_verbs_pd_get_ibv_pd(const struct doca_verbs_pd *verbs_pd);

/**
 * Get the driver context of a context.
 *
 * @param context the context
 * @return the driver context, valid until doca_verbs_context_destroy(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct ibv_context *
doca_verbs_bridge_get_ibv_ctx(struct doca_verbs_context *context);

/**
 * Set members from those of libibverbs. IBV_QP_ACCESS_FLAGS sets allow_remote_write,
 * allow_remote_read and atomic_mode. IBV_QP_AV sets the members of ah_attr, if there is one.
 *
 * @param verbs_qp_attr the attributes
 * @param ibv_qp_attr the attributes of libibverbs
 * @param ibv_attr_mask IBV_QP_* of the members to read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, a state does not exist here, or IBV_QP_AV is
 *   set but ah_attr is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_verbs_bridge_qp_attr_set(struct doca_verbs_qp_attr *verbs_qp_attr,
			      const struct ibv_qp_attr *ibv_qp_attr, int ibv_attr_mask);

/**
 * Write all members as those of libibverbs. The other members keep their values.
 *
 * @param verbs_qp_attr the attributes
 * @param ibv_qp_attr out: the attributes of libibverbs
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_verbs_bridge_qp_attr_get(
	const struct doca_verbs_qp_attr *verbs_qp_attr, struct ibv_qp_attr *ibv_qp_attr);

/**
 * Translate a mask of libibverbs. Bits without a counterpart are left out.
 *
 * @param ibv_attr_mask IBV_QP_*
 * @return DOCA_VERBS_QP_ATTR_*
 */
DOCA_EXPERIMENTAL int doca_verbs_bridge_get_qp_attr_mask(int ibv_attr_mask);

/**
 * Poll completions, as ibv_poll_cq(). The completion of a request that waited has the opcode
 * IBV_WC_DRIVER1.
 *
 * @param cq the CQ
 * @param num_entries the maximum number of completions
 * @param wc out: the completions
 * @return the number of completions; negative if an argument is NULL, the CQ has an external
 *         data path, or the CQ is broken
 */
DOCA_EXPERIMENTAL int doca_verbs_bridge_poll_cq(struct doca_verbs_cq *cq, int num_entries,
						struct ibv_wc *wc);

/**
 * Post a list of sends, as ibv_post_send(). A request of doca_verbs_bridge_set_wait_cq_pi_wr()
 * and all later ones are held back until the CQ has the completion. libibverbs cannot tell the
 * device to wait. So the library posts them in a later call that posts to the QP or polls a CQ
 * of the context, and while a thread is in doca_verbs_get_cq_event(). Before it holds requests
 * back for the first time, a QP allocates memory.
 *
 * @param qp the QP
 * @param wr the first request
 * @param bad_wr out: on an error, the first request that was not posted, which the program owns;
 *         otherwise it keeps its value
 * @return 0, or an errno value: EINVAL if an argument is NULL, the queue has an external data
 *         path or libibverbs refuses a request; EINVAL if a request waits for a CQ of another
 *         context or with another doorbell page; EOPNOTSUPP if the device cannot; ENOMEM if the
 *         queue is full
 */
DOCA_EXPERIMENTAL int doca_verbs_bridge_post_send(struct doca_verbs_qp *qp, struct ibv_send_wr *wr,
						  struct ibv_send_wr **bad_wr);

/**
 * Post a list of receives, as ibv_post_recv().
 *
 * @param qp the QP
 * @param wr the first request
 * @param bad_wr out: on an error, the first request that was not posted, which the program owns;
 *         otherwise it keeps its value
 * @return 0, or an errno value: EINVAL if an argument is NULL, the queue has an external data
 *         path or libibverbs refuses a request; ENOMEM if the queue is full
 */
DOCA_EXPERIMENTAL int doca_verbs_bridge_post_recv(struct doca_verbs_qp *qp, struct ibv_recv_wr *wr,
						  struct ibv_recv_wr **bad_wr);

/**
 * Post a list of receives to an SRQ, as ibv_post_srq_recv().
 *
 * @param srq the SRQ
 * @param wr the first request
 * @param bad_wr out: on an error, the first request that was not posted, which the program owns;
 *         otherwise it keeps its value
 * @return 0, or an errno value: EINVAL if an argument is NULL, the queue has an external data
 *         path or libibverbs refuses a request; ENOMEM if the queue is full
 */
DOCA_EXPERIMENTAL int doca_verbs_bridge_post_srq_recv(struct doca_verbs_srq *srq,
						      struct ibv_recv_wr *wr,
						      struct ibv_recv_wr **bad_wr);

/**
 * Get how many completions were polled from a CQ. The number counts on beyond the size of the
 * CQ, modulo 2^32.
 *
 * @param cq the CQ
 * @return the number; 0 for NULL
 */
DOCA_EXPERIMENTAL uint32_t doca_verbs_bridge_get_current_cq_ci(struct doca_verbs_cq *cq);

/**
 * Make a send request wait for a completion of a CQ. Later requests of its QP start afterwards.
 * Completions are counted from 0, whether polled or not; the request completes when the one with
 * this number exists. The program sets wr_id, next and send_flags afterwards, and posts the
 * request with doca_verbs_bridge_post_send(); the CQ must exist until it completes.
 *
 * @param cq a CQ of the context of the QP, with the same doorbell page (external_uar) as the QP;
 *         of a QP and CQ without one, both have the same
 * @param wait_pi the number of the completion
 * @param wr out: the request
 * @return 0; EINVAL if an argument is NULL or the CQ has an external data path; EOPNOTSUPP if
 *         the device is not an mlx5 device
 */
DOCA_EXPERIMENTAL int doca_verbs_bridge_set_wait_cq_pi_wr(struct doca_verbs_cq *cq,
							  uint32_t wait_pi, struct ibv_send_wr *wr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERBS_BRIDGE_H_ */
