/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* DPDK's arguments in a JSON file. */
#include "argp/argp.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

/* Takes text over, also on failure. NULL: there was no memory for it. */
static doca_error_t add_text(struct dpumap_argp *argp, char *text)
{
	char **more = NULL;

	if (text)
		more = reallocarray(argp->dpdk_texts, argp->num_dpdk_texts + 1, sizeof(*more));
	if (!more) {
		free(text);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "doca_argp_start: no memory for DPDK's arguments");
	}
	argp->dpdk_texts = more;
	more[argp->num_dpdk_texts++] = text;
	return dpumap_argp_add_dpdk(argp, text);
}

static doca_error_t add_flag(struct dpumap_argp *argp, const char *flag, const char *value)
{
	doca_error_t result = add_text(argp, strdup(flag));

	return result == DOCA_SUCCESS ? add_text(argp, strdup(value)) : result;
}

static doca_error_t add_words(struct dpumap_argp *argp, const char *text)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS) {
		size_t len;

		text += strspn(text, " \t");
		len = strcspn(text, " \t");
		if (!len)
			break;
		result = add_text(argp, strndup(text, len));
		text += len;
	}
	return result;
}

struct device {
	char *kind;
	char *id;
	bool hws;
};

static doca_error_t read_member(struct device *device, const char *key, struct json_object *value)
{
	if (!strcmp(key, "device"))
		return dpumap_argp_json_string(key, value, &device->kind);
	if (!strcmp(key, "id"))
		return dpumap_argp_json_string(key, value, &device->id);
	if (!strcmp(key, "hws"))
		return dpumap_argp_json_boolean(key, value, &device->hws);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "doca_argp_start: JSON: unknown key \"%s\" in a device", key);
}

static doca_error_t add_device(struct dpumap_argp *argp, const struct device *device)
{
	bool is_sf = !strcmp(device->kind, "sf");
	char *name;
	doca_error_t result;

	if (!is_sf && strcmp(device->kind, "pf") != 0 && strcmp(device->kind, "vf") != 0 &&
	    strcmp(device->kind, "gpu") != 0)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"doca_argp_start: JSON: unknown device \"%s\", must be pf, vf, sf or gpu",
			device->kind);
	/* DPDK's syntax for subfunctions, and for hardware steering in its mlx5 driver. */
	if (asprintf(&name, "%s%s%s", is_sf ? "auxiliary:mlx5_core.sf." : "", device->id,
		     device->hws ? ",dv_flow_en=2" : "") < 0)
		name = NULL;
	result = add_text(argp, strdup("-a"));
	if (result != DOCA_SUCCESS) {
		free(name);
		return result;
	}
	return add_text(argp, name);
}

static doca_error_t read_device(struct dpumap_argp *argp, struct json_object *json)
{
	struct device device = {0};
	doca_error_t result = DOCA_SUCCESS;

	if (!json_object_is_type(json, json_type_object))
		return dpumap_argp_json_wrong_type("a device", json, "an object");
	json_object_object_foreach(json, key, value)
	{
		result = read_member(&device, key, value);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (!device.kind || !device.id)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: JSON: a device needs a key \"%s\"",
				   device.kind ? "id" : "device");
	return add_device(argp, &device);
}

static doca_error_t read_devices(struct dpumap_argp *argp, struct json_object *devices)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!json_object_is_type(devices, json_type_array))
		return dpumap_argp_json_wrong_type("devices", devices, "an array");
	for (size_t i = 0; result == DOCA_SUCCESS && i < json_object_array_length(devices); i++)
		result = read_device(argp, json_object_array_get_idx(devices, i));
	return result;
}

doca_error_t dpumap_argp_read_json_dpdk(struct dpumap_argp *argp, const char *key,
					struct json_object *value)
{
	doca_error_t result;
	char *text;

	if (!strcmp(key, "devices"))
		return read_devices(argp, value);
	if (strcmp(key, "core-mask") != 0 && strcmp(key, "flags") != 0)
		return dpumap_argp_json_unknown(argp, "flag", key);
	result = dpumap_argp_json_string(key, value, &text);
	if (result != DOCA_SUCCESS)
		return result;
	return strcmp(key, "flags") ? add_flag(argp, "-c", text) : add_words(argp, text);
}
