/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/member.h"

#include <stdio.h>

void emu_put_number(struct json_object *to, const char *key, uint64_t value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

void emu_put_text(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

void emu_put_flag(struct json_object *to, const char *key, bool value)
{
	json_object_object_add(to, key, json_object_new_boolean(value));
}

void emu_put_device(struct json_object *to, unsigned int dev)
{
	char name[16];

	snprintf(name, sizeof(name), "mlx5_%u", dev);
	emu_put_text(to, "device", name);
}
