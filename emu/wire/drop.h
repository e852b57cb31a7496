/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Why a packet has no effect: for counters, and for the comments of a capture. */
#ifndef EMU_WIRE_DROP_H
#define EMU_WIRE_DROP_H

/* The chapters are those of IBA volume 1. D(name, words) */
#define WIRE_DROPS(D)                                                                  \
	D(SHORT, "shorter than its headers")				 /* 9.6.1 */   \
	D(LONG, "longer than a packet of the largest MTU")		 /* 9.6.1 */   \
	D(ICRC, "the invariant CRC is wrong")				 /* 7.8.1 */   \
	D(VERSION, "the transport header version is not 0")		 /* 9.6.1 */   \
	D(OPCODE, "the opcode is not defined")				 /* 9.6.1 */   \
	D(PAD, "the pad count does not fit the length")			 /* 9.2 */     \
	D(PAYLOAD, "the opcode does not allow this payload")		 /* 9.2.1 */   \
	D(SERVICE, "the queue pair has another transport service")	 /* 9.6.1 */   \
	D(QPN, "the packet is for another queue pair")			 /* 9.6.1 */   \
	D(ADDRESS, "the sender is not the queue pair's peer")		 /* 9.6.1 */   \
	D(PKEY, "the P_Key does not match")				 /* 9.6.1 */   \
	D(QKEY, "the Q_Key does not match")				 /* 9.6.1 */   \
	D(STATE, "the queue pair does not process packets in its state") /* 10.3.1 */  \
	D(AHEAD, "packets before it are missing")			 /* 9.7.4.1 */ \
	D(WAITS, "an earlier packet is awaited after a NAK")		 /* 9.7.5.2 */ \
	D(BUSY, "the request before it is being executed")                             \
	D(UNKNOWN, "a duplicate whose answer is no longer remembered")	/* 9.7.5.1 */  \
	D(NO_RECEIVE, "no receive is posted")				/* 9.8.2 */    \
	D(NO_MESSAGE, "it belongs to no message that can be completed") /* 9.8.2 */    \
	D(LENGTH, "the message does not fit the receive or the MTU")	/* 9.8.2 */    \
	D(REFUSED, "the request is not allowed")			/* 9.8.2 */    \
	D(STALE, "an answer to a request that is not outstanding")	/* 9.7.6.1 */  \
	D(GAP, "an answer before it is missing")			/* 9.7.6.1 */  \
	D(AETH, "the syndrome is reserved")				/* 9.7.5.2 */

#define WIRE_DROP_(name, words) WIRE_DROP_##name,

enum wire_drop { WIRE_ACCEPTED, WIRE_DROPS(WIRE_DROP_) WIRE_DROP_COUNT };

#undef WIRE_DROP_

/* The words of the table for `drop`. */
const char *wire_drop_words(enum wire_drop drop);

#endif
