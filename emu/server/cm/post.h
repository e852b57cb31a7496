/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Putting messages on the wire, once or until they are answered. */
#ifndef EMU_CM_POST_H
#define EMU_CM_POST_H

#include <stdint.h>

#include "emu/server/cm/mad.h"

struct emu_cm;
struct emu_cm_conn;
struct emu_cm_path;

/* Begin a message of this connection. */
void emu_cm_begin(const struct emu_cm_conn *c, struct emu_cm_msg *m, enum emu_cm_attr attr);
/* Send a message without an answer. */
void emu_cm_post(struct emu_cm *cm, const struct emu_cm_path *path, const struct emu_cm_msg *m);
/* Send it, and keep it for a request that arrives again. */
void emu_cm_post_reply(struct emu_cm_conn *c, const struct emu_cm_msg *m);
/* Send an encoded message again. */
void emu_cm_resend(struct emu_cm_conn *c, const uint8_t mad[EMU_MAD_BYTES]);
void emu_cm_repeat_drep(struct emu_cm_conn *c, uint64_t tid);
/* Send it until an answer comes or the retries are exhausted. */
void emu_cm_post_request(struct emu_cm_conn *c, const struct emu_cm_msg *m);

#endif
