/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds and opens the devices and representors that flags name. */
#include "argp/argp.h"

#include <stdio.h>
#include <string.h>

#include "argp/param.h"
#include "log/log.h"

#define PCI_PREFIX     "pci/"
#define PCI_PREFIX_LEN (sizeof(PCI_PREFIX) - 1)
#define NAME_SIZE      DOCA_DEVINFO_IFACE_NAME_SIZE /* the longest name of a device or representor */

/* Copy the text before the next comma; the rest is NULL if there is none. */
static doca_error_t split(const char *text, char name[NAME_SIZE], const char **rest)
{
	size_t len = strcspn(text, ",");

	if (!len || len >= NAME_SIZE)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: \"%s\" begins with %s", text,
				   len ? "a name that is too long" : "an empty name");
	memcpy(name, text, len);
	name[len] = '\0';
	*rest = text[len] ? text + len + 1 : NULL;
	return DOCA_SUCCESS;
}

static const char *pci_address(const char *name)
{
	if (!strncmp(name, PCI_PREFIX, PCI_PREFIX_LEN))
		return name + PCI_PREFIX_LEN;
	return strchr(name, ':') ? name : NULL;
}

static doca_error_t compare_device(const struct doca_devinfo *devinfo, const char *name,
				   uint8_t *is_equal)
{
	char own[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	const char *address = pci_address(name);
	doca_error_t result;

	if (address)
		return doca_devinfo_is_equal_pci_addr(devinfo, address, is_equal);
	result = doca_devinfo_get_ibdev_name(devinfo, own, sizeof(own));
	*is_equal = result == DOCA_SUCCESS && !strcmp(own, name);
	return result;
}

/* A device that cannot be compared is not the one, unless the name itself is invalid. */
static doca_error_t find_device(struct doca_devinfo *const *list, uint32_t n, const char *name,
				struct doca_devinfo **found)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t is_equal = 0;
		doca_error_t result = compare_device(list[i], name, &is_equal);

		if (result == DOCA_ERROR_INVALID_VALUE)
			return result;
		if (result == DOCA_SUCCESS && is_equal) {
			*found = list[i];
			return DOCA_SUCCESS;
		}
	}
	return dpumap_fail(DOCA_ERROR_NOT_FOUND,
			   "doca_argp_start: no device %s; `dpumap doctor` shows the devices",
			   name);
}

static doca_error_t open_found(const struct dpumap_argp *argp, struct doca_devinfo *devinfo,
			       const char *name, struct doca_dev **dev)
{
	doca_error_t result;

	if (!argp->dev_open_cb)
		return doca_dev_open(devinfo, dev);
	result = argp->dev_open_cb(devinfo, argp->dev_open_ctx, dev);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "doca_argp_start: the callback that opens %s failed",
				   name);
	if (!*dev)
		return dpumap_fail(DOCA_ERROR_UNEXPECTED,
				   "doca_argp_start: the callback that opens %s set no device",
				   name);
	return DOCA_SUCCESS;
}

static doca_error_t open_device(const struct dpumap_argp *argp, const char *name,
				struct doca_dev **dev)
{
	struct doca_devinfo *found = NULL;
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = find_device(list, n, name, &found);
	if (result == DOCA_SUCCESS)
		result = open_found(argp, found, name, dev);
	(void)doca_devinfo_destroy_list(list);
	return result;
}

/* The number of a host's function is that in its PCI address. */
static bool is_pf(const struct doca_devinfo_rep *devinfo, const char *name)
{
	char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];

	return name[0] == 'p' && name[1] == 'f' &&
	       doca_devinfo_rep_get_pci_addr_str(devinfo, address) == DOCA_SUCCESS &&
	       !strcmp(strchr(address, '.') + 1, name + 2);
}

static doca_error_t compare_rep(const struct doca_devinfo_rep *devinfo, const char *name,
				uint8_t *is_equal)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	const char *address = pci_address(name);

	if (address)
		return doca_devinfo_rep_is_equal_pci_addr(devinfo, address, is_equal);
	*is_equal =
		is_pf(devinfo, name) ||
		(doca_devinfo_rep_get_iface_name(devinfo, iface, sizeof(iface)) == DOCA_SUCCESS &&
		 !strcmp(iface, name));
	return DOCA_SUCCESS;
}

static doca_error_t open_listed_rep(struct doca_devinfo_rep *const *list, uint32_t n,
				    const char *name, struct doca_dev_rep **rep)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t is_equal = 0;
		doca_error_t result = compare_rep(list[i], name, &is_equal);

		if (result != DOCA_SUCCESS)
			return result;
		if (is_equal)
			return doca_dev_rep_open(list[i], rep);
	}
	return dpumap_fail(DOCA_ERROR_NOT_FOUND,
			   "doca_argp_start: no representor %s on the device; only the host's "
			   "physical functions have representors",
			   name);
}

static doca_error_t open_rep(struct doca_dev *dev, const char *name, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "doca_argp_start: no representor %s: the device has no "
				   "representors; only a DPU's device has them",
				   name);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_listed_rep(list, n, name, rep);
	(void)doca_devinfo_rep_destroy_list(list);
	return result;
}

static void close_opened(const struct doca_argp_device_rep_ctx *ctx)
{
	if (ctx->dev_rep)
		(void)doca_dev_rep_close(ctx->dev_rep);
	(void)doca_dev_close(ctx->dev_ctx.dev);
}

/* "device,args" */
static doca_error_t open_device_value(const struct dpumap_argp *argp, const char *text,
				      struct doca_argp_device_ctx *ctx)
{
	char name[NAME_SIZE];
	doca_error_t result = split(text, name, &ctx->devargs);

	return result == DOCA_SUCCESS ? open_device(argp, name, &ctx->dev) : result;
}

/* "device,representor,args" */
static doca_error_t open_rep_value(const struct dpumap_argp *argp, const char *text,
				   struct doca_argp_device_rep_ctx *ctx)
{
	char name[NAME_SIZE];
	doca_error_t result = open_device_value(argp, text, &ctx->dev_ctx);

	if (result != DOCA_SUCCESS)
		return result;
	if (ctx->dev_ctx.devargs)
		result = split(ctx->dev_ctx.devargs, name, &ctx->dev_ctx.devargs);
	else
		result = dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				     "doca_argp_start: \"%s\" names no representor: use "
				     "DEVICE,REPRESENTOR",
				     text);
	if (result == DOCA_SUCCESS)
		result = open_rep(ctx->dev_ctx.dev, name, &ctx->dev_rep);
	if (result != DOCA_SUCCESS)
		close_opened(ctx);
	return result;
}

static doca_error_t open_given(const struct dpumap_argp *argp, struct dpumap_argp_given *given)
{
	struct doca_argp_device_rep_ctx ctx = {.dev_rep = NULL};
	doca_error_t result;

	if (given->param->type == DOCA_ARGP_TYPE_DEVICE)
		result = open_device_value(argp, given->value.text, &ctx.dev_ctx);
	else if (given->param->type == DOCA_ARGP_TYPE_DEVICE_REP)
		result = open_rep_value(argp, given->value.text, &ctx);
	else
		return DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		return result;
	given->value.device = ctx;
	given->owns_device = true;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_argp_open_devices(struct dpumap_argp *argp)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; result == DOCA_SUCCESS && i < argp->num_given; i++)
		result = open_given(argp, &argp->given[i]);
	return result;
}

void dpumap_argp_close_devices(struct dpumap_argp *argp)
{
	for (size_t i = argp->num_given; i--;) {
		struct dpumap_argp_given *given = &argp->given[i];

		if (!given->owns_device)
			continue;
		close_opened(&given->value.device);
		given->owns_device = false;
	}
}
