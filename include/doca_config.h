/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Build configuration of the interface; reaches a program through every other header.
 */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

#endif /* DOCA_CONFIG_H_ */
