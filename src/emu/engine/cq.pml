/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arm a completion queue without losing an event (cq.c, engine.c; device/queue/cq_ring.c).
 *
 * One completion queue: its engine, its program, and the server, which passes the engine's notes on to the
 * program. The engine writes three completions, in as many passes as it likes: other engines cause them.
 * The socket to the server holds one note. The server may end at each step; the program then gets an
 * error instead of an event. (Two queues of two engines share nothing here.)
 *
 * Checked: the program gets all completions; it never waits for an event while there is a completion that
 * it has not polled. There is at most one event for each time that it arms the queue. Every run ends.
 *
 * Memory: completions and doorbell records are released and acquired, not sequentially consistent: each
 * side may load what the other one writes before its own store is visible. So each has a store buffer
 * here, which empties at any later time. A full barrier empties the engine's buffer between passes
 * (emu_engine.epoch). The ring follows the record (doorbell.pml).
 *
 * check: events -DCQES=3
 * progress: ends -DCQES=2
 * mutant: NO_POLL : a program waits for an event without polling once more
 * mutant: EARLY_POLL : a program polls before it arms the queue, but not afterwards
 * mutant: SLEEP : an engine sleeps after a pass that had work
 * mutant: NO_BARRIER : no barrier empties the store buffer of the engine between passes
 * mutant: NO_SN : the engine does not compare the sequence number of the arm word
 * mutant: LOSE : the engine does not repeat a note for which the socket had no room
 * mutant: EARLY_RING : a ring arrives before the arm word
 */
#ifndef CQES
#define CQES 3
#endif

/* Memory, as all processors see it. */
byte cqes;     /* written */
byte arm_sn;   /* 0: never armed */
byte arm_ci;
bool rung;

/* The store buffers: what the engine and the program have stored, but others do not see yet. */
byte own_cqes;
byte own_sn, own_ci;
bool own_ring;

chan socket = [1] of { byte };
chan events = [4] of { byte };
bool server_ended, done, server_done;
byte arms, reports; /* of the check */

active proctype stores()
{
end_stores:
	do
	:: cqes != own_cqes -> cqes = own_cqes
	:: arm_sn != own_sn || arm_ci != own_ci -> d_step { arm_sn = own_sn; arm_ci = own_ci }
#ifdef EARLY_RING
	:: own_ring ->
#else
	:: own_ring && arm_sn == own_sn && arm_ci == own_ci ->
#endif
		d_step { own_ring = false; rung = true }
	od
}

active proctype engine()
{
	byte sn, ci, fired_sn, fired_pi;
	bool worked;

end_engine:
	do
	:: true ->
		rung = false;
		worked = false;
		if
		:: own_cqes < CQES ->
cqe_store:		own_cqes++;
			worked = true
		:: true
		fi;
arm_load:	d_step { sn = arm_sn; ci = arm_ci }
		if
#ifdef NO_SN
		:: sn && fired_pi != own_cqes && own_cqes > ci ->
#else
		:: sn && sn != fired_sn && fired_pi != own_cqes && own_cqes > ci ->
#endif
			if
			:: server_ended -> skip
			:: !server_ended && nfull(socket) ->
event_send:			d_step {
					socket!sn;
					reports++;
					fired_sn = sn;
					fired_pi = own_cqes;
					worked = true;
					assert(reports <= arms)
				}
			:: !server_ended && full(socket) ->
#ifdef LOSE
				fired_sn = sn;
				fired_pi = own_cqes
#endif
event_unsent:			worked = true
			fi
		:: else
		fi;
		d_step { sn = 0; ci = 0 }
#ifndef NO_BARRIER
pass_end:	cqes = own_cqes;
#endif
#ifndef SLEEP
		if
		:: worked
		:: !worked ->
#endif
sleep:			if
			:: rung
			:: own_cqes < CQES
			:: server_ended -> goto end_alone
			fi
#ifndef SLEEP
		fi
#endif
	od;
end_alone:
	own_cqes = CQES
}

inline poll()
{
	d_step { found = cqes > ci; ci = cqes }
}

active proctype program()
{
	byte ci, sn = 1;
	bool found;

	do
	:: ci == CQES -> break
	:: ci < CQES && server_ended -> break
	:: ci < CQES && !server_ended ->
#ifdef EARLY_POLL
		poll();
#endif
arm_store:	d_step { own_sn = sn; own_ci = ci; arms++ };
arm_ring:	own_ring = true;
		found = false;
#ifndef NO_POLL
#ifndef EARLY_POLL
poll_again:	poll();
#endif
#endif
		if
		:: found
		:: !found ->
event_wait:		if
			:: events?_ -> sn++; poll()
			:: server_ended
			fi
		fi
	od;
	done = true
}

active proctype server()
{
	byte sn;

	do
	:: socket?sn -> events!sn
	:: server_ended = true; break
	:: done -> break
	od
}

/* No step is possible: the program does not wait. */
active proctype monitor()
{
	timeout -> assert(done)
}
