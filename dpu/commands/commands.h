/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DPU_COMMANDS_COMMANDS_H
#define DPUMAP_DPU_COMMANDS_COMMANDS_H

/* dpumapd doctor: checks of this DPU (doctor/doctor.h). */
#define DOCTOR_FILE_DEFAULT "/etc/dpumap/dpumapd.conf"

struct options;

/* Returns the exit code. */
int doctor_main(const struct options *options);

/* dpumapd ctl top: what clients do each second. */

/* Returns the exit code. */
int top_main(const struct options *options);

#endif
