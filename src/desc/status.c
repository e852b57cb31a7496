/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <dpumap/desc.h>
#include <string.h>

/* In the order of their numbers. docs/wire-format.md has the same texts. */
#define STATUSES(X)                                        \
	X(NULL, "a required pointer is NULL")              \
	X(BUFFER, "output buffer is too small")            \
	X(TOO_SHORT, "fewer bytes than a header")          \
	X(TOO_LONG, "longer than any descriptor")          \
	X(MAGIC, "not a descriptor")                       \
	X(VERSION, "major version not supported")          \
	X(TRUNCATED, "fewer bytes than the total length")  \
	X(TRAILING, "more bytes than the total length")    \
	X(CHECKSUM, "damaged: the checksum differs")       \
	X(KIND, "kind not supported")                      \
	X(BODY, "too short for the fields of its kind")    \
	X(SOURCE, "source not supported")                  \
	X(VHCA_ID, "vhca_id is reserved")                  \
	X(ACCESS_BITS, "undefined access bits")            \
	X(ACCESS_BOTH, "PCI read-only and PCI read-write") \
	X(ACCESS_NONE, "no access permitted for its kind") \
	X(DEVICE_GUID, "device GUID is zero")              \
	X(MKEY, "mkey is zero")                            \
	X(LEN, "range is empty")                           \
	X(RANGE, "range exceeds 64 bits")                  \
	X(ACCESS_KEY, "access key is all zero")            \
	X(LINK_LAYER, "link layer not supported")          \
	X(LID, "LID does not fit the link layer")          \
	X(GID, "GID does not fit the link layer")          \
	X(START, "registered range exceeds 64 bits")       \
	X(PDN, "protection domain has more than 24 bits")  \
	X(UMEM_FORM, "form of the token not supported")    \
	X(TOKEN_LEN, "wrong length of the token")          \
	X(TOKEN, "bytes after the token are not zero")     \
	X(TLV, "extension does not fit")                   \
	X(TLV_NUMBER, "extension has number 0")            \
	X(TLV_REPEATED, "extension occurs twice")          \
	X(TLV_ORDER, "extensions are out of order")        \
	X(TLV_CRITICAL, "unknown critical extension")      \
	X(OP, "not an operation")                          \
	X(DENIED, "operation not permitted")               \
	X(ALIGNMENT, "atomic needs 8 aligned bytes")       \
	X(OUTSIDE, "outside of the range")

#define POSITION(name, text) AT_##name,
#define NAME(name, text)     #name "\0"
#define TEXT(name, text)     text "\0"
#define CHECK(name, text)    _Static_assert(-(AT_##name) == DPUMAP_DESC_ERR_##name, "order");

enum { AT_OK, STATUSES(POSITION) NUM_STATUSES };

STATUSES(CHECK)

/* Concatenated strings: a table of pointers would be as large as the names. */
static const char names[] = "OK\0" STATUSES(NAME) "UNKNOWN";
static const char texts[] = "success\0" STATUSES(TEXT) "unknown descriptor status";

static const char *find(const char *strings, dpumap_desc_status_t status)
{
	const dpumap_desc_status_t known =
		status <= 0 && status > -NUM_STATUSES ? status : -NUM_STATUSES;

	for (dpumap_desc_status_t s = known; s < 0; s++)
		strings += strlen(strings) + 1;
	return strings;
}

const char *dpumap_desc_status_name(dpumap_desc_status_t status)
{
	return find(names, status);
}

const char *dpumap_desc_status_descr(dpumap_desc_status_t status)
{
	return find(texts, status);
}
