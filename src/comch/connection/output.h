/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a connection sends. The connection is locked. */
#ifndef DPUMAP_COMCH_OUTPUT_H
#define DPUMAP_COMCH_OUTPUT_H

#include "comch/connection/connection_priv.h"

doca_error_t dpumap_comch_output_create(struct comch_output *output);
void dpumap_comch_output_destroy(struct comch_output *output);

/* Send a message, at once if possible; the task ends up in one of the lists of the connection. */
void dpumap_comch_output_message(struct doca_comch_connection *c,
				 struct doca_comch_task_send *task);
/* Append a frame. NOT_CONNECTED: nothing can be sent any more. It leaves with the next flush. */
doca_error_t dpumap_comch_output_frame(struct doca_comch_connection *c,
				       const struct comch_frame *frame);
/* Return credits for messages that the program has consumed, if there are enough of them. */
void dpumap_comch_output_credits(struct doca_comch_connection *c);
/* Write what the link takes, and send messages that waited. */
void dpumap_comch_output_flush(struct doca_comch_connection *c);
/* Complete all tasks with an error, and send nothing any more. */
void dpumap_comch_output_abort(struct doca_comch_connection *c, doca_error_t status);

#endif
