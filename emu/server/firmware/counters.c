/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/counters.h"

#include <errno.h>

#include "base/array.h"
#include "emu/prm/prm_hca.h"
#include "emu/server/firmware/driver.h"

#define DATA_UNIT 4u /* bytes */

static const struct {
	int field;
	enum emu_counter id;
} of_set[] = {
	{EMU_QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS, EMU_COUNTER_rx_write_requests},
	{EMU_QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS, EMU_COUNTER_rx_read_requests},
	{EMU_QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS, EMU_COUNTER_rx_atomic_requests},
	{EMU_QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER, EMU_COUNTER_out_of_buffer},
	{EMU_QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE, EMU_COUNTER_out_of_sequence},
	{EMU_QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST, EMU_COUNTER_duplicate_request},
	{EMU_QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR, EMU_COUNTER_rnr_nak_retry_err},
	{EMU_QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR, EMU_COUNTER_packet_seq_err},
	{EMU_QUERY_Q_COUNTER_OUT_IMPLIED_NAK_SEQ_ERR, EMU_COUNTER_implied_nak_seq_err},
	{EMU_QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR, EMU_COUNTER_local_ack_timeout_err},
	{EMU_QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR, EMU_COUNTER_resp_local_length_error},
	{EMU_QUERY_Q_COUNTER_OUT_RESP_CQE_ERROR, EMU_COUNTER_resp_cqe_error},
	{EMU_QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR, EMU_COUNTER_req_cqe_error},
	{EMU_QUERY_Q_COUNTER_OUT_REQ_REMOTE_INVALID_REQUEST,
	 EMU_COUNTER_req_remote_invalid_request},
	{EMU_QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS, EMU_COUNTER_req_remote_access_errors},
	{EMU_QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS, EMU_COUNTER_resp_remote_access_errors},
	{EMU_QUERY_Q_COUNTER_OUT_REQ_TRANSPORT_RETRIES_EXCEEDED,
	 EMU_COUNTER_req_transport_retries_exceeded},
	{EMU_QUERY_Q_COUNTER_OUT_RESP_CQE_FLUSH_ERROR, EMU_COUNTER_resp_cqe_flush_error},
	{EMU_QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR, EMU_COUNTER_req_cqe_flush_error},
};

int emu_driver_alloc_q_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_q_counter *set = (struct emu_q_counter *)o;

	for (size_t i = 0; i < ARRAY_SIZE(of_set); i++)
		set->before[of_set[i].id] = emu_counter_value(c->file->func, of_set[i].id);
	return emu_driver_alloc_plain(c, m, o);
}

int emu_driver_query_q_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_Q_COUNTER_IN);
	struct emu_q_counter *set = (struct emu_q_counter *)o;
	int err;

	if (m->in_len < EMU_Q_COUNTER_IN_BYTES ||
	    emu_prm_get(m->in, EMU_Q_COUNTER_IN_COUNTER_SET_ID) != set->plain.number)
		return -EINVAL; /* the kernel compares it with the handle's */
	err = emu_driver_check(m, EMU_Q_COUNTER_IN_BYTES, EMU_QUERY_Q_COUNTER_OUT_BYTES);
	if (err)
		return err;
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	for (size_t i = 0; i < ARRAY_SIZE(of_set); i++) {
		const uint64_t now = emu_counter_value(c->file->func, of_set[i].id);

		emu_prm_set(m->out, of_set[i].field,
			    emu_prm_fit(of_set[i].field, now - set->before[of_set[i].id]));
		if (emu_prm_get(m->in, EMU_Q_COUNTER_IN_CLEAR))
			set->before[of_set[i].id] = now;
	}
	return 0;
}

int emu_driver_query_vport_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_func *f = c->file->func;
	const struct emu_prm_value fields[] = {
		{EMU_QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST_PACKETS,
		 emu_counter_value(f, EMU_COUNTER_unicast_rcv_packets)},
		{EMU_QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST_OCTETS,
		 emu_counter_value(f, EMU_COUNTER_port_rcv_data) * DATA_UNIT},
		{EMU_QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST_PACKETS,
		 emu_counter_value(f, EMU_COUNTER_unicast_xmit_packets)},
		{EMU_QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST_OCTETS,
		 emu_counter_value(f, EMU_COUNTER_port_xmit_data) * DATA_UNIT},
		{EMU_QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_MULTICAST_PACKETS,
		 emu_counter_value(f, EMU_COUNTER_multicast_rcv_packets)},
		{EMU_QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_MULTICAST_PACKETS,
		 emu_counter_value(f, EMU_COUNTER_multicast_xmit_packets)},
	};
	int err = emu_driver_check(m, EMU_CMD_IN_BYTES, EMU_QUERY_VPORT_COUNTER_OUT_BYTES);

	(void)o;
	if (err)
		return err;
	EMU_PRM_FILL(m->out, fields);
	return 0;
}
