/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Wake a sleeping engine without losing a ring (doorbell.c, engine.c, notes.c, server/card/engines.c).
 *
 * One engine with its watcher; a program that rings for two queues on two doorbell pages, the second of
 * which it maps late; another engine that posts a message, and the server, which changes a queue. The
 * process of the other engine may end at each step (the server then drops its message), and the watcher
 * may fail at each step.
 *
 * Checked: when no process can make a step, the engine has seen each ring, message and change, and the
 * program does not wait in a page fault. As long as the watcher works every run ends, so the engine goes
 * to sleep, and no process waits forever.
 *
 * Memory: futex words, `asleep`, `armed`, messages and changes are sequentially consistent. The driver
 * writes the doorbell record, then a barrier, then the page. Protecting a page interrupts all processors
 * of the process, which completes their stores. A futex wait compares the word and sleeps in one step.
 *
 * A watcher that may fail keeps a program from waiting forever, so it must not fail in the first run.
 *
 * check: sleep -DRINGS=1
 * long: rings -DRINGS=2
 * long: failure -DRINGS=1 -DFAILURES=1
 * long_progress: ends -DRINGS=1
 * mutant: NO_BARRIER : a program's ring reaches the page before the record
 * mutant: SLEEP : an engine sleeps without a pass after it has protected the pages
 * mutant: LATE_WAKE : an engine loads its futex word after its pass
 * mutant: LATE_ASLEEP : an engine stores `asleep` after the pass that finds nothing to do
 * mutant: EARLY_KICK : an engine loads `asleep` before it posts its message
 * mutant: EARLY_CHANGE : the server wakes the engine before it changes the queue
 * mutant: FORGET_PAGE : the program maps a page, and the engine does not look at its list again
 * mutant: KEEP_ARMED : the watcher removes the protection, and does not clear `armed`
 * mutant: FAIL_ASLEEP -DRINGS=1 -DFAILURES=1 : a watcher that fails does not wake the engine
 */
#ifndef RINGS
#define RINGS 2 /* of the program */
#endif
#ifndef FAILURES
#define FAILURES 0 /* of the watcher */
#endif

/* What the engine shares with others. */
bool asleep, armed, woken; /* woken: `wake` is not what the engine loaded last */
bool record[2], message, change;
bool usable = true;

/* The doorbell pages: those that exist, that are protected, and on which a thread waits. */
bool exists[2], protected[2], fault[2];
bool listed[2], known;
bool lock;
bool turn = true; /* a thread makes passes: the engine's, except while that sleeps */

bool other_ended;

inline take_lock()
{
	atomic { !lock -> lock = true }
}

/* A load finds what is new; the engine remembers that it has seen it. */
inline see(event)
{
	d_step {
		worked = worked || event;
		event = false
	}
}

inline pass()
{
	worked = false;
visit:	see(record[0]);
	see(record[1]);
	see(message);
	see(change)
}

inline arm()
{
	take_lock();
	if
	:: usable ->
		/* The lock protects the list. */
		d_step {
			listed[0] = (known -> listed[0] : exists[0]);
			listed[1] = (known -> listed[1] : exists[1]);
			known = true
		}
arm_protect:	protected[0] = protected[0] || listed[0];
		protected[1] = protected[1] || listed[1];
arm_store:	armed = true
	:: else
	fi;
	lock = false
}

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
			:: !usable ->
				idle_pass = 0;
nap:				skip
			:: usable && !was_armed ->
				idle_pass = 0;
				arm();
#ifdef SLEEP
				goto m_sleep
#endif
			:: usable && was_armed && !idle_pass -> idle_pass = 1
			:: usable && was_armed && idle_pass ->
#ifdef LATE_ASLEEP
				asleep = true;
#endif
m_sleep:			turn = false;
sleep:
end_sleep:			woken;
				atomic { !turn -> turn = true };
				idle_pass = 0
			fi;
			if
			:: was_armed && !armed -> worked = true /* a program rang */
			:: else
			fi
		:: else
		fi;
		if
		:: worked ->
			if
			:: is_asleep ->
awake_store:			asleep = false
			:: else
			fi;
			is_asleep = false
		:: !worked && !is_asleep ->
			is_asleep = true;
#ifndef LATE_ASLEEP
asleep_store:		asleep = true
#else
			skip
#endif
		:: else
		fi
	od
}

inline give_up()
{
	d_step {
		armed = false;
		usable = false;
		protected[0] = false;
		protected[1] = false;
		fault[0] = false;
		fault[1] = false
	};
#ifndef FAIL_ASLEEP
fail_wake:
	woken = true
#endif
}

active proctype watcher()
{
	bool worked;

end_watcher:
	do
	:: fault[0] || fault[1] ->
		take_lock();
#ifndef KEEP_ARMED
answer_armed:	armed = false;
#endif
answer_unprotect:
		d_step { protected[0] = false; fault[0] = false };
		d_step { protected[1] = false; fault[1] = false };
		lock = false;
run_pass:	if
		:: atomic { !turn -> turn = true };
			pass();
			turn = false
		:: atomic { turn -> skip }
		fi;
answer_wake:	woken = true
	:: FAILURES && usable ->
		take_lock();
		give_up();
		lock = false;
		break
	od
}

inline ring(q)
{
	skip;
#ifndef NO_BARRIER
ring_record:
	record[q] = true;
#endif
ring_page:
	if
	:: d_step { !protected[q] -> skip }
	:: d_step { protected[q] -> fault[q] = true };
		!protected[q]
	fi
#ifdef NO_BARRIER
	; record[q] = true
#endif
}

inline map(q)
{
	exists[q] = true;
#ifndef FORGET_PAGE
	take_lock();
map_forget:
	d_step { known = false; armed = false };
	woken = true;
	lock = false
#endif
}

active proctype program()
{
	byte rings;

	map(0);
	do
	:: rings < RINGS -> rings++;
		if
		:: ring(0)
		:: exists[1] -> ring(1)
		:: !exists[1] -> map(1); ring(1)
		fi
	:: else -> break
	od
}

active proctype other()
{
#ifdef EARLY_KICK
	bool sleeps;

	sleeps = asleep;
#endif
	if
	:: true ->
post:		message = true
	:: goto m_end
	fi;
	if
#ifdef EARLY_KICK
	:: !sleeps
	:: sleeps ->
#else
	:: !asleep
	:: asleep ->
#endif
kick:		woken = true
	:: goto m_end
	fi;
	goto m_done;
m_end:
	other_ended = true;
m_done:
	skip
}

active proctype server()
{
#ifdef EARLY_CHANGE
	woken = true;
	change = true;
#else
change_store:
	change = true;
change_wake:
	woken = true;
#endif
end_server:
	other_ended -> message = false
}

active proctype monitor()
{
	timeout -> assert(!record[0] && !record[1] && !message && !change && !fault[0] && !fault[1])
}
