/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_argp.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(EXAMPLE::COMMON);

/* --- arguments -------------------------------------------------------------------------------- */

static doca_error_t take_text(const char *value, char *place, size_t size)
{
	if (strlen(value) >= size) {
		DOCA_LOG_ERR("\"%s\" is too long: at most %zu characters", value, size - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(place, value, strlen(value) + 1);
	return DOCA_SUCCESS;
}

static doca_error_t take_pci_addr(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->pci_addr, sizeof(c->pci_addr));
}

static doca_error_t take_rep_pci_addr(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->rep_pci_addr, sizeof(c->rep_pci_addr));
}

static doca_error_t take_file(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->file, sizeof(c->file));
}

static doca_error_t take_descriptor(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->descriptor, sizeof(c->descriptor));
}

static doca_error_t take_buffer(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->buffer, sizeof(c->buffer));
}

static doca_error_t take_name(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->name, sizeof(c->name));
}

static doca_error_t take_address(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->address, sizeof(c->address));
}

static doca_error_t take_port(void *param, void *config)
{
	struct config *c = config;

	return take_text(param, c->port, sizeof(c->port));
}

static const struct flag {
	const char *short_name, *long_name, *arguments, *description;
	doca_argp_param_cb_t take;
} flags[] = {
	{"p", "pci-addr", "<PCI address>", "Device to use (mandatory)", take_pci_addr},
	{"r", "rep-pci", "<PCI address>", "Function of the host (mandatory)", take_rep_pci_addr},
	{"f", "file", "<path>", "File to send, or file to write", take_file},
	{"d", "descriptor", "<path>", "File with the export descriptor", take_descriptor},
	{"b", "buffer", "<path>", "File with the exporter's address and length", take_buffer},
	{"n", "name", "<name>", "Name of the server on the DPU", take_name},
	{"a", "address", "<IP address>", "Server to connect to (default: be the server)",
	 take_address},
	{"o", "port", "<port>", "Port of the server", take_port},
};

static doca_error_t register_flag(const struct flag *flag)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, flag->short_name);
	doca_argp_param_set_long_name(param, flag->long_name);
	doca_argp_param_set_arguments(param, flag->arguments);
	doca_argp_param_set_description(param, flag->description);
	doca_argp_param_set_callback(param, flag->take);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	if (flag->take == take_pci_addr || flag->take == take_rep_pci_addr)
		doca_argp_param_set_mandatory(param);
	return doca_argp_register_param(param); /* takes ownership, also on failure */
}

doca_error_t parse_arguments(int argc, char **argv, const char *accepted, struct config *config)
{
	doca_error_t result = doca_argp_init(NULL, config);

	if (result != DOCA_SUCCESS)
		return result;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strstr(accepted, flags[i].short_name))
			DOCA_ERROR_PROPAGATE(result, register_flag(&flags[i]));
	DOCA_ERROR_PROPAGATE(result, doca_argp_start(argc, argv));
	(void)doca_argp_destroy();
	return result;
}

doca_error_t start_logs(void)
{
	struct doca_log_backend *sdk;
	doca_error_t result = doca_log_backend_create_standard();

	DOCA_ERROR_PROPAGATE(result, doca_log_backend_create_with_file_sdk(stderr, &sdk));
	DOCA_ERROR_PROPAGATE(result, doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING));
	return result;
}

/* --- devices and memory ----------------------------------------------------------------------- */

doca_error_t can_export(const struct doca_devinfo *devinfo)
{
	uint8_t can = 0;
	doca_error_t result = doca_mmap_cap_is_export_pci_supported(devinfo, &can);

	return result == DOCA_SUCCESS && !can ? DOCA_ERROR_NOT_SUPPORTED : result;
}

doca_error_t can_copy(const struct doca_devinfo *devinfo)
{
	return doca_dma_cap_task_memcpy_is_supported(devinfo);
}

doca_error_t open_device(const char *pci_addr, device_check check, struct doca_dev **dev)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	struct doca_devinfo **list;
	uint8_t is_it = 0;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < n && !is_it; i++) {
		result = doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_it);
		if (result != DOCA_SUCCESS || !is_it)
			continue;
		result = check(list[i]);
		DOCA_ERROR_PROPAGATE(result, doca_dev_open(list[i], dev));
	}
	if (result == DOCA_SUCCESS && !is_it)
		result = DOCA_ERROR_NOT_FOUND;
	(void)doca_devinfo_destroy_list(list);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("No device at %s supports this: %s", pci_addr,
			     doca_error_get_descr(result));
	return result;
}

doca_error_t open_representor(struct doca_dev *dev, const char *pci_addr, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint8_t is_it = 0;
	uint32_t n = 0;

	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	for (uint32_t i = 0; i < n && result == DOCA_SUCCESS && !is_it; i++) {
		result = doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_it);
		if (result == DOCA_SUCCESS && is_it)
			result = doca_dev_rep_open(list[i], rep);
	}
	if (n)
		(void)doca_devinfo_rep_destroy_list(list);
	if (result == DOCA_SUCCESS && !is_it)
		result = DOCA_ERROR_NOT_FOUND;
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("No function of the host at %s has a representor here: %s", pci_addr,
			     doca_error_get_descr(result));
	return result;
}

doca_error_t create_memory(struct doca_dev *dev, size_t len, uint32_t permissions,
			   struct memory *memory)
{
	doca_error_t result;

	*memory = (struct memory){.bytes = calloc(1, len), .len = len};
	if (!memory->bytes)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_mmap_create(&memory->mmap);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(memory->mmap, permissions));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(memory->mmap, memory->bytes, len));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(memory->mmap, dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(memory->mmap));
	if (result != DOCA_SUCCESS)
		destroy_memory(memory);
	return result;
}

void destroy_memory(struct memory *memory)
{
	if (memory->mmap && doca_mmap_destroy(memory->mmap) != DOCA_SUCCESS)
		DOCA_LOG_ERR("Cannot destroy the map of %zu bytes", memory->len);
	free(memory->bytes);
	*memory = (struct memory){0};
}

/* --- files ------------------------------------------------------------------------------------ */

static doca_error_t fail_file(const char *path)
{
	DOCA_LOG_ERR("%s: %s", path, strerror(errno));
	return DOCA_ERROR_IO_FAILED;
}

doca_error_t read_file(const char *path, char **bytes, size_t *len)
{
	FILE *file = fopen(path, "rbe");
	struct stat st;
	char *content;

	if (!file)
		return fail_file(path);
	if (fstat(fileno(file), &st) || st.st_size <= 0) {
		DOCA_LOG_ERR("%s is empty", path);
		fclose(file);
		return DOCA_ERROR_INVALID_VALUE;
	}
	content = malloc((size_t)st.st_size + 1);
	if (!content || fread(content, (size_t)st.st_size, 1, file) != 1) {
		free(content);
		fclose(file);
		return fail_file(path);
	}
	fclose(file);
	content[st.st_size] = '\0';
	*bytes = content;
	*len = (size_t)st.st_size;
	return DOCA_SUCCESS;
}

doca_error_t write_file(const char *path, const void *bytes, size_t len)
{
	char temporary[MAX_PATH_LEN + 8];
	bool written;
	FILE *file;
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return fail_file(temporary);
	}
	/* On the disk before it has its name: no power failure leaves half a file. */
	written = fwrite(bytes, len, 1, file) == 1 && !fflush(file) && !fsync(fd);
	if (fclose(file) || !written || rename(temporary, path)) {
		fail_file(path);
		unlink(temporary);
		return DOCA_ERROR_IO_FAILED;
	}
	return DOCA_SUCCESS;
}

doca_error_t publish(const struct config *config, const struct memory *memory, struct doca_dev *dev)
{
	char text[64];
	const void *desc;
	doca_error_t result;
	size_t len;

	result = doca_mmap_export_pci(memory->mmap, dev, &desc, &len);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Cannot export the memory: %s", doca_error_get_descr(result));
		return result;
	}
	snprintf(text, sizeof(text), "%" PRIu64 " %zu\n", (uint64_t)(uintptr_t)memory->bytes,
		 memory->len);
	result = write_file(config->descriptor, desc, len);
	DOCA_ERROR_PROPAGATE(result, write_file(config->buffer, text, strlen(text)));
	return result;
}

static doca_error_t read_buffer(const char *path, char **remote_addr, size_t *len)
{
	uint64_t addr;
	char *text;
	size_t text_len;
	doca_error_t result = read_file(path, &text, &text_len);

	if (result != DOCA_SUCCESS)
		return result;
	if (sscanf(text, "%" SCNu64 " %zu", &addr, len) != 2) {
		DOCA_LOG_ERR("%s must contain an address and a length", path);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	free(text);
	if (result == DOCA_SUCCESS)
		*remote_addr = (char *)(uintptr_t)addr;
	return result;
}

doca_error_t import(const struct config *config, struct doca_dev *dev, struct doca_mmap **mmap,
		    char **remote_addr, size_t *len)
{
	doca_error_t result;
	size_t desc_len;
	char *desc;

	result = read_buffer(config->buffer, remote_addr, len);
	if (result != DOCA_SUCCESS)
		return result;
	result = read_file(config->descriptor, &desc, &desc_len);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_create_from_export(NULL, desc, desc_len, dev, mmap);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("%s cannot be imported: %s", config->descriptor,
			     doca_error_get_descr(result));
	free(desc);
	return result;
}

void wait_for_enter(void)
{
	int c;

	DOCA_LOG_INFO("Press Enter when the importer has finished");
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}
