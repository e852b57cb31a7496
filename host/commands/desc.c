/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dpumap/desc.h>

#include "base/array.h"
#include "host/base/json.h"
#include "host/commands/commands.h"

#define NAME_WIDTH	 12
#define MINOR_OFFSET	 9
#define EXTENSION_HEADER 4
#define EXTENSION_NUMBER 0x7fff

/* One byte more than the longest descriptor, to detect longer files. */
struct content {
	uint8_t bytes[DPUMAP_DESC_MAX_SIZE + 1];
	size_t len;
};

struct printer {
	bool json;
	bool show_secret;
};

static const char *const right_names[] = {
	"local read-write", "RDMA read",      "RDMA write",	      "RDMA atomic",
	"PCI read-only",    "PCI read-write", "PCI relaxed ordering",
};

#define NUM_RIGHTS ARRAY_SIZE(right_names)

_Static_assert((1u << NUM_RIGHTS) - 1 == DPUMAP_DESC_ACCESS_ALL, "every right has its name");

static const char *kind_name(uint16_t kind)
{
	static const char *const names[] = {
		[DPUMAP_DESC_KIND_PCI] = "PCI export",
		[DPUMAP_DESC_KIND_RDMA] = "RDMA export",
		[DPUMAP_DESC_KIND_UMEM] = "umem",
	};

	return names[kind];
}

static const char *source_name(uint16_t source)
{
	static const char *const names[] = {
		[DPUMAP_DESC_SOURCE_MEMORY] = "memory",
		[DPUMAP_DESC_SOURCE_DEVICE_MEMORY] = "device memory",
		[DPUMAP_DESC_SOURCE_DMABUF] = "dma-buf",
	};

	return names[source];
}

static const char *link_layer_name(uint16_t link_layer)
{
	static const char *const names[] = {
		[DPUMAP_DESC_LINK_UNTOLD] = "untold",
		[DPUMAP_DESC_LINK_INFINIBAND] = "InfiniBand",
		[DPUMAP_DESC_LINK_ETHERNET] = "Ethernet",
	};

	return names[link_layer];
}

static unsigned int u16_at(const uint8_t *at)
{
	return at[0] | (unsigned int)at[1] << 8;
}

static void begin(const struct printer *p, const char *name)
{
	if (p->json)
		printf(",\n  \"%s\": ", name);
	else
		printf("%-*s ", NAME_WIDTH, name);
}

static void end(const struct printer *p)
{
	if (!p->json)
		putchar('\n');
}

static void print_text(const struct printer *p, const char *name, const char *text)
{
	begin(p, name);
	printf(p->json ? "\"%s\"" : "%s", text);
	end(p);
}

static void print_number(const struct printer *p, const char *name, int digits, uint64_t number)
{
	char text[2 + 16 + 1];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, number);
	print_text(p, name, text);
}

static void print_bytes(const struct printer *p, const char *name, const uint8_t *bytes, size_t len)
{
	char text[2 * DPUMAP_DESC_MAX_SIZE + 1] = "";

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	print_text(p, name, text);
	explicit_bzero(text, sizeof(text));
}

static void print_rights(const struct printer *p, uint32_t access)
{
	const char *quote = p->json ? "\"" : "";
	const char *separator = "";

	begin(p, "rights");
	fputs(p->json ? "[" : "", stdout);
	for (size_t i = 0; i < NUM_RIGHTS; i++) {
		if (!(access >> i & 1))
			continue;
		printf("%s%s%s%s", separator, quote, right_names[i], quote);
		separator = ", ";
	}
	if (!p->json && !access)
		fputs("none", stdout);
	fputs(p->json ? "]" : "", stdout);
	end(p);
}

static void print_key(const struct printer *p, const struct dpumap_desc *d)
{
	if (p->show_secret) {
		print_bytes(p, "access_key", d->access_key, sizeof(d->access_key));
		return;
	}
	begin(p, "access_key");
	fputs(p->json ? "null" : "redacted", stdout);
	end(p);
}

static void print_port(const struct printer *p, const struct dpumap_desc_port *port)
{
	print_text(p, "link_layer", link_layer_name(port->link_layer));
	print_number(p, "lid", 4, port->lid);
	print_bytes(p, "gid", port->gid, sizeof(port->gid));
}

static void print_umem(const struct printer *p, const struct dpumap_desc_umem *umem)
{
	print_number(p, "start", 16, umem->start);
	print_number(p, "pd_handle", 8, umem->pd_handle);
	print_number(p, "pdn", 6, umem->pdn);
	print_text(p, "form", umem->form == DPUMAP_DESC_UMEM_HANDLE ? "kernel handle" : "libmlx5");
	print_bytes(p, "token", umem->token, umem->token_len);
}

static size_t print_own(const struct printer *p, const struct dpumap_desc *d)
{
	switch (d->kind) {
	case DPUMAP_DESC_KIND_PCI:
		print_key(p, d);
		return DPUMAP_DESC_PCI_SIZE;
	case DPUMAP_DESC_KIND_RDMA:
		print_port(p, &d->port);
		return DPUMAP_DESC_RDMA_SIZE;
	default:
		print_umem(p, &d->umem);
		return DPUMAP_DESC_UMEM_SIZE;
	}
}

/* The descriptor was decoded: all extensions are complete. */
static void print_extensions(const struct printer *p, const struct content *c, size_t at)
{
	const char *separator = "";

	if (p->json) {
		begin(p, "extensions");
		putchar('[');
	}
	while (at < c->len) {
		unsigned int number = u16_at(c->bytes + at) & EXTENSION_NUMBER;
		unsigned int size = u16_at(c->bytes + at + 2);

		if (p->json)
			printf("%s{\"number\": \"0x%04x\", \"size\": %u}", separator, number, size);
		else
			printf("%-*s 0x%04x, %u\n", NAME_WIDTH, "extension", number, size);
		separator = ", ";
		at += EXTENSION_HEADER + size;
	}
	if (p->json)
		putchar(']');
}

static void show(const struct printer *p, const struct content *c, const struct dpumap_desc *d)
{
	char version[sizeof("1.255")];

	snprintf(version, sizeof(version), "1.%u", c->bytes[MINOR_OFFSET]);
	if (p->json)
		printf("{\n  \"schema\": \"%s\",\n  \"valid\": true", json_schema());
	print_text(p, "version", version);
	print_text(p, "kind", kind_name(d->kind));
	begin(p, "size");
	printf("%zu", c->len);
	end(p);
	print_text(p, "source", source_name(d->source));
	print_number(p, "vhca_id", 4, d->vhca_id);
	print_number(p, "access", 4, d->access);
	print_rights(p, d->access);
	print_number(p, "mkey", 8, d->mkey);
	print_number(p, "device_guid", 16, d->device_guid);
	print_number(p, "address", 16, d->addr);
	print_number(p, "length", 16, d->len);
	print_extensions(p, c, print_own(p, d));
	if (p->json)
		printf("\n}\n");
}

static doca_error_t refuse(const struct printer *p, const struct content *c, const char *path,
			   dpumap_desc_status_t status, struct dpumap_error *error)
{
	const char *reason = dpumap_desc_status_descr(status);
	const char *name = dpumap_desc_status_name(status);
	size_t byte = 0;

	dpumap_desc_diagnose(c->bytes, c->len, &byte);
	if (p->json) {
		printf("{\n  \"schema\": \"%s\",\n  \"valid\": false,\n  \"status\": \"%s\",\n"
		       "  \"byte\": %zu,\n  \"reason\": \"%s\"\n}\n",
		       json_schema(), name, byte, reason);
		json_set_printed();
	}
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "%s: byte %zu: %s (%s)", path,
				byte, reason, name);
}

static doca_error_t inspect(const struct printer *p, const struct content *c, bool check,
			    const char *path, struct dpumap_error *error)
{
	dpumap_desc_status_t status;
	struct dpumap_desc d;

	status = dpumap_desc_decode(c->bytes, c->len, &d);
	if (status != DPUMAP_DESC_OK)
		return refuse(p, c, path, status, error);
	if (check && p->json)
		printf("{\n  \"schema\": \"%s\",\n  \"valid\": true\n}\n", json_schema());
	else if (check)
		puts("good");
	else
		show(p, c, &d);
	dpumap_desc_wipe(&d);
	return DOCA_SUCCESS;
}

/* Not by stdio: its buffer would keep the key. */
static int read_all(int fd, struct content *c)
{
	while (c->len < sizeof(c->bytes)) {
		ssize_t n = read(fd, c->bytes + c->len, sizeof(c->bytes) - c->len);

		if (n < 0 && errno != EINTR)
			return errno;
		if (n == 0)
			break;
		c->len += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Always NOT_FOUND: the exit code of invalid descriptors must not be used for unreadable files. */
static doca_error_t fail_read(int err, const char *path, struct dpumap_error *error)
{
	dpumap_error_errno(error, err, "cannot read %s", path);
	error->code = DOCA_ERROR_NOT_FOUND;
	return error->code;
}

static doca_error_t load(const char *path, struct content *c, struct dpumap_error *error)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return fail_read(errno, path, error);
	err = read_all(fd, c);
	if (!is_stdin)
		close(fd);
	return err ? fail_read(err, path, error) : DOCA_SUCCESS;
}

static doca_error_t inspect_file(const struct options *options, bool check,
				 struct dpumap_error *error)
{
	const struct printer printer = {.json = options->given & OPTION_JSON,
					.show_secret = options->given & OPTION_SHOW_SECRET};
	struct content content = {.len = 0};
	doca_error_t result;

	result = load(options->args[0], &content, error);
	if (result == DOCA_SUCCESS)
		result = inspect(&printer, &content, check, options->args[0], error);
	explicit_bzero(&content, sizeof(content));
	return result;
}

doca_error_t desc_show(const struct options *options, struct dpumap_error *error)
{
	return inspect_file(options, false, error);
}

doca_error_t desc_check(const struct options *options, struct dpumap_error *error)
{
	return inspect_file(options, true, error);
}
