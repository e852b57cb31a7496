/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How many objects the shared tables have room for. */
#ifndef EMU_IPC_LIMITS_H
#define EMU_IPC_LIMITS_H

#include <stdint.h>

#define EMU_MAX_CARDS	  8
#define EMU_MAX_KLMS	  (4 * EMU_NUM_MKEYS) /* as many windows as mkeys; a window takes 4 */
#define EMU_MAX_FUNCS	  16		      /* two on each card */
#define EMU_MAX_GIDS	  256u		      /* of a port */
#define EMU_MAX_PKEYS	  128u
#define EMU_MAX_ENDPOINTS 32u /* of all ports */
#define EMU_WIRE_PORTS	  8u  /* sockets of an endpoint that only send, one port each */
#define EMU_MAX_ENGINES	  256u
#define EMU_MAX_SHARED	  1024u /* files whose pages are registered; 0 is not used */
#define EMU_MAX_SESSION	  64u	/* longest compressed session of a CQ */
#define EMU_DM_STRIDE	  (16ull << 20)
/* A virtual machine maps a card's memory by the place where its BAR would begin, which is a stride before. */
#define EMU_DM_OF_CARD(i) (((i) + 1) * EMU_DM_STRIDE)
#define EMU_DM_BYTES	  EMU_DM_OF_CARD(EMU_MAX_CARDS)
#define EMU_NO_ENGINE	  UINT32_MAX

/*
 * EMU_NUM_* is the number of entries, a power of two as devices report it. Entries are numbered
 * from EMU_FIRST_* to EMU_MAX_* - 1, as some numbers have a meaning: mkey 0, so that key 0 never
 * exists, and the reserved lkeys 0x100 and below 0x200; QPs 0 and 1, after which devices skip some
 * more; CQ 0, SRQ 0 and DEK 0 mean none.
 */
#define EMU_FIRST_MKEY 0x10u
#define EMU_NULL_LKEY  0x200u	  /* of every function and protection domain: ibv_alloc_null_mr() */
#define EMU_ANY_PD     UINT32_MAX /* of a queue pair by which a function's driver changes mkeys */
#define EMU_FIRST_QPN  0x40u
#define EMU_NUM_MKEYS  (1u << 20)
#define EMU_NUM_QPS    (1u << 13)
#define EMU_NUM_CQS    (1u << 13)
#define EMU_NUM_SRQS   (1u << 12)
#define EMU_NUM_DEKS   (1u << 10)
#define EMU_MAX_MKEYS  (EMU_FIRST_MKEY + EMU_NUM_MKEYS)
#define EMU_MAX_QPS    (EMU_FIRST_QPN + EMU_NUM_QPS)
#define EMU_MAX_CQS    (1u + EMU_NUM_CQS)
#define EMU_MAX_SRQS   (1u + EMU_NUM_SRQS)
#define EMU_MAX_DEKS   (1u + EMU_NUM_DEKS)

/* Streams of a DC initiator, and how many of them may have failed before it ends, both as logarithms. */
#define EMU_LOG_DCI_STREAMS 5
#define EMU_LOG_DCI_ERRORED 4
#define EMU_DCI_TOLERATED   ((1u << EMU_LOG_DCI_ERRORED) - 1)

/* Multicast: the groups, the queue pairs of one group, and those of all groups together. */
#define EMU_NUM_GROUPS	   (1u << 10)
#define EMU_GROUP_QPS	   240u
#define EMU_NUM_MEMBERS	   (1u << 11)
#define EMU_MAX_MEMBERS	   (1u + EMU_NUM_MEMBERS)
#define EMU_MEMBER_BUCKETS (1u << 10)

#endif
