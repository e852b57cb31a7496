/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arm a completion queue without losing an event (cq.c, engine.c; device/queue/cq_ring.c).
 *
 * One completion queue: its engine, its program, and the server, which passes the engine's notes on to the
 * program, unless the engine has the descriptor of the completion channel (DIRECT). The engine writes three completions, in as many passes as it likes: other engines cause them.
 * The socket to the server holds one note, and may hold one of another queue at first. The server may end at
 * each step; the program then gets an error instead of an event. (Queues of two engines share nothing else.)
 * Left out: moderation, which delays an event while the engine does not sleep; solicited events, for which fewer
 * completions count; compression, whose completions count from when their title is written.
 *
 * Checked: the program gets all completions; it never waits for an event while there is a completion that
 * it has not polled. There is at most one event for each time that it arms the queue. Every run ends. A server
 * that may end keeps a program from waiting forever, so it does not end in the first run.
 *
 * Memory: completions and arm words are released and acquired, not sequentially consistent: each side may
 * load what the other one writes before its own store is visible. So each has a store buffer here, which
 * empties at any later time. Protecting the doorbell page interrupts the program's processors, and a fault on
 * the page the one that rings: both empty the program's buffer. A note carries what its sender has stored.
 *
 * check: events -DCQES=3
 * check: server_ends -DCQES=3 -DENDS=1
 * check: direct -DCQES=3 -DDIRECT
 * check: direct_ends -DCQES=3 -DENDS=1 -DDIRECT
 * progress: ends -DCQES=3 -DENDS=1
 * mutant: NO_POLL : a program waits for an event without polling once more
 * mutant: EARLY_RING : a program rings before it stores the arm word
 * mutant: SLEEP : an engine sleeps without another pass after it has protected the page
 * mutant: NO_FLUSH : protecting the page does not complete the stores of the program
 * mutant: NO_SN : the engine does not compare the sequence number of the arm word
 * mutant: LOSE : the engine does not repeat a note for which the socket had no room
 * mutant: NO_CLOSE -DENDS=1 -DDIRECT : the engine does not close the channel when the server has ended
 */
#ifndef CQES
#define CQES 3
#endif
#ifndef ENDS
#define ENDS 0 /* of the server */
#endif

#ifdef DIRECT
#define REPORT events
#define END    closed /* the channel's writing ends */
#else
#define REPORT socket
#define END    server_ended
#endif

/* Memory, as all processors see it. */
byte cqes;     /* written */
byte arm_sn;   /* 0: never armed */
byte arm_ci;
bool protected, rung;

/* The store buffers: what the engine and the program have stored, but others do not see yet. */
byte own_cqes;
byte own_sn, own_ci;

chan socket = [1] of { byte };
chan events = [4] of { byte };
bool server_ended, closed, done;
byte arms, reports; /* of the check */

inline complete_arm()
{
	arm_sn = own_sn;
	arm_ci = own_ci
}

active proctype stores()
{
end_stores:
	do
	:: d_step { cqes != own_cqes -> cqes = own_cqes }
	:: d_step { arm_sn != own_sn || arm_ci != own_ci -> complete_arm() }
	od
}

active proctype engine()
{
	byte sn, ci, fired_sn, fired_pi;
	bool worked, due; /* due: it was woken to write a completion */

	if
	:: socket!0 /* a note of another queue */
	:: true
	fi;
end_engine:
	do
	:: true ->
		worked = false;
		if
		:: own_cqes < CQES ->
cqe_store:		own_cqes++;
			due = false;
			worked = true
		:: !due
		fi;
arm_load:	d_step { sn = arm_sn; ci = arm_ci }
		if
#ifdef NO_SN
		:: sn && fired_pi != own_cqes && own_cqes > ci ->
#else
		:: sn && sn != fired_sn && fired_pi != own_cqes && own_cqes > ci ->
#endif
			if
#ifdef DIRECT
			:: true ->
#else
			:: server_ended -> skip
			:: !server_ended && nfull(socket) ->
#endif
event_send:			d_step {
					cqes = own_cqes;
					REPORT!sn;
					reports++;
					fired_sn = sn;
					fired_pi = own_cqes;
					worked = true;
					assert(reports <= arms)
				}
#ifndef DIRECT
			:: !server_ended && full(socket) ->
#ifdef LOSE
				fired_sn = sn;
				fired_pi = own_cqes;
#endif
event_unsent:			worked = true
#endif
			fi
		:: else
		fi;
		d_step { sn = 0; ci = 0 }
pass_end:	cqes = own_cqes;
		if
		:: worked
		:: !worked && !protected ->
#ifdef NO_FLUSH
			protected = true;
#else
			d_step { protected = true; complete_arm() }
#endif
#ifdef SLEEP
			goto sleep
#endif
		:: !worked && protected ->
sleep:			if
			:: d_step { rung -> rung = false }
			:: own_cqes < CQES -> due = true
			:: server_ended -> goto end_alone
			fi
		fi
	od;
end_alone:
	own_cqes = CQES;
#ifndef NO_CLOSE
	closed = true
#endif
}

/* Take one completion, or all. */
inline poll()
{
	if
	:: d_step { found = cqes > ci; ci = cqes }
	:: d_step { cqes > ci -> found = true; ci++ }
	fi
}

inline arm()
{
	skip;
arm_store:
	d_step { own_sn = sn; own_ci = ci; arms++ }
}

inline ring()
{
	skip;
arm_ring:
	d_step {
		if
		:: protected -> complete_arm(); protected = false; rung = true
		:: else
		fi
	}
}

active proctype program()
{
	byte ci, sn = 1;
	bool found;

	do
	:: ci == CQES -> break
	:: ci < CQES && server_ended -> break
	:: ci < CQES && !server_ended ->
		found = false;
#ifdef EARLY_RING
		ring();
		arm();
#else
		arm();
		ring();
#endif
#ifndef NO_POLL
poll_again:	poll();
#endif
		if
		:: found
		:: !found ->
event_wait:		if
			:: events?_ -> sn++; poll()
			:: END
			fi
		fi
	od;
	done = true
}

active proctype server()
{
	byte sn;

end_server:
	do
	:: socket?sn ->
		if
		:: sn -> events!sn
		:: else
		fi
	:: ENDS -> server_ended = true; break
	od
}

/* No step is possible: the program does not wait. */
active proctype monitor()
{
	timeout -> assert(done)
}
