/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The end of the server (server_exit.c, engine.c, server/process_exit.c).
 *
 * Two processes, each with an engine and a queue, and one server. The third entry is an mkey of process 0,
 * by which the engine of process 1 copies. Each program destroys its queue, and program 0 its mkey. The
 * server, and each process, may end at each step. The server may also drop a process whose socket has hung
 * up: it frees the slot and closes its end, while the engine still runs.
 *
 * Checked: when a command to destroy an object has returned, answered by the server or failed, no engine
 * uses the memory of the object. Engines are told that the server has ended only if it has. Each command
 * returns.
 *
 * Memory: all of these accesses are sequentially consistent. The grace period is that of ipc/grace.pml
 * without slots that are used again.
 *
 * check: one -DDEATHS=1 -DDROPS=0 -DQUEUE_0=1 -DQUEUE_1=0
 * long: two -DDEATHS=1 -DDROPS=0 -DQUEUE_0=0 -DQUEUE_1=1
 * check: drops -DDEATHS=0 -DDROPS=1 -DQUEUE_0=0 -DQUEUE_1=1
 * mutant: NO_SETTLE : a command that the server did not answer fails at once
 * mutant: NO_WAIT : engines are told, but nobody waits for their passes
 * mutant: RETIRE_WAIT : a queue is retired without waiting for the pass of its engine
 * mutant: NO_BARRIER : an engine looks whether the server has ended before others see that it is in a pass
 * mutant: TELL_OWN : only the engine of the process is told
 * mutant: DROP_ORDER -DDEATHS=0 -DDROPS=1 -DQUEUE_0=0 -DQUEUE_1=1 : the server closes the socket of a process before it frees its slot
 */

#ifndef DEATHS
#define DEATHS 1 /* of processes */
#define DROPS  0
#define QUEUE_0 1 /* the program destroys its queue */
#define QUEUE_1 1
#endif

/* The shared tables; entry 2 is the mkey. */
bool serial[3] = true;
bool in_pass[2], slot[2] = true, server_ended;
#ifdef TELL_OWN
bool told[2];
#define ENDED told[E]
#else
#define ENDED server_ended
#endif

bool ended[2], server_gone, hung_up[2];
byte deaths, drops;

/* A command of each program: the entry + 1; its answer. */
byte command[2], answer[2];

/* Of each of the programs and the server (2): the passes that it waits for. */
bool awaited[6];
bool waits[3];

/* Of the check: the memory of the entry may be used. */
bool life[3] = true;

#define E      (_pid & 1)
#define W(w, e) awaited[2 * (w) + (e)]
inline leave_pass()
{
	d_step {
		in_pass[E] = false;
		W(0, E) = false;
		W(1, E) = false;
		W(2, E) = false
	}
}

inline grace(w)
{
	d_step { W(w, 0) = in_pass[0]; W(w, 1) = in_pass[1]; waits[w] = true };
	!W(w, 0) || ended[0];
	!W(w, 1) || ended[1];
	d_step { W(w, 0) = false; W(w, 1) = false; waits[w] = false }
}

/* The engines are processes 0 and 1, the programs 2 and 3. */
active [2] proctype engine()
{
	bool abandoned, found;

	{
	do
	:: slot[E] && (serial[E] || serial[2]) ->
#ifdef NO_BARRIER
		abandoned = abandoned || ENDED;
#endif
pass_begin:	in_pass[E] = true;
#ifndef NO_BARRIER
check_end:	abandoned = abandoned || ENDED;
#endif
		found = serial[E];
use_queue:	d_step {
			assert(!found || life[E]);
			found = E == 1 && serial[2] && !abandoned
		}
copy:		d_step { assert(!found || life[2] || ended[0]); found = false }
pass_end:	leave_pass();
		if
		:: hung_up[E] && slot[E] -> abandoned = true
		:: true
		fi
	:: !slot[E] || (!serial[E] && !serial[2]) -> break
	od
	} unless { ended[E] };
	leave_pass()
}

/* What a program does when the server has not answered: it must be certain that the server has ended. */
inline handle(entry)
{
	if
	:: !slot[E]
	:: slot[E] ->
		assert(server_gone);
mark_ended:
#ifdef TELL_OWN
		told[E] = true;
#else
		server_ended = true;
#endif
mark_wait:
#ifndef NO_WAIT
		grace(E);
#else
		skip;
#endif
		if
		:: entry < 2 ->
retire:			serial[entry] = false;
retire_wait:
#ifndef RETIRE_WAIT
			grace(E)
#endif
		:: else
		fi
	fi
}

inline destroy(entry)
{
	command[E] = entry + 1;
	if
	:: answer[E] == entry + 1
	:: hung_up[E] && answer[E] != entry + 1 ->
#ifndef NO_SETTLE
		handle(entry)
#endif
	fi;
	/* A process that the server dropped has closed its device. */
returned:
	d_step { life[entry] = !(slot[E] || answer[E] == entry + 1) }
}

active [2] proctype program()
{
	{
	if
	:: E == 0 -> destroy(2)
	:: else
	fi;
	if
	:: (E == 0 && QUEUE_0) || (E == 1 && QUEUE_1) -> destroy(E)
	:: else
	fi
	} unless { ended[E] };
	waits[E] = false
}

inline serve(p)
{
	d_step { i = command[p] - 1; command[p] = 0 }
	serial[i] = false;
	grace(2);
	d_step { answer[p] = i + 1; i = 0 }
}

inline drop(p)
{
	d_step { drops++ }
#ifdef DROP_ORDER
	hung_up[p] = true;
	slot[p] = false
#else
slot_free:
	slot[p] = false;
slot_close:
	hung_up[p] = true
#endif
}

active proctype server()
{
	byte i;

	{
	do
	:: command[0] && slot[0] -> serve(0)
	:: command[1] && slot[1] -> serve(1)
	:: slot[0] && (ended[0] || drops < DROPS) -> drop(0)
	:: slot[1] && (ended[1] || drops < DROPS) -> drop(1)
	od
	} unless { server_gone };
	d_step { hung_up[0] = true; hung_up[1] = true; waits[2] = false }
}

active proctype world()
{
	do
	:: !server_gone -> server_gone = true
	:: deaths < DEATHS && !ended[0] -> d_step { deaths++; ended[0] = true }
	:: deaths < DEATHS && !ended[1] -> d_step { deaths++; ended[1] = true }
	:: break
	od
}

/* No step is possible: no program waits, and no server does. */
active proctype monitor()
{
	timeout -> assert(!waits[0] && !waits[1] && !waits[2])
}
