/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The order in which a device sees stores to its queues, and the processor the device's. Stronger
 * than the C memory model knows, which speaks of processors only.
 */
#ifndef DPUMAP_DEVICE_BARRIER_H
#define DPUMAP_DEVICE_BARRIER_H

/* Stores to memory before it are seen before those after it. */
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

/* What is loaded after it is no older than what was loaded before it. */
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

/* The same as to_device for stores to a doorbell page, which are write combining: around one. */
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
