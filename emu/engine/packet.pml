/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Wake a sleeping engine by a packet without losing one (net.c, doorbell.c, engine.c, server/wire/endpoints.c).
 *
 * One engine with its watcher; the server, which gives the engine a socket; peers, whose packets arrive at any
 * time, also before that; and a program that rings. A pass takes one packet or all. doorbell.pml has the doorbells.
 * Engine, watcher and program are threads of one process, so its end leaves nobody who waits.
 *
 * Checked: when no process can make a step, the engine has the socket and has taken all packets, and the ring is
 * answered. Every run ends, so the engine goes to sleep and the watcher waits.
 *
 * Memory: `wake`, `armed` and `change` are sequentially consistent. The kernel's epoll instance has a lock: it
 * reports a socket that has packets and was armed since its last report (EPOLLONESHOT); one without packets is
 * not reported and stays armed. A futex wait compares the word and sleeps in one step.
 *
 * An engine without doorbells or with timers to come waits with ppoll(2) on the sockets themselves, for a
 * millisecond at most: it needs none of this.
 *
 * check: packets -DPACKETS=3
 * long: more -DPACKETS=5 -DRINGS=2
 * progress: ends -DPACKETS=3
 * mutant: EARLY_ARM : the engine arms the socket before it stores `armed`
 * mutant: LATE_WAKE : the engine loads its futex word after its pass
 * mutant: FORGET_SOCKET : the engine does not arm again after it was given a socket
 * mutant: KEEP_ARMED : the watcher does not clear `armed`
 * mutant: LATE_UNARM : the watcher wakes the engine before it clears `armed`
 * mutant: LATE_TAKE : the watcher takes the report after it has woken the engine
 * mutant: NO_WAKE : the watcher leaves the pass to an engine that may have ended its own
 */
#ifndef PACKETS
#define PACKETS 3
#endif
#ifndef RINGS
#define RINGS 1
#endif

/* The socket in the kernel, and the epoll instance. */
byte queued;
bool socket_armed;

/* What the engine shares with others. */
bool armed, woken, change; /* woken: `wake` is not what the engine loaded last */
bool sent, received;
bool turn = true; /* a thread makes passes: the engine's, except while that sleeps */
bool fault;	  /* a program waits on a protected page */

#define REPORTED (received && socket_armed && queued > 0)

inline pass()
{
	worked = false;
	if
	:: d_step { change -> change = false; checked = false; received = received || sent }
	:: !change
	fi;
receive:
	if
	:: d_step { received && queued > 0 -> queued = 0; worked = true }
	:: d_step { received && queued > 1 -> queued--; worked = true }
	:: !received || !queued
	fi
}

bool checked; /* of the engine, whose turn it is */

active proctype engine()
{
	bool is_asleep, was_armed, worked;
	bit idle_pass;

end_engine:
	do
	:: true ->
#ifndef LATE_WAKE
wake_load:	woken = false;
#endif
armed_load:	was_armed = is_asleep && armed;
		pass();
#ifdef LATE_WAKE
		woken = false;
#endif
		if
		:: is_asleep && !worked ->
			if
#ifdef FORGET_SOCKET
			:: !was_armed ->
#else
			:: !was_armed || !checked ->
#endif
				idle_pass = 0;
				checked = true;
#ifdef EARLY_ARM
				socket_armed = received;
				armed = true
#else
				armed = true;
socket_arm:			socket_armed = received
#endif
#ifdef FORGET_SOCKET
			:: was_armed && !idle_pass -> idle_pass = 1
			:: was_armed && idle_pass ->
#else
			:: was_armed && checked && !idle_pass -> idle_pass = 1
			:: was_armed && checked && idle_pass ->
#endif
				turn = false;
sleep:
end_sleep:			woken;
				atomic { !turn -> turn = true };
				idle_pass = 0
			fi;
			if
			:: was_armed && !armed -> worked = true
			:: else
			fi
		:: else
		fi;
		if
		:: worked -> is_asleep = false
		:: !worked -> is_asleep = true
		fi
	od
}

inline take_report()
{
	d_step {
		if
		:: REPORTED -> socket_armed = false
		:: else
		fi
	}
}

inline run_pass()
{
	if
	:: atomic { !turn -> turn = true };
		pass();
		turn = false
	:: atomic { turn -> skip }
	fi
}

active proctype watcher()
{
	bool worked;

end_watcher:
	do
	:: fault ->
		armed = false;
		fault = false;
		run_pass();
		woken = true
	:: REPORTED ->
#ifndef LATE_TAKE
report_take:	take_report();
#endif
#ifdef LATE_UNARM
		run_pass();
		woken = true;
		armed = false
#else
#ifndef KEEP_ARMED
report_unarm:	armed = false;
#endif
report_run_pass:
		run_pass();
#ifndef NO_WAKE
report_wake:	woken = true
#endif
#ifdef LATE_TAKE
		; take_report()
#endif
#endif
	od
}

active proctype peers()
{
	byte n;

	do
	:: d_step { n < PACKETS -> n++; queued++ }
	:: n == PACKETS -> break
	od
}

active proctype program()
{
	byte n;

	do
	:: n < RINGS -> n++; fault = true; !fault
	:: else -> break
	od
}

active proctype server()
{
send_fds:	sent = true;
	change = true;
	woken = true
}

active proctype monitor()
{
	timeout -> assert(received && !queued && !fault)
}
