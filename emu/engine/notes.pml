/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Notes of engines to the server (notes.c, cq.c, server/notes.c).
 *
 * Two engines, three queues, and one server. Each engine reports events of its queue, which happen once,
 * and completions, which it may report again until the socket takes the note. A socket holds one note. At
 * each step an engine's process, or the server, may end. The server destroys the queues and creates
 * others with their numbers.
 *
 * Checked: an engine never waits for the server. The server gets each event of a queue once and in order,
 * unless the queue was destroyed or the engine's process has ended before it was sent; what a process
 * sent before it ended is not lost. The server takes no note for another queue than the one that it
 * is of, nor for a queue that does not exist. Every run ends.
 *
 * check: order -DEVENTS=2 -DROUNDS=0 -DDEATHS=1
 * check: calm -DEVENTS=2 -DROUNDS=0 -DDEATHS=0
 * check: numbers -DEVENTS=1 -DROUNDS=2 -DDEATHS=0
 * mutant: DROP -DEVENTS=2 -DROUNDS=0 -DDEATHS=0 : an event for which the socket has no room is not kept
 * mutant: OVERTAKE -DEVENTS=3 -DROUNDS=0 -DDEATHS=0 : an event is sent although earlier ones are kept
 * mutant: NO_SERIAL -DEVENTS=1 -DROUNDS=2 -DDEATHS=0 : the server does not compare the serial of a note
 * mutant: FREE_SERIAL -DEVENTS=1 -DROUNDS=1 -DDEATHS=0 : the server compares the serials, but not with 0
 * mutant: NO_DRAIN -DEVENTS=1 -DROUNDS=0 -DDEATHS=1 : the server does not read the notes of a process that has ended
 * mutant: BLOCK -DEVENTS=2 -DROUNDS=1 -DDEATHS=0 : an engine waits in its pass until the socket has room
 * mutant: SLEEP -DEVENTS=2 -DROUNDS=0 -DDEATHS=0 : an engine sleeps while it keeps events
 */
#ifndef EVENTS
#define EVENTS 2 /* of each engine's queue */
#define ROUNDS 2 /* queues that the server destroys or creates */
#define DEATHS 1
#endif

/* The shared tables; engine 0 reports events of queue 0, and engine 1 those of queues 1 and 2. */
byte serial[3] = 1;
bool in_pass[2]; /* the epoch is odd (ipc/grace.pml) */

/* The sockets, and the events that wait for room. Each is a queue's number, its serial and the event. */
chan socket[2] = [1] of { byte, byte, byte };
chan kept[2] = [4] of { byte, byte, byte };

bool ended[2], server_ended;
byte deaths;

/* Of the server. */
bool slot[2] = true, awaited[2], waits;

/* Of the check: events of the queue that has the number now. */
byte made[3], sent[3], got[3];
byte life[3] = 1;

#define E      _pid
#define OR_END(where) :: deaths < DEATHS -> deaths++; goto where

/* Send without waiting; `took` is false if there is no room. An error other than that counts as sent. */
inline send(q, s, n)
{
	d_step {
		if
		:: server_ended -> took = true
		:: !server_ended && nfull(socket[E]) ->
			socket[E]!q, s, n;
			sent[q] = (s == life[q] && n -> n : sent[q]);
			took = true
		:: !server_ended && full(socket[E]) -> took = false
		fi
	}
}

active [2] proctype engine()
{
	byte q, s, n, events;
	byte last[3];
	byte seen[3];
	bool took, due = true;

	do
	:: events < EVENTS || due || nempty(kept[E]) ->
		in_pass[E] = true;
		took = true;
		if
		:: events < EVENTS ->
			atomic {
				events++;
				q = E;
				if
				:: E == 1 -> q = 2
				:: true
				fi
			}
			if
			:: serial[q] ->
				/* What the engine remembers of a queue ends with the queue. */
				d_step {
					last[q] = (seen[q] == serial[q] -> last[q] + 1 : 1);
					seen[q] = serial[q];
					made[q] = (seen[q] == life[q] -> last[q] : made[q])
				}
note_serial:			s = serial[q];
				n = last[q];
#ifdef OVERTAKE
				if
				:: true ->
#else
				if
				:: nempty(kept[E]) -> took = false
				:: empty(kept[E]) ->
#endif
event_send:				send(q, s, n)
				fi;
				if
				:: !took ->
#ifdef DROP
					skip
#else
event_keep:				kept[E]!q, s, n
#endif
				:: else
				fi
			:: else
			fi
		:: events == EVENTS && due ->
			atomic { q = E; s = serial[q] }
			if
			:: s ->
comp_send:			send(q, s, 0);
				due = !took
			:: else -> due = false
			fi
		:: events == EVENTS && !due
		fi;
		atomic { q = 0; s = 0; n = 0 }
#ifdef BLOCK
		nfull(socket[E]);
#endif
		if
		:: nempty(kept[E]) ->
			kept[E]?<q, s, n>;
kept_send:		send(q, s, n);
			if
			:: took -> kept[E]?q, s, n
			:: else
			fi
		OR_END(m_process_end)
		:: empty(kept[E])
		fi;
		d_step {
			q = 0;
			s = 0;
			n = 0;
			in_pass[E] = false;
			awaited[E] = false
		}
#ifdef SLEEP
		if
		:: nempty(kept[E]) -> break
		:: else
		fi;
#endif
nap:		if
		:: took || nfull(socket[E]) || server_ended
		OR_END(m_process_end)
		fi
	:: events == EVENTS && !due && empty(kept[E]) -> break
	od;
	goto m_stop;
m_process_end:
	skip;
	d_step {
		in_pass[E] = false;
		ended[E] = true
	}
m_stop:
	skip
}

inline take(e)
{
	socket[e]?q, s, n;
	if
#ifdef NO_SERIAL
	:: true ->
#else
#ifdef FREE_SERIAL
	:: s == serial[q] ->
#else
	:: s && s == serial[q] ->
#endif
#endif
note_take:	d_step {
			assert(life[q] && s == life[q]);
			assert(!n || n == got[q] + 1);
			got[q] = (n -> n : got[q])
		}
	:: else
	fi;
	d_step { q = 0; s = 0; n = 0 }
}

inline choose_queue()
{
	if
	:: q = 0
	:: q = 1
	:: q = 2
	fi
}

active proctype server()
{
	byte q, s, n, last = 1, rounds;

	do
	:: nempty(socket[0]) -> take(0)
	:: nempty(socket[1]) -> take(1)
	:: rounds < ROUNDS ->
		atomic { rounds++; choose_queue() }
		if
		:: serial[q] ->
			d_step { serial[q] = 0; waits = true };
			d_step { awaited[0] = in_pass[0]; awaited[1] = in_pass[1] };
			!awaited[0] || ended[0];
			!awaited[1] || ended[1];
			d_step { awaited[0] = false; awaited[1] = false; waits = false; life[q] = 0 }
		:: else -> d_step {
				last++;
				life[q] = last;
				made[q] = 0;
				sent[q] = 0;
				got[q] = 0;
				serial[q] = last
			}
		fi;
		q = 0
	:: slot[0] && ended[0] ->
#ifndef NO_DRAIN
notes_drain:	do
		:: nempty(socket[0]) -> take(0)
		:: empty(socket[0]) -> break
		od;
#endif
		atomic { slot[0] = false; do :: nempty(socket[0]) -> socket[0]?_, _, _ :: empty(socket[0]) -> break od; skip }
	:: slot[1] && ended[1] ->
#ifndef NO_DRAIN
		do
		:: nempty(socket[1]) -> take(1)
		:: empty(socket[1]) -> break
		od;
#endif
		atomic { slot[1] = false; do :: nempty(socket[1]) -> socket[1]?_, _, _ :: empty(socket[1]) -> break od; skip }
	OR_END(m_server_end)
	od;
m_server_end:
	server_ended = true
}

#define COMPLETE(q, e) (!life[q] || got[q] == (ended[e] -> sent[q] : made[q]))

active proctype monitor()
{
	timeout ->
	assert(server_ended || (!waits && COMPLETE(0, 0) && COMPLETE(1, 1) && COMPLETE(2, 1)))
}
