/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Members of JSON objects. One for which there is no memory is null. */
#ifndef EMU_MEMBER_H
#define EMU_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

void emu_put_number(struct json_object *to, const char *key, uint64_t value);
void emu_put_text(struct json_object *to, const char *key, const char *value);
void emu_put_flag(struct json_object *to, const char *key, bool value);
/* "mlx5_N" */
void emu_put_device(struct json_object *to, unsigned int dev);

#endif
