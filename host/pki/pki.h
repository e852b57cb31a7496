/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands pki: a small certificate authority for DPUs and their hosts, in one directory. */
#ifndef DPUMAP_HOST_PKI_H
#define DPUMAP_HOST_PKI_H

#include "host/settings/options.h"

command_fn pki_init;
command_fn pki_issue;
command_fn pki_revoke;
command_fn pki_renew;
command_fn pki_list;
command_check_fn pki_check_init;
command_check_fn pki_check_issue;
command_check_fn pki_check_renew;

#endif
