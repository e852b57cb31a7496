/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FW(a, b, c)    ((uint64_t)(a) << 32 | (uint64_t)(b) << 16 | (c))
#define LINE_MAX_      256
#define MAX_PD	       (1u << 19) /* 16 functions share 2^24 numbers */
#define MAX_LOG_STREAM 26	  /* the engine reads an input as a whole */
#define MAX_AH	       INT32_MAX  /* the kernel's, which counts none */

/*
 * NVIDIA does not publish the size of on-chip memory; 128 KiB is in the range that users report.
 * Device memory exists since ConnectX-5, sharing between functions since ConnectX-6 Dx, and a DMA
 * engine with MMO since BlueField-2, whose engines compress and decompress deflate; those of BlueField-3 decompress
 * deflate and LZ4. BlueField-2 refuses to share indirect mkeys (UCX, commit
 * a8c655658d); for ConnectX-6 Dx there is no report, and it shares them here. The numbers of objects
 * are the emulator's own. The length of a compressed session comes from published capabilities. Which
 * cards have processing hints (PCI's TPH) is not published: here only the newest does.
 */
#define ALL                                                                                      \
	.max_dm_size = 128 << 10, .max_session = EMU_MAX_SESSION, .max_pd = MAX_PD,              \
	.max_mr = EMU_NUM_MKEYS, .max_cq = EMU_NUM_CQS, .max_qp = EMU_NUM_QPS, .max_ah = MAX_AH, \
	.lanes = 4, .pcie_lanes = 16, .max_pkeys = 1, .max_gids = EMU_MAX_GIDS
#define CARD(name_, id, version) \
	.name = (name_), .pci_id = #id, .part_id = 0x##id, .fw_ver = (version), ALL
static const struct emu_profile profiles[] = {
	{CARD("bluefield-3", A2DC, FW(32, 43, 1014)), .log_max_dma_mmo = 21,
	 .log_max_decompress = 21, .decompress_newer = 1, .log_max_crypto = 21, .crossing = 1,
	 .crossing_indirect = 1, .tph = true, .lane_speed = 100, .pcie_speed = 32},
	{CARD("bluefield-2", A2D6, FW(24, 43, 1014)), .log_max_dma_mmo = 21, .log_max_compress = 21,
	 .log_max_decompress = 21, .crossing = 1, .lane_speed = 50, .pcie_speed = 16},
	{CARD("connectx-6-dx", 101D, FW(22, 43, 1014)), .crossing = 1, .crossing_indirect = 1,
	 .lane_speed = 50, .pcie_speed = 16},
	{CARD("connectx-5", 1017, FW(16, 35, 4030)), .lane_speed = 25, .pcie_speed = 8},
};

static const struct {
	uint32_t speed;
	uint8_t code;
	const char *name;
} speeds[] = {
	{10, 8, "FDR10"}, {14, 16, "FDR"}, {25, 32, "EDR"}, {50, 64, "HDR"}, {100, 128, "NDR"}};

uint8_t emu_speed_code(uint32_t lane_speed)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].speed == lane_speed)
			return speeds[i].code;
	return 0;
}

const char *emu_speed_name(uint32_t lane_speed)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].speed == lane_speed)
			return speeds[i].name;
	return "";
}

uint8_t emu_width_code(uint32_t lanes)
{
	static const uint8_t codes[] = {[1] = 1, [2] = 16, [4] = 2, [8] = 4, [12] = 8};

	return lanes < sizeof(codes) ? codes[lanes] : 0;
}

/* linux/pci_regs.h, PCI_EXP_LNKCAP_SLS_*. */
uint8_t emu_pcie_speed_code(uint32_t pcie_speed)
{
	static const uint8_t codes[] = {[5] = 2, [8] = 3, [16] = 4, [32] = 5, [64] = 6};

	return pcie_speed < sizeof(codes) ? codes[pcie_speed] : 0;
}

static bool is_pcie_speed(uint32_t v)
{
	return emu_pcie_speed_code(v) != 0;
}

static bool is_pcie_width(uint32_t v)
{
	return !(v & (v - 1));
}

static bool is_speed(uint32_t v)
{
	return emu_speed_code(v) != 0;
}

static bool is_width(uint32_t v)
{
	return emu_width_code(v) != 0;
}

/* On-chip memory has at most half of a card's share of the segment, as its BAR is twice as large. */
static const struct cap {
	const char *name;
	size_t offset;
	uint32_t min, max;
	const char *what;
	bool (*is_valid)(uint32_t v); /* NULL: every number in the range */
} caps[] = {
#define CAP(name, field, min, max, what)                                        \
	{                                                                       \
		name, offsetof(struct emu_profile, field), min, max, what, NULL \
	}
	CAP("max-dm-size", max_dm_size, 0, EMU_DM_STRIDE / 2, "bytes of device memory; 0: none"),
	CAP("log-max-dma-mmo", log_max_dma_mmo, 0, 31, "log2 of the longest MMO copy; 0: no MMO"),
	CAP("log-max-compress", log_max_compress, 0, MAX_LOG_STREAM,
	    "log2 of the longest input to compress (deflate); 0: no compression"),
	CAP("log-max-decompress", log_max_decompress, 0, MAX_LOG_STREAM,
	    "log2 of the longest input to decompress; 0: no decompression"),
	CAP("decompress-v2", decompress_newer, 0, 1,
	    "decompression of LZ4 too, with the results of BlueField-3"),
	CAP("log-max-crypto", log_max_crypto, 0, MAX_LOG_STREAM,
	    "log2 of the longest input to encrypt or decrypt (AES-GCM); 0: no encryption"),
	CAP("cross-vhca", crossing, 0, 1, "mkeys can be shared between functions"),
	CAP("cross-vhca-indirect", crossing_indirect, 0, 1,
	    "indirect mkeys (KLM, KSM) can be shared too"),
	CAP("cqe-compression", max_session, 0, EMU_MAX_SESSION,
	    "longest compressed session, in completions; 0: no compression"),
	CAP("max-pd", max_pd, 1, MAX_PD, "protection domains per function"),
	CAP("max-mr", max_mr, 1, EMU_NUM_MKEYS,
	    "registrations, windows, mkeys and aliases per function"),
	CAP("max-cq", max_cq, 1, EMU_NUM_CQS, "completion queues per function"),
	CAP("max-qp", max_qp, 1, EMU_NUM_QPS, "queue pairs per function"),
	CAP("max-ah", max_ah, 1, MAX_AH, "address handles per function"),
	{"port-speed", offsetof(struct emu_profile, lane_speed), 10, 100,
	 "Gb/s of each lane of the port: 10, 14, 25, 50 or 100", is_speed},
	{"port-width", offsetof(struct emu_profile, lanes), 1, 12,
	 "lanes of the port: 1, 2, 4, 8 or 12", is_width},
	{"pcie-speed", offsetof(struct emu_profile, pcie_speed), 5, 64,
	 "GT/s of each lane of PCI Express: 5, 8, 16, 32 or 64", is_pcie_speed},
	{"pcie-width", offsetof(struct emu_profile, pcie_lanes), 1, 16,
	 "lanes of PCI Express: 1, 2, 4, 8 or 16", is_pcie_width},
	CAP("max-pkey", max_pkeys, 1, EMU_MAX_PKEYS, "entries of a port's P_Key table"),
	CAP("max-gid", max_gids, 4, EMU_MAX_GIDS, "entries of a port's GID table"),
	CAP("memlock", memlock, 0, 1, "1: registered memory counts against RLIMIT_MEMLOCK"),
#undef CAP
};

/* What a machine has, whatever its cards are. */
static const struct number {
	const char *name;
	size_t offset;
	uint32_t min, max;
	const char *wrong;
} numbers[] = {
	{"cards", offsetof(struct emu_node_spec, cards), 1, EMU_MAX_CARDS,
	 "a machine has 1 to 8 cards"},
	{"numa-nodes", offsetof(struct emu_node_spec, numa_nodes), 0, EMU_MAX_NUMA_NODES,
	 "a machine has up to 4 NUMA nodes; 0: they are not emulated"},
	{"cards-per-switch", offsetof(struct emu_node_spec, cards_per_switch), 0, EMU_MAX_CARDS,
	 "a switch has up to 8 cards behind it; 0: there is none"},
};

static uint32_t *field(struct emu_profile *p, const struct cap *c)
{
	return (uint32_t *)((char *)p + c->offset);
}

static uint32_t value_of(const struct emu_profile *p, const struct cap *c)
{
	return *(const uint32_t *)((const char *)p + c->offset);
}

static uint32_t *number_of(struct emu_node_spec *n, const struct number *of)
{
	return (uint32_t *)((char *)n + of->offset);
}

const struct emu_profile *emu_profile_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

bool emu_profile_has_engines(const struct emu_profile *p)
{
	return p->log_max_dma_mmo || p->log_max_compress || p->log_max_decompress ||
	       p->log_max_crypto;
}

struct emu_mmo emu_profile_engines(const struct emu_profile *p)
{
	return (struct emu_mmo){
		.log_copy = (uint8_t)p->log_max_dma_mmo,
		.log_compress = (uint8_t)p->log_max_compress,
		.log_decompress = (uint8_t)p->log_max_decompress,
		.newer = (uint8_t)p->decompress_newer,
		.log_crypto = (uint8_t)p->log_max_crypto,
	};
}

void emu_topology_default(struct emu_topology_spec *t)
{
	memset(t, 0, sizeof(*t));
	t->nnodes = 1;
	t->node[0].cards = 1;
	t->node[0].profile = profiles[0];
}

/* Parse a decimal number with an optional suffix K or M. */
static bool parse_value(const char *text, uint64_t *v)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*v = strtoull(text, &end, 10);
	if (errno || *v > UINT32_MAX)
		return false;
	if (*end == 'K' || *end == 'M')
		*v <<= *end++ == 'K' ? 10 : 20;
	return !*end && *v <= UINT32_MAX;
}

static bool has_caps_of(const struct emu_profile *a, const struct emu_profile *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (value_of(a, &caps[i]) != value_of(b, &caps[i]))
			return false;
	return true;
}

static const char *set_profile(struct emu_node_spec *n, const char *name)
{
	const struct emu_profile *p = emu_profile_find(name);

	if (!p)
		return "unknown profile";
	if (!has_caps_of(&n->profile, emu_profile_find(n->profile.name)))
		return "set the profile before changing capabilities";
	n->profile = *p;
	return NULL;
}

const char *emu_node_set(struct emu_node_spec *n, const char *name, const char *value)
{
	uint64_t v;

	if (!strcmp(name, "profile"))
		return set_profile(n, value);
	if (!parse_value(value, &v))
		return "not a number";
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(numbers[i].name, name) != 0)
			continue;
		if (v < numbers[i].min || v > numbers[i].max)
			return numbers[i].wrong;
		*number_of(n, &numbers[i]) = (uint32_t)v;
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		if (strcmp(caps[i].name, name) != 0)
			continue;
		if (v < caps[i].min || v > caps[i].max ||
		    (caps[i].is_valid && !caps[i].is_valid((uint32_t)v)))
			return "value out of range; see `dpumap-emu caps'";
		*field(&n->profile, &caps[i]) = (uint32_t)v;
		return NULL;
	}
	return "unknown capability; see `dpumap-emu caps'";
}

void emu_node_format(const struct emu_node_spec *n, char text[static EMU_NODE_TEXT])
{
	const struct emu_profile *plain = emu_profile_find(n->profile.name);
	size_t len;

	len = (size_t)snprintf(text, EMU_NODE_TEXT, "%s,cards=%u,numa-nodes=%u,cards-per-switch=%u",
			       n->profile.name, n->cards, n->numa_nodes, n->cards_per_switch);
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (value_of(&n->profile, &caps[i]) != value_of(plain, &caps[i]))
			len += (size_t)snprintf(text + len, EMU_NODE_TEXT - len, ",%s=%u",
						caps[i].name, value_of(&n->profile, &caps[i]));
}

/* Split "NAME = VALUE" in place. False if the text does not have that form. */
static bool split(char *text, char **name, char **value)
{
	static const char blank[] = " \t\r\n";
	char *eq = strchr(text, '='), *end;

	if (!eq)
		return false;
	*eq = '\0';
	*name = text + strspn(text, blank);
	(*name)[strcspn(*name, blank)] = '\0';
	*value = eq + 1 + strspn(eq + 1, blank);
	end = *value + strlen(*value);
	while (end > *value && strchr(blank, end[-1]))
		*--end = '\0';
	return **name && **value;
}

static const char *set_pair(struct emu_node_spec *n, char *pair)
{
	char *name, *value;

	return split(pair, &name, &value) ? emu_node_set(n, name, value) : "not NAME=VALUE";
}

const char *emu_node_parse(const char *text, struct emu_node_spec *n)
{
	char copy[EMU_NODE_TEXT], *save = NULL, *word;
	const struct emu_profile *p;
	const char *wrong = NULL;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return "too long";
	word = strtok_r(copy, ",", &save);
	p = word ? emu_profile_find(word) : NULL;
	if (!p)
		return "unknown profile";
	*n = (struct emu_node_spec){.profile = *p, .cards = 1};
	while (!wrong && (word = strtok_r(NULL, ",", &save)))
		wrong = set_pair(n, word);
	return wrong;
}

const char *emu_topology_repeat(struct emu_topology_spec *t, unsigned int nnodes)
{
	if (nnodes < 1 || nnodes > EMU_MAX_NODES)
		return "the number of machines must be 1 to 8";
	for (unsigned int i = t->nnodes; i < nnodes; i++)
		t->node[i] = t->node[0];
	t->nnodes = nnodes;
	return NULL;
}

const char *emu_topology_add_gid(struct emu_topology_spec *t, const char *text)
{
	if (t->ngids == EMU_MAX_GID_LINES)
		return "too many GIDs";
	if (snprintf(t->gid[t->ngids], EMU_GID_TEXT, "%s", text) >= EMU_GID_TEXT)
		return "too long";
	t->ngids++;
	return NULL;
}

const char *emu_topology_add_wire(struct emu_topology_spec *t, const char *text)
{
	if (t->nwires == EMU_MAX_ENDPOINTS)
		return "too many addresses";
	if (snprintf(t->wire[t->nwires], EMU_WIRE_TEXT, "%s", text) >= EMU_WIRE_TEXT)
		return "too long";
	t->nwires++;
	return NULL;
}

const char *emu_topology_check(const struct emu_topology_spec *t)
{
	unsigned int i, cards = 0;

	for (i = 0; i < t->nnodes; i++)
		cards += t->node[i].cards;
	return cards > EMU_MAX_CARDS ? "all machines together can have at most 8 cards" : NULL;
}

/*
 * Lines of NAME = VALUE. "[node]" begins the next node; lines before the first "[node]" are the
 * defaults of all nodes. "nodes = N" there makes N equal nodes.
 */
struct reader {
	struct emu_topology_spec *t;
	struct emu_node_spec common;
	struct emu_node_spec *node; /* the node that the lines set */
	unsigned int repeat;
};

static const char *read_nodes(struct reader *r, const char *value)
{
	uint64_t v;

	if (r->node != &r->common || !parse_value(value, &v) || v < 1 || v > EMU_MAX_NODES)
		return "nodes must be 1 to 8, and stand before any [node]";
	r->repeat = (unsigned int)v;
	return NULL;
}

static const char *read_line(struct reader *r, char *line)
{
	char *name, *value;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	if (!*line)
		return NULL;
	if (!strncmp(line, "[node]", 6)) {
		if (r->repeat)
			return "use either nodes = N or [node]";
		if (r->t->nnodes == EMU_MAX_NODES)
			return "the number of machines must be 1 to 8";
		r->node = &r->t->node[r->t->nnodes++];
		*r->node = r->common;
		return line[6 + strspn(line + 6, " \t")] ? "unexpected text after [node]" : NULL;
	}
	if (!split(line, &name, &value))
		return "not NAME = VALUE";
	if (!strcmp(name, "nodes"))
		return read_nodes(r, value);
	if (!strcmp(name, "gid"))
		return emu_topology_add_gid(r->t, value);
	if (!strcmp(name, "wire"))
		return emu_topology_add_wire(r->t, value);
	return emu_node_set(r->node, name, value);
}

const char *emu_topology_read(FILE *in, struct emu_topology_spec *t, unsigned int *at)
{
	struct reader r = {.t = t};
	char line[LINE_MAX_];
	const char *wrong;

	emu_topology_default(t);
	r.common = t->node[0];
	r.node = &r.common;
	t->nnodes = 0;
	for (*at = 1; fgets(line, sizeof(line), in); ++*at) {
		wrong = !strchr(line, '\n') && !feof(in) ? "line too long, or with a NUL byte"
							 : read_line(&r, line);
		if (wrong)
			return wrong;
	}
	*at = 0;
	if (ferror(in))
		return "read error";
	if (t->nnodes)
		return emu_topology_check(t);
	t->node[0] = r.common;
	t->nnodes = 1;
	wrong = emu_topology_repeat(t, r.repeat ? r.repeat : 1);
	return wrong ? wrong : emu_topology_check(t);
}

void emu_profile_names(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		fprintf(out, "%s%s", i ? ", " : "", profiles[i].name);
}

void emu_caps_print(FILE *out)
{
	fprintf(out, "%-19s", "capability");
	for (size_t j = 0; j < ARRAY_SIZE(profiles); j++)
		fprintf(out, " %13s", profiles[j].name);
	fputs("  range\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		fprintf(out, "%-19s", caps[i].name);
		for (size_t j = 0; j < ARRAY_SIZE(profiles); j++)
			fprintf(out, " %13u", value_of(&profiles[j], &caps[i]));
		fprintf(out, "  %u to %u\n", caps[i].min, caps[i].max);
	}
	fputc('\n', out);
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		fprintf(out, "%-19s %s\n", caps[i].name, caps[i].what);
}
