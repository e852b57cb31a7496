/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd doctor: checks of this DPU (doctor/doctor.h). */
#ifndef DPUMAPD_DOCTOR_H
#define DPUMAPD_DOCTOR_H

#define DOCTOR_FILE_DEFAULT "/etc/dpumap/dpumapd.conf"

struct options;

/* Returns the exit code. */
int doctor_main(const struct options *options);

#endif
