/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Barriers between the processor and the device, which the C memory model does not cover. */
#ifndef DPUMAP_DEVICE_QUEUE_BARRIER_H
#define DPUMAP_DEVICE_QUEUE_BARRIER_H

/* The device sees stores before the barrier before those after it. */
static inline void dpumap_barrier_to_device(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshst" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Loads after the barrier are not older than those before it. */
static inline void dpumap_barrier_from_device(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshld" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* As dpumap_barrier_to_device(), around stores to a doorbell page, which are write-combining. */
static inline void dpumap_barrier_doorbell(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb st" ::: "memory");
#else
	__sync_synchronize();
#endif
}

#endif
