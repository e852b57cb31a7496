/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/spec/export_spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "channel/tls.h"
#include "common/size.h"

#define MAX_NODE UINT16_MAX

static const char *const kind_names[EXPORT_KINDS] = {
	[EXPORT_DEVICE_MEMORY] = "dm",
	[EXPORT_DRAM] = "dram",
	[EXPORT_FILE] = "file",
	[EXPORT_DMABUF] = "dmabuf",
};

static const char *const via_names[EXPORT_VIAS] = {
	[EXPORT_VIA_PCI] = "pci",
	[EXPORT_VIA_RDMA] = "rdma",
};

const char *export_via_name(enum export_via via)
{
	return via_names[via];
}

const char *export_kind_name(enum export_kind kind)
{
	return kind_names[kind];
}

void export_spec_init(struct export_spec *spec)
{
	*spec = (struct export_spec){.kind = EXPORT_KINDS, .writable = true, .fd = -1};
}

void export_spec_free(struct export_spec *spec)
{
	export_peers_free(spec->allow);
	export_labels_free(&spec->labels);
	free(spec->name);
	free(spec->path);
	if (spec->fd >= 0)
		close(spec->fd);
	export_spec_init(spec);
}

static const char *name_of(const struct export_spec *spec)
{
	return spec->name ? spec->name : "without a name";
}

static doca_error_t no_memory(const struct export_spec *spec, struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for export %s",
				name_of(spec));
}

static doca_error_t invalid(struct dpumap_error *error, const struct export_spec *spec,
			    const char *what, const char *value)
{
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "export %s: %s, not \"%s\"",
				name_of(spec), what, value);
}

/* --- keys ------------------------------------------------------------------------------------- */

typedef doca_error_t set_fn(struct export_spec *spec, const char *value,
			    struct dpumap_error *error);

static doca_error_t set_text(const struct export_spec *spec, char **text, const char *value,
			     struct dpumap_error *error)
{
	char *copy = strdup(value);

	if (!copy)
		return no_memory(spec, error);
	free(*text);
	*text = copy;
	return DOCA_SUCCESS;
}

static doca_error_t set_name(struct export_spec *spec, const char *value,
			     struct dpumap_error *error)
{
	if (!dpumap_export_name_valid(value))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"\"%s\" is not a valid export name: use 1 to 63 of A-Z a-z "
					"0-9 . _ -, beginning with a letter or digit",
					value);
	return set_text(spec, &spec->name, value, error);
}

static doca_error_t set_kind(struct export_spec *spec, const char *value,
			     struct dpumap_error *error)
{
	for (enum export_kind kind = 0; kind < EXPORT_KINDS; kind++) {
		if (strcmp(value, kind_names[kind]) == 0) {
			spec->kind = kind;
			return DOCA_SUCCESS;
		}
	}
	return invalid(error, spec, "kind must be dm, dram, file or dmabuf", value);
}

static doca_error_t set_via(struct export_spec *spec, const char *value, struct dpumap_error *error)
{
	for (enum export_via via = 0; via < EXPORT_VIAS; via++) {
		if (strcmp(value, via_names[via]) == 0) {
			spec->via = via;
			return DOCA_SUCCESS;
		}
	}
	return invalid(error, spec, "via must be pci or rdma", value);
}

static doca_error_t set_size(struct export_spec *spec, const char *value,
			     struct dpumap_error *error)
{
	if (strcmp(value, "max") == 0) {
		spec->size = EXPORT_SIZE_MAX;
		return DOCA_SUCCESS;
	}
	if (!dpumap_size_parse(value, &spec->size) || spec->size == 0 ||
	    spec->size == EXPORT_SIZE_MAX)
		return invalid(error, spec, "size must be a number of bytes", value);
	return DOCA_SUCCESS;
}

static doca_error_t set_perm(struct export_spec *spec, const char *value,
			     struct dpumap_error *error)
{
	if (strcmp(value, "rw") != 0 && strcmp(value, "ro") != 0)
		return invalid(error, spec, "perm must be rw or ro", value);
	spec->writable = strcmp(value, "rw") == 0;
	return DOCA_SUCCESS;
}

static bool parse_power(const char *value, uint64_t *power)
{
	return dpumap_size_parse(value, power) && *power > 1 && !(*power & (*power - 1));
}

static doca_error_t set_align(struct export_spec *spec, const char *value,
			      struct dpumap_error *error)
{
	uint64_t align;

	if (!parse_power(value, &align))
		return invalid(error, spec, "align must be a power of two", value);
	spec->log_align = (uint8_t)__builtin_ctzll(align);
	return DOCA_SUCCESS;
}

static doca_error_t set_pages(struct export_spec *spec, const char *value,
			      struct dpumap_error *error)
{
	uint64_t size = 1;

	spec->on_huge_pages = strcmp(value, "usual") != 0;
	if (spec->on_huge_pages && strcmp(value, "huge") != 0 && !parse_power(value, &size))
		return invalid(error, spec, "pages must be usual, huge or the size of huge pages",
			       value);
	spec->log_page_size = (uint8_t)__builtin_ctzll(size);
	return DOCA_SUCCESS;
}

static doca_error_t set_node(struct export_spec *spec, const char *value,
			     struct dpumap_error *error)
{
	uint64_t node;

	if (!dpumap_number_parse(value, MAX_NODE, &node))
		return invalid(error, spec, "node must be a number up to 65535", value);
	spec->on_node = true;
	spec->node = (uint16_t)node;
	return DOCA_SUCCESS;
}

static doca_error_t set_path(struct export_spec *spec, const char *value,
			     struct dpumap_error *error)
{
	if (value[0] != '/')
		return invalid(error, spec, "path must be absolute", value);
	return set_text(spec, &spec->path, value, error);
}

static doca_error_t set_fd(struct export_spec *spec, const char *value, struct dpumap_error *error)
{
	uint64_t fd;

	if (!dpumap_number_parse(value, INT_MAX, &fd))
		return invalid(error, spec, "fd must be a number", value);
	spec->fd = (int)fd;
	return DOCA_SUCCESS;
}

bool export_spec_is_peer(const char *text)
{
	return strcmp(text, "*") == 0 || strncmp(text, "cert:", 5) == 0 ||
	       strncmp(text, "psk:", 4) == 0 || strncmp(text, "uid:", 4) == 0;
}

static doca_error_t add_allow(struct export_spec *spec, const char *value,
			      struct dpumap_error *error)
{
	if (!export_spec_is_peer(value) || strlen(value) >= DPUMAP_PEER_NAME_MAX)
		return invalid(error, spec, "allow must be cert:NAME, psk:NAME, uid:NUMBER or *",
			       value);
	return export_peers_add(&spec->allow, value, error);
}

static doca_error_t add_label(struct export_spec *spec, const char *value,
			      struct dpumap_error *error)
{
	struct dpumap_error why = {0};
	doca_error_t result = export_labels_add(&spec->labels, value, &why);

	if (result == DOCA_SUCCESS)
		return result;
	return dpumap_error_set(error, result, "export %s: %.240s", name_of(spec), why.text);
}

static const struct {
	const char *key;
	set_fn *set;
} parts[] = {
	{"name", set_name},   {"kind", set_kind},   {"size", set_size}, {"perm", set_perm},
	{"align", set_align}, {"pages", set_pages}, {"node", set_node}, {"path", set_path},
	{"fd", set_fd},	      {"allow", add_allow}, {"via", set_via},	{"label", add_label},
};

doca_error_t export_spec_set(struct export_spec *spec, const char *key, const char *value,
			     struct dpumap_error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcmp(key, parts[i].key) == 0)
			return parts[i].set(spec, value, error);
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "unknown export key \"%s\"", key);
}

/* --- complete specs --------------------------------------------------------------------------- */

static const char *contradiction(const struct export_spec *spec)
{
	bool is_ram = spec->kind == EXPORT_DRAM;
	bool is_file = spec->kind == EXPORT_FILE;
	bool is_dmabuf = spec->kind == EXPORT_DMABUF;

	if (spec->kind == EXPORT_KINDS)
		return "kind is missing";
	if (!spec->size)
		return "size is missing";
	if (spec->log_align && spec->kind != EXPORT_DEVICE_MEMORY)
		return "align is valid only for kind dm";
	if ((spec->on_huge_pages || spec->on_node) && !is_ram)
		return "pages and node are valid only for kind dram";
	if (spec->on_huge_pages && spec->on_node)
		return "pages and node cannot be combined";
	if (is_ram && spec->size == EXPORT_SIZE_MAX)
		return "size max is not valid for kind dram";
	if (spec->path && !is_file && !is_dmabuf)
		return "path is valid only for kinds file and dmabuf";
	if (spec->fd >= 0 && !is_dmabuf)
		return "fd is valid only for kind dmabuf";
	if (is_file && !spec->path)
		return "kind file needs path";
	if (is_dmabuf && !spec->path == (spec->fd < 0))
		return "kind dmabuf needs either path (of a heap) or fd";
	if (is_dmabuf && spec->path && spec->size == EXPORT_SIZE_MAX)
		return "size max is not valid for memory from a heap";
	return NULL;
}

doca_error_t export_spec_check(const struct export_spec *spec, struct dpumap_error *error)
{
	const char *why = contradiction(spec);

	if (!spec->name)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "an export has no name");
	if (why)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "export %s: %s",
					spec->name, why);
	return DOCA_SUCCESS;
}

static bool may_be_repeated(const char *item)
{
	return strncmp(item, "allow=", 6) == 0 || strncmp(item, "label=", 6) == 0;
}

/* allow and label may be repeated. The name is set first, whatever the order, so that errors contain it. */
static doca_error_t check_parts(char *const *items, size_t num, struct dpumap_error *error)
{
	for (size_t i = 0; i < num; i++) {
		size_t len = strcspn(items[i], "=");

		if (items[i][len] != '=')
			return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
						"\"%s\" is not KEY=VALUE", items[i]);
		for (size_t j = 0; j < i; j++)
			if (strncmp(items[i], items[j], len + 1) == 0 && !may_be_repeated(items[i]))
				return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
							"%.*s= is given twice", (int)len, items[i]);
	}
	return DOCA_SUCCESS;
}

static doca_error_t set_parts(struct export_spec *spec, char *const *items, size_t num,
			      bool is_name, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	char key[16];

	for (size_t i = 0; i < num && result == DOCA_SUCCESS; i++) {
		size_t len = strcspn(items[i], "=");

		if ((strncmp(items[i], "name=", 5) == 0) != is_name)
			continue;
		memset(key, 0, sizeof(key));
		memcpy(key, items[i], len < sizeof(key) ? len : sizeof(key) - 1);
		result = export_spec_set(spec, key, items[i] + len + 1, error);
	}
	return result;
}

#define PARTS_MAX 256

static doca_error_t parse_items(struct export_spec *spec, char *text, struct dpumap_error *error)
{
	char *items[PARTS_MAX], *save = NULL;
	size_t num = 0;
	doca_error_t result;

	for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		if (num == PARTS_MAX)
			return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
						"an export has at most %d KEY=VALUE parts",
						PARTS_MAX);
		items[num++] = item;
	}
	result = check_parts(items, num, error);
	if (result == DOCA_SUCCESS)
		result = set_parts(spec, items, num, true, error);
	if (result == DOCA_SUCCESS)
		result = set_parts(spec, items, num, false, error);
	if (result == DOCA_SUCCESS)
		result = export_spec_check(spec, error);
	return result;
}

doca_error_t export_spec_parse(const char *text, struct export_spec *spec,
			       struct dpumap_error *error)
{
	char *copy = strdup(text);
	doca_error_t result;

	export_spec_init(spec);
	if (!copy)
		return no_memory(spec, error);
	result = parse_items(spec, copy, error);
	free(copy);
	if (result != DOCA_SUCCESS) {
		spec->fd = -1; /* not owned yet */
		export_spec_free(spec);
	}
	return result;
}

doca_error_t export_spec_copy(struct export_spec *copy, const struct export_spec *spec,
			      struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	*copy = *spec;
	copy->name = NULL;
	copy->path = NULL;
	copy->allow = export_peers_share(spec->allow);
	copy->labels = (struct export_labels){0};
	copy->fd = spec->fd < 0 ? -1 : dup(spec->fd);
	if (spec->fd >= 0 && copy->fd < 0)
		result = no_memory(spec, error);
	if (result == DOCA_SUCCESS)
		result = set_text(spec, &copy->name, spec->name, error);
	if (result == DOCA_SUCCESS && spec->path)
		result = set_text(spec, &copy->path, spec->path, error);
	if (result == DOCA_SUCCESS)
		result = export_labels_copy(&copy->labels, &spec->labels, error);
	if (result != DOCA_SUCCESS)
		export_spec_free(copy);
	return result;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void export_spec_share_peers(struct export_spec *spec, const struct export_spec *other)
{
	if (!export_peers_are_equal(spec->allow, other->allow))
		return;
	export_peers_free(spec->allow);
	spec->allow = export_peers_share(other->allow);
}

bool export_spec_is_equal(const struct export_spec *a, const struct export_spec *b)
{
	return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->via == b->via &&
	       a->size == b->size && a->writable == b->writable && a->log_align == b->log_align &&
	       a->on_huge_pages == b->on_huge_pages && a->log_page_size == b->log_page_size &&
	       a->on_node == b->on_node && a->node == b->node && is_same_text(a->path, b->path) &&
	       a->fd == b->fd && export_peers_are_equal(a->allow, b->allow);
}

bool export_spec_allows(const struct export_spec *spec, const char *peer)
{
	return export_peers_have(spec->allow, "*") || export_peers_have(spec->allow, peer);
}

bool export_spec_takes_rights(const struct export_spec *spec, const struct export_spec *old)
{
	const char *peer = NULL;

	while ((peer = export_peers_next(old->allow, peer)))
		if (!export_spec_allows(spec, peer))
			return true;
	return old->writable && !spec->writable;
}

bool export_spec_allows_others(const struct export_spec *spec)
{
	char own[DPUMAP_PEER_NAME_MAX];
	const char *peer = NULL;

	snprintf(own, sizeof(own), "uid:%u", geteuid());
	while ((peer = export_peers_next(spec->allow, peer)))
		if (strcmp(peer, "*") == 0 ||
		    (strncmp(peer, "uid:", 4) == 0 && strcmp(peer, "uid:0") != 0 &&
		     strcmp(peer, own) != 0))
			return true;
	return false;
}
