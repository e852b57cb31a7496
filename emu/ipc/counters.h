/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The counters of a port: names and groups as in sysfs (Linux, Documentation/ABI/stable/
 * sysfs-class-infiniband; drivers/infiniband/hw/mlx5/counters.c). Each engine counts for every function
 * whose packets it moves; the server adds them up. C(name): counted.
 */
#ifndef EMU_IPC_COUNTERS_H
#define EMU_IPC_COUNTERS_H

/* In counters/. The two of data are in units of 4 bytes in the files, and in bytes here. */
#define EMU_PORT_COUNTERS(C)      \
	C(port_xmit_data)         \
	C(port_rcv_data)          \
	C(port_xmit_packets)      \
	C(port_rcv_packets)       \
	C(unicast_xmit_packets)   \
	C(unicast_rcv_packets)    \
	C(multicast_xmit_packets) \
	C(multicast_rcv_packets)  \
	C(link_downed)

/* In hw_counters/. */
#define EMU_HW_COUNTERS(C)                \
	C(rx_write_requests)              \
	C(rx_read_requests)               \
	C(rx_atomic_requests)             \
	C(out_of_buffer)                  \
	C(rnr_nak_retry_err)              \
	C(local_ack_timeout_err)          \
	C(resp_local_length_error)        \
	C(resp_cqe_error)                 \
	C(req_cqe_error)                  \
	C(req_remote_invalid_request)     \
	C(req_remote_access_errors)       \
	C(resp_remote_access_errors)      \
	C(resp_cqe_flush_error)           \
	C(req_cqe_flush_error)            \
	C(req_transport_retries_exceeded) \
	C(req_rnr_retries_exceeded)       \
	C(out_of_sequence)                \
	C(duplicate_request)              \
	C(packet_seq_err)                 \
	C(implied_nak_seq_err)            \
	C(rx_icrc_encapsulated)           \
	C(np_ecn_marked_roce_packets)     \
	C(np_cnp_sent)                    \
	C(rp_cnp_handled)

/* Attributes of the port (ibv_query_port()), without files. */
#define EMU_VIOLATION_COUNTERS(C) \
	C(bad_pkey_cntr)          \
	C(qkey_viol_cntr)

#define EMU_COUNTER_(name) EMU_COUNTER_##name,
enum emu_counter {
	EMU_PORT_COUNTERS(EMU_COUNTER_) EMU_COUNTER_FIRST_HW,
	EMU_COUNTER_BEFORE_HW = EMU_COUNTER_FIRST_HW - 1,
	EMU_HW_COUNTERS(EMU_COUNTER_) EMU_COUNTER_FIRST_VIOLATION,
	EMU_COUNTER_BEFORE_VIOLATION = EMU_COUNTER_FIRST_VIOLATION - 1,
	EMU_VIOLATION_COUNTERS(EMU_COUNTER_) EMU_COUNTERS
};

#define EMU_FILE_COUNTERS EMU_COUNTER_FIRST_VIOLATION

#endif
