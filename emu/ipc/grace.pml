/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Withdraw an entry of the shared tables while engines use it (shm.h, grace.c).
 *
 * Two slots for engines, three entries, and one server that publishes and withdraws them. At each step a
 * process may end, or lose the socket of its engine while the engine runs (its program closed all
 * descriptors, and the engine has no table of its own). Another process uses the slot afterwards. A
 * forked child has no engine but holds the socket, so the server learns later that its parent has ended:
 * here the server may delay this without bound. A stopped process is one that makes no step for a while;
 * then the server gives up on its engine.
 *
 * Checked: when a withdrawal has returned, no engine uses the entry, nor what is published in its place,
 * except an engine on which the server gave up, in that pass. No withdrawal waits forever.
 *
 * Memory: serials and epochs are sequentially consistent. The server publishes by a release store; no
 * later load of the server depends on its order.
 *
 * check: withdraw -DPASSES=1 -DROUNDS=4 -DDEATHS=2 -DCLOSES=0 -DSTARTS=2
 * check: passes -DPASSES=2 -DROUNDS=3 -DDEATHS=1 -DCLOSES=0 -DSTARTS=2
 * check: slots -DPASSES=1 -DROUNDS=2 -DDEATHS=1 -DCLOSES=1 -DSTARTS=3
 * mutant: NO_WAIT : the server does not wait for engines in a pass
 * mutant: NO_BARRIER : an engine looks an entry up before others see that it is in a pass
 * mutant: ONE_ENGINE : the server waits for the first engine only
 * mutant: NO_END : the server does not ask whether an engine has ended
 * mutant: IGNORE_CLOSED : the server does not wait for an engine that has lost its slot
 * mutant: RESET_EPOCH -DPASSES=1 -DROUNDS=4 -DDEATHS=1 -DCLOSES=0 -DSTARTS=3 : a slot's next engine begins with epoch 0
 * mutant: SHARE_SLOT -DPASSES=1 -DROUNDS=2 -DDEATHS=0 -DCLOSES=1 -DSTARTS=3 : a slot is used again before its engine has ended
 */
#ifndef PASSES
#define PASSES 1 /* of each engine */
#define ROUNDS 4 /* entries that the server publishes or withdraws */
#define DEATHS 1
#define CLOSES 1
#define STARTS 2
#endif

/* The shared tables. The serial of a slot is the number of its process; 0: it is free. */
byte serial[3];
byte epoch[2], slot_serial[2];

/* The processes of the slots. */
bool ended[2];
byte runs[2]; /* the process whose engine the slot had last */
byte deaths, closes, starts;

/* Of the server: the passes that it waits for, and those on which it gave up. */
byte snap[2], gave_up_at[2];
bool waits;

/* Of the check: the life of each entry; engines that the server does not wait for in this pass. */
byte life[3], touched;
bool excused[2];

/* Entries are alike: a new one is taken in order. */
inline choose_entry()
{
	if
	:: i = 0
	:: touched > 0 -> i = 1
	:: touched > 1 -> i = 2
	fi
}

#define OR_END \
	:: deaths < DEATHS -> deaths++; goto m_process_end

/* The engine of a slot; after its end, the slot's next one. */
active [2] proctype engine()
{
	byte i, seen, passes;

#define E _pid
end_start:
	runs[E] != 0 && !ended[E] ->
	do
	:: passes < PASSES && slot_serial[E] == runs[E] ->
pass_check:	passes++;
#ifdef NO_BARRIER
		choose_entry();
		seen = serial[i];
#endif
		if
		:: true ->
pass_begin:		epoch[E]++
		OR_END
		fi;
		if
		:: slot_serial[E] != runs[E]
		:: slot_serial[E] == runs[E] ->
look_up:
#ifdef NO_BARRIER
			skip
#else
			atomic { choose_entry(); seen = serial[i] }
#endif
		OR_END
		fi;
		if
		:: true ->
use:			d_step {
				assert(!seen || life[i] == seen || excused[E]);
				seen = 0;
				i = 0
			}
		OR_END
		fi;
pass_end:	d_step {
			epoch[E]++;
			excused[E] = false
		}
	:: else -> break
	od;
m_process_end:
	skip;
	d_step { ended[E] = true; seen = 0; i = 0; passes = 0 };
	goto end_start
}

inline scan(e)
{
	d_step {
		snap[e] = epoch[e];
		if
		:: !(snap[e] & 1) || snap[e] == gave_up_at[e] -> snap[e] = 0
#ifdef IGNORE_CLOSED
		:: (snap[e] & 1) && !slot_serial[e] -> snap[e] = 0
#endif
		:: else
		fi
	}
}

#ifdef NO_END
#define LEFT(e) (!snap[e] || epoch[e] != snap[e])
#else
#define LEFT(e) (!snap[e] || epoch[e] != snap[e] || ended[e])
#endif

inline wait_for(e)
{
	if
	:: LEFT(e)
#ifdef NO_WAIT
	:: true
#endif
	:: !LEFT(e) && !excused[0] && !excused[1] && !ended[e] ->
grace_give_up:
		d_step {
			gave_up_at[e] = snap[e];
			excused[e] = true
		}
	fi
}

#ifdef SHARE_SLOT
#define FREE(e) (!slot_serial[e])
#else
#define FREE(e) (!slot_serial[e] && (!runs[e] || ended[e]))
#endif

#define HANGS_UP(e) (slot_serial[e] && (ended[e] || closes < CLOSES))

inline start(e)
{
	d_step {
		starts++;
#ifdef RESET_EPOCH
		epoch[e] = 0;
#else
		epoch[e] = (epoch[e] + 1) & ~1;
#endif
		excused[e] = false;
		ended[e] = false;
		runs[e] = starts;
		slot_serial[e] = starts
	}
}

inline end_slot(e)
{
	d_step {
		closes = (ended[e] -> closes : closes + 1);
		slot_serial[e] = 0
	}
}

active proctype server()
{
	byte i, last, rounds;

slot_start:
	start(0);
	start(1);
	do
	:: rounds < ROUNDS ->
		atomic { rounds++; choose_entry() }
		if
		:: !serial[i] ->
publish_fill:		d_step {
				last++;
				life[i] = last;
				touched = (touched == i -> i + 1 : touched)
			}
publish:		d_step { serial[i] = last; i = 0 }
		:: else ->
retire:			d_step { serial[i] = 0; waits = true }
grace_scan:		scan(0);
			scan(1);
grace_wait:		wait_for(0);
#ifndef ONE_ENGINE
			wait_for(1);
#endif
withdrawn:		d_step { life[i] = 0; waits = false; snap[0] = 0; snap[1] = 0; i = 0 }
		fi
	:: starts < STARTS && FREE(0) -> start(0)
	:: starts < STARTS && FREE(1) -> start(1)
	:: HANGS_UP(0) ->
hang_up:	end_slot(0)
	:: HANGS_UP(1) -> end_slot(1)
	:: rounds == ROUNDS -> break
	od
}

/* The server must not be waiting when no process can make a step. */
active proctype monitor()
{
	timeout -> assert(!waits)
}
