/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rows of uverbs commands that stand in files of their own, and how those rows name attributes. */
#ifndef DPUMAP_TESTS_ANSWERS_VERBS_H
#define DPUMAP_TESTS_ANSWERS_VERBS_H

#include "answers.h"

#define IN	 UVERBS_ATTR_CORE_IN
#define OUT_CORE UVERBS_ATTR_CORE_OUT
#define DRV_IN	 UVERBS_ATTR_UHW_IN
#define DRV_OUT	 UVERBS_ATTR_UHW_OUT

#define EX(n)	 (0x80000000u | (n))
/* A legacy command by INVOKE_WRITE. */
#define WRITE(command) \
	.object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INVOKE_WRITE, .write = (command)
#define CORE(in, out)                 \
	{IN, INPUT, in},              \
	{                             \
		OUT_CORE, OUTPUT, out \
	}

/* memory_verbs.c: call begin_memory_verbs() before any of its rows is filled. */
void begin_memory_verbs(void);
extern const struct request alloc_pd_command;
extern const struct request query_pd;
extern const struct request reg_mr_command;
extern const struct request rereg;
extern const struct request query_mr;
extern const struct request reg_dmabuf;
extern const struct request advise;
extern const struct request alloc_mw;
extern const struct request alloc_dm_command;
extern const struct request reg_dm;
extern const struct request reg_umem_command;

/* queue_verbs.c: call begin_queue_verbs() before any of its rows is filled. */
void begin_queue_verbs(void);
extern const struct request create_cq_command;
extern const struct request resize_cq_command;
extern const struct request modify_cq;
extern const struct request create_rc;
extern const struct request create_rc_srq;
extern const struct request create_uc;
extern const struct request create_ud;
extern const struct request create_ini;
extern const struct request create_ini_recv;
extern const struct request create_tgt;
extern const struct request create_srq_command;
extern const struct request create_xsrq;
extern const struct request modify_srq;
extern const struct request query_srq;
extern const struct request open_xrcd;
extern const struct request open_qp;
extern const struct request create_ah_command;
extern const struct request attach;
extern const struct request detach;
extern const struct request modify_qp;
extern const struct request query_qp;

#endif
