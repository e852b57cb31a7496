/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

struct line {
	char key[16];
	char value[128];
};

static bool copy(char *dst, size_t size, const char *src, size_t len)
{
	if (len >= size)
		return false;
	memcpy(dst, src, len);
	dst[len] = '\0';
	return true;
}

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

static const char *after_line(const char *text)
{
	text += line_length(text);
	return *text ? text + 1 : text;
}

static bool is_blank(const char *text)
{
	return *text == '\n' || *text == '#' || *text == '\0';
}

/* "key: value" or "key:" */
static bool split(const char *text, struct line *line)
{
	size_t len = line_length(text);
	size_t key = strcspn(text, ":\n");
	size_t value = key + 2;

	if (key >= len)
		return false;
	if (value > len)
		value = len;
	return copy(line->key, sizeof(line->key), text, key) &&
	       copy(line->value, sizeof(line->value), text + value, len - value);
}

/* Append the hex bytes of text to out; false if they are invalid or do not fit. */
static bool read_hex(const char *text, uint8_t *out, size_t max, size_t *size)
{
	char *end;

	for (; *text; text = end + strspn(end, " ")) {
		unsigned long byte = strtoul(text, &end, 16);

		if (end != text + 2 || byte > 0xff || *size == max)
			return false;
		out[(*size)++] = (uint8_t)byte;
	}
	return true;
}

static bool read_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 16);
	return end != text && !*end && *number <= max;
}

static bool read_u16(const char *text, uint16_t *field)
{
	uint64_t number;

	if (!read_number(text, UINT16_MAX, &number))
		return false;
	*field = (uint16_t)number;
	return true;
}

static bool read_u32(const char *text, uint32_t *field)
{
	uint64_t number;

	if (!read_number(text, UINT32_MAX, &number))
		return false;
	*field = (uint32_t)number;
	return true;
}

static bool read_bytes(const char *text, uint8_t *bytes, size_t len)
{
	size_t size = 0;

	return read_hex(text, bytes, len, &size) && size == len;
}

static bool read_port(const struct line *line, struct dpumap_desc_port *p)
{
	if (!strcmp(line->key, "link_layer"))
		return read_u16(line->value, &p->link_layer);
	if (!strcmp(line->key, "lid"))
		return read_u16(line->value, &p->lid);
	return !strcmp(line->key, "gid") && read_bytes(line->value, p->gid, sizeof(p->gid));
}

static bool read_umem(const struct line *line, struct dpumap_desc_umem *u)
{
	if (!strcmp(line->key, "start"))
		return read_number(line->value, UINT64_MAX, &u->start);
	if (!strcmp(line->key, "pd_handle"))
		return read_u32(line->value, &u->pd_handle);
	if (!strcmp(line->key, "pdn"))
		return read_u32(line->value, &u->pdn);
	if (!strcmp(line->key, "form"))
		return read_u16(line->value, &u->form);
	if (!strcmp(line->key, "token_len"))
		return read_u16(line->value, &u->token_len);
	return !strcmp(line->key, "token") && read_bytes(line->value, u->token, sizeof(u->token));
}

static bool read_field(const struct line *line, struct dpumap_desc *d)
{
	if (!strcmp(line->key, "kind"))
		return read_u16(line->value, &d->kind);
	if (!strcmp(line->key, "source"))
		return read_u16(line->value, &d->source);
	if (!strcmp(line->key, "vhca_id"))
		return read_u16(line->value, &d->vhca_id);
	if (!strcmp(line->key, "access"))
		return read_u32(line->value, &d->access);
	if (!strcmp(line->key, "device_guid"))
		return read_number(line->value, UINT64_MAX, &d->device_guid);
	if (!strcmp(line->key, "mkey"))
		return read_u32(line->value, &d->mkey);
	if (!strcmp(line->key, "addr"))
		return read_number(line->value, UINT64_MAX, &d->addr);
	if (!strcmp(line->key, "len"))
		return read_number(line->value, UINT64_MAX, &d->len);
	if (!strcmp(line->key, "access_key"))
		return read_bytes(line->value, d->access_key, sizeof(d->access_key));
	return read_port(line, &d->port) || read_umem(line, &d->umem);
}

static bool read_access(const struct line *line, struct desc_vector *v)
{
	if (!strcmp(line->key, "op")) {
		v->what = DESC_VECTOR_ACCESS;
		return read_u32(line->value, &v->op);
	}
	if (!strcmp(line->key, "first"))
		return read_number(line->value, UINT64_MAX, &v->first);
	return !strcmp(line->key, "count") && read_number(line->value, UINT64_MAX, &v->count);
}

static bool read_line(const struct line *line, struct desc_vector *v)
{
	if (!strcmp(line->key, "title"))
		return copy(v->title, sizeof(v->title), line->value, strlen(line->value));
	if (!strcmp(line->key, "status"))
		return copy(v->status, sizeof(v->status), line->value, strlen(line->value));
	if (!strcmp(line->key, "canonical"))
		return v->canonical = !strcmp(line->value, "yes");
	if (!strcmp(line->key, "hex")) {
		v->what = DESC_VECTOR_DECODE;
		return read_hex(line->value, v->bytes, sizeof(v->bytes), &v->size);
	}
	if (!strcmp(line->key, "byte"))
		return read_number(line->value, DPUMAP_DESC_MAX_SIZE, &v->offset);
	return read_field(line, &v->fields) || read_access(line, v);
}

enum desc_vector_result desc_vector_next(const char **text, struct desc_vector *v)
{
	struct line line;

	memset(v, 0, sizeof(*v));
	while (**text && is_blank(*text))
		*text = after_line(*text);
	if (!**text)
		return DESC_VECTOR_END;
	for (; !is_blank(*text); *text = after_line(*text)) {
		if (!split(*text, &line) || !read_line(&line, v))
			return DESC_VECTOR_MALFORMED;
	}
	return v->title[0] && v->status[0] ? DESC_VECTOR_READ : DESC_VECTOR_MALFORMED;
}

static bool same_umem(const struct dpumap_desc_umem *a, const struct dpumap_desc_umem *b)
{
	return a->start == b->start && a->pd_handle == b->pd_handle && a->pdn == b->pdn &&
	       a->form == b->form && a->token_len == b->token_len &&
	       !memcmp(a->token, b->token, sizeof(a->token));
}

static bool same_port(const struct dpumap_desc_port *a, const struct dpumap_desc_port *b)
{
	return a->link_layer == b->link_layer && a->lid == b->lid &&
	       !memcmp(a->gid, b->gid, sizeof(a->gid));
}

static bool same_own(const struct dpumap_desc *a, const struct dpumap_desc *b)
{
	switch (a->kind) {
	case DPUMAP_DESC_KIND_PCI:
		return !memcmp(a->access_key, b->access_key, sizeof(a->access_key));
	case DPUMAP_DESC_KIND_RDMA:
		return same_port(&a->port, &b->port);
	default:
		return same_umem(&a->umem, &b->umem);
	}
}

bool desc_vector_same(const struct dpumap_desc *a, const struct dpumap_desc *b)
{
	return a->kind == b->kind && a->source == b->source && a->access == b->access &&
	       a->device_guid == b->device_guid && a->vhca_id == b->vhca_id && a->mkey == b->mkey &&
	       a->addr == b->addr && a->len == b->len && same_own(a, b);
}

static bool is_zero(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	size_t i = 0;

	while (i < len && !at[i])
		i++;
	return i == len;
}

static bool is_named(dpumap_desc_status_t status, const char *name)
{
	return !strcmp(dpumap_desc_status_name(status), name);
}

static bool encodes(const struct desc_vector *v)
{
	uint8_t bytes[DPUMAP_DESC_MAX_SIZE] = {0};
	dpumap_desc_status_t status;
	size_t written = 0;

	status = dpumap_desc_encode(&v->fields, bytes, sizeof(bytes), &written);
	return is_named(status, v->status) &&
	       (!v->canonical || (written == v->size && !memcmp(bytes, v->bytes, written)));
}

/* After a refusal the output is all zeros. */
static bool decodes(const struct desc_vector *v)
{
	struct dpumap_desc d;
	dpumap_desc_status_t status;
	size_t offset = SIZE_MAX;

	memset(&d, 0xee, sizeof(d));
	status = dpumap_desc_decode(v->bytes, v->size, &d);
	if (!is_named(status, v->status) ||
	    dpumap_desc_diagnose(v->bytes, v->size, &offset) != status || offset != v->offset)
		return false;
	return status == DPUMAP_DESC_OK ? desc_vector_same(&d, &v->fields) : is_zero(&d, sizeof(d));
}

/* The check that needs no descriptor agrees, except for what it does not check. */
static bool accesses(const struct desc_vector *v)
{
	dpumap_desc_status_t status, part;
	struct dpumap_desc_window w;

	status = dpumap_desc_check_access(&v->fields, v->first, v->count, v->op);
	if (!is_named(status, v->status))
		return false;
	if (dpumap_desc_get_window(&v->fields, &w) != DPUMAP_DESC_OK ||
	    status == DPUMAP_DESC_ERR_OP || status == DPUMAP_DESC_ERR_ALIGNMENT)
		return true;
	part = dpumap_desc_window_check(&w, v->first, v->count, v->op);
	return part == status;
}

bool desc_vector_holds(const struct desc_vector *v)
{
	switch (v->what) {
	case DESC_VECTOR_DECODE:
		return decodes(v) && (!v->canonical || encodes(v));
	case DESC_VECTOR_ACCESS:
		return accesses(v);
	default:
		return encodes(v);
	}
}

bool desc_vector_is_fragile(const struct desc_vector *v)
{
	uint8_t bytes[DPUMAP_DESC_MAX_SIZE];
	bool good = true;
	struct dpumap_desc d;

	if (!v->canonical)
		return true;
	memcpy(bytes, v->bytes, v->size);
	for (size_t size = 0; size < v->size; size++)
		good = dpumap_desc_decode(bytes, size, &d) != DPUMAP_DESC_OK && good;
	for (size_t bit = 0; bit < 8 * v->size; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		good = dpumap_desc_decode(bytes, v->size, &d) != DPUMAP_DESC_OK && good;
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	return good;
}
