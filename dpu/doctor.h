/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd doctor: checks of this DPU (doctor/doctor.h). */
#ifndef DPUMAPD_DOCTOR_H
#define DPUMAPD_DOCTOR_H

/* Runs the command line from "doctor" on; returns the exit code. */
int doctor_main(int argc, char **argv);

#endif
