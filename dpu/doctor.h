/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd doctor: what works on this DPU, what does not, and what to do. */
#ifndef DPUMAPD_DOCTOR_H
#define DPUMAPD_DOCTOR_H

/* The program's main() from "doctor" on; returns its exit code. */
int doctor_main(int argc, char **argv);

#endif
