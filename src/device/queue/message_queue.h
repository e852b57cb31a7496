/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queues of messages between functions, by SEND on reliable connections; on mlx5 devices only.
 *
 * A receive queue is a shared receive queue with its completion queue. Each sender is connected to
 * it through a responder of its own; the messages of all senders take the posted receives in posting
 * order. A send queue is the other end of one responder.
 *
 * A message is a tag of 32 bits, a header whose length is the same for all messages of a receive
 * queue, and data. The tag and the header are part of the work request; the data is sent from, and
 * arrives in, registered memory.
 *
 * Work requests are written to, and completions read from, the memory of the queues: without
 * locks, allocations and system calls. One thread at a time may use a receive queue together with
 * its responders, or a send queue.
 */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_QUEUE_H

#include "device/queue/message_attr.h"
#include "device/queue/message_recv.h"
#include "device/queue/message_send.h"

#endif
