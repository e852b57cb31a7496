/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The settings that servers and clients have in common, and the capabilities. control may be NULL. */
#ifndef DPUMAP_COMCH_SETTINGS_H
#define DPUMAP_COMCH_SETTINGS_H

#include "comch/connection/control.h"

doca_error_t dpumap_comch_set_max_msg_size(struct comch_control *control, const char *function,
					   uint32_t max_msg_size);
doca_error_t dpumap_comch_set_recv_queue_size(struct comch_control *control, const char *function,
					      uint32_t queue_size);
doca_error_t dpumap_comch_register_recv(struct comch_control *control, const char *function,
					doca_comch_event_msg_recv_cb_t recv_cb);
doca_error_t dpumap_comch_register_consumer(struct comch_control *control, const char *function,
					    doca_comch_event_consumer_cb_t new_cb,
					    doca_comch_event_consumer_cb_t expired_cb);

#endif
