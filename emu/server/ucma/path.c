/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/path.h"

#include <arpa/inet.h>
#include <string.h>

/* Bytes of a record; the service ID before the GIDs is 0. */
#define AT_DGID	   8
#define AT_SGID	   24
#define AT_FLOW	   44 /* 4 bits, flow label of 20 bits, hop limit of 8 bits */
#define AT_CLASS   48
#define AT_REVERSE 49
#define AT_PKEY	   50
#define AT_SL	   52
#define AT_MTU	   54
#define AT_RATE	   55
#define AT_LIFE	   56
#define REVERSIBLE 0x80u
#define SELECT(v)  (uint8_t)(EMU_PATH_EQUAL << 6 | ((v)&0x3fu))
#define FLOW_MASK  0xfffffu
#define VALUE_MASK 0x3fu

void emu_cma_pack_path(const struct emu_cm_path *p, uint8_t record[static EMU_PATH_RECORD])
{
	uint32_t flow = htonl((p->flow_label & FLOW_MASK) << 8 | p->hop_limit);
	uint16_t pkey = htons(p->pkey), sl = htons(p->sl & 0xfu);

	memset(record, 0, EMU_PATH_RECORD);
	memcpy(record + AT_DGID, p->dgid, sizeof(p->dgid));
	memcpy(record + AT_SGID, p->sgid, sizeof(p->sgid));
	memcpy(record + AT_FLOW, &flow, sizeof(flow));
	record[AT_CLASS] = p->traffic_class;
	record[AT_REVERSE] = REVERSIBLE;
	memcpy(record + AT_PKEY, &pkey, sizeof(pkey));
	memcpy(record + AT_SL, &sl, sizeof(sl));
	record[AT_MTU] = SELECT(p->mtu);
	record[AT_RATE] = SELECT(p->rate);
	record[AT_LIFE] = SELECT(p->packet_life_time);
}

void emu_cma_unpack_path(const uint8_t record[static EMU_PATH_RECORD], struct emu_cm_path *p)
{
	uint16_t pkey, sl;
	uint32_t flow;

	memcpy(&flow, record + AT_FLOW, sizeof(flow));
	memcpy(&pkey, record + AT_PKEY, sizeof(pkey));
	memcpy(&sl, record + AT_SL, sizeof(sl));
	memcpy(p->dgid, record + AT_DGID, sizeof(p->dgid));
	memcpy(p->sgid, record + AT_SGID, sizeof(p->sgid));
	p->flow_label = ntohl(flow) >> 8 & FLOW_MASK;
	p->hop_limit = (uint8_t)ntohl(flow);
	p->traffic_class = record[AT_CLASS];
	p->pkey = ntohs(pkey);
	p->sl = ntohs(sl) & 0xf;
	p->mtu = record[AT_MTU] & VALUE_MASK;
	p->rate = record[AT_RATE] & VALUE_MASK;
	p->packet_life_time = record[AT_LIFE] & VALUE_MASK;
}
